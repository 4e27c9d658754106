#include <set>
#include <string>

#include <doctest/doctest.h>

#include <holdfast/domain/job.hpp>
#include <holdfast/domain/refs.hpp>

namespace holdfast::domain {
namespace {

template <class Fixed>
Fixed filled(Byte byte) {
  Fixed out;
  out.value.fill(byte);
  return out;
}

const Terms terms{{"eip155:8453"}, {"0xAsset"}, {"0xPayer"},
                  {"0xPayee"},     1'000'000,   {"transfer_authorization"}};
const IntentId id = filled<IntentId>(0xab);
const Nonce nonce = filled<Nonce>(0xcd);

}  // namespace

// The vectors were computed apart from this code with Python's hashlib: SHA-256 over the tag and
// the fields, each behind its length as eight big-endian bytes; ids and nonces are raw bytes, the
// amount is 32 big-endian bytes, a count is eight. Ids are the first 16 bytes of the digest.
TEST_CASE("refs: ids, refs and redemption keys are those pinned by another implementation") {
  // "holdfast/intent/1", "shop", "order-1"
  CHECK(to_hex(derive_intent_id({"shop"}, "order-1").view()) == "8d5a4e4a45d8167fc81b0081d562714f");
  // "holdfast/intent-redeemed/1", method, chain, asset, payer, nonce, 0 and 1
  CHECK(to_hex(derive_intent_id(terms, nonce, 0).view()) == "d738a1932955e9a002bdfe85650ccbee");
  CHECK(to_hex(derive_intent_id(terms, nonce, 1).view()) == "dad8fb54611d3a16a99da9ecaf5af3a7");
  // "holdfast/ref/1", id, chain, asset, payer, payee, amount
  CHECK(to_hex(derive_ref(id, terms).view()) ==
        "0e54db87749045585b11579988f559b5979549207a9b92021accd55ef708c6cd");
  Terms most = terms;
  most.amount = U256::max();
  CHECK(to_hex(derive_ref(id, most).view()) ==
        "59e1dd5a82d4ae86b3a7be4e91133adb7b0c9e43342c2a01891bfd9c1cc0d3e9");
  // "holdfast/redemption/1", method, chain, asset, payer, nonce
  CHECK(to_hex(derive_redemption_key(terms, nonce).view()) ==
        "7c0222fea7625733f71e4ee51ab9769bc51bdf830f3ddb132fca25a8db277a09");
}

TEST_CASE("refs: a ref commits to every term that says what is paid") {
  std::set<Ref> refs = {derive_ref(id, terms), derive_ref(filled<IntentId>(0xac), terms)};
  const auto with = [&](auto change) {
    Terms other = terms;
    change(other);
    refs.insert(derive_ref(id, other));
  };
  with([](Terms& t) { t.chain.value += "0"; });
  with([](Terms& t) { t.asset.value += "0"; });
  with([](Terms& t) { t.payer.value += "0"; });
  with([](Terms& t) { t.payee.value += "0"; });
  with([](Terms& t) { t.amount = 1'000'001; });
  // The same bytes, cut elsewhere.
  with([](Terms& t) { t.payer.value = "0xPaye", t.payee.value = "r0xPayee"; });
  CHECK(refs.size() == 8);
  // How it is paid is not what is paid.
  Terms other = terms;
  other.method = {"payout"};
  CHECK(refs.contains(derive_ref(id, other)));
}

TEST_CASE("refs: the same key of another caller is another intent, and the cut matters") {
  CHECK(derive_intent_id({"a"}, "bc") != derive_intent_id({"ab"}, "c"));
  CHECK(derive_intent_id({"a"}, "1") != derive_intent_id({"b"}, "1"));
  CHECK(derive_intent_id({"a"}, "1") == derive_intent_id({"a"}, "1"));
}

TEST_CASE("refs: a redemption key forgets payee and amount: a nonce is spent whatever it paid") {
  Terms other = terms;
  other.payee = {"0xOther"};
  other.amount = 1;
  CHECK(derive_redemption_key(other, nonce) == derive_redemption_key(terms, nonce));
  other.payer = {"0xOther"};
  CHECK(derive_redemption_key(other, nonce) != derive_redemption_key(terms, nonce));
  CHECK(derive_redemption_key(terms, filled<Nonce>(0xce)) != derive_redemption_key(terms, nonce));
}

TEST_CASE("ids: an intent id has one text, in lower case behind pi_") {
  const std::string good = "pi_abababababababababababababababab";
  CHECK(text(id) == good);
  CHECK(intent_id_from(good) == id);
  for (const char* bad :
       {"", "pi_", "pi_ab", "abababababababababababababababab",
        "pi_ABABABABABABABABABABABABABABABAB", "PI_abababababababababababababababab",
        "pi_abababababababababababababababab0", "pi_ababababababababababababababab0x",
        "pi_0xababababababababababababababab"}) {
    CAPTURE(bad);
    CHECK_FALSE(intent_id_from(bad));
  }
}

TEST_CASE("job: its id is the intent's, with the kind behind it") {
  CHECK(job_id({id, {}, JobKind::settle}) == "pi_abababababababababababababababab/settle");
}

TEST_CASE("attempt: kinds and outcomes read back from the text they are written as") {
  for (const AttemptKind kind : {AttemptKind::pay, AttemptKind::noop}) {
    CHECK(attempt_kind_from(to_text(kind)) == kind);
  }
  for (const AttemptOutcome outcome :
       {AttemptOutcome::stored, AttemptOutcome::accepted, AttemptOutcome::refused,
        AttemptOutcome::not_sent, AttemptOutcome::unknown}) {
    CHECK(attempt_outcome_from(to_text(outcome)) == outcome);
  }
  CHECK_FALSE(attempt_kind_from("Pay"));
  CHECK_FALSE(attempt_outcome_from(""));
}

}  // namespace holdfast::domain

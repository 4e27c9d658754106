#include <doctest/doctest.h>

#include <holdfast/domain/evidence.hpp>

#include "domain/decide_scene.hpp"

namespace holdfast::test {
namespace {

const Nonce other_nonce = filled<Nonce>(0x77);
const Nonce our_nonce = filled<Nonce>(0xb2);

Intent bearer_intent() { return authorized(true).facts.intent; }
Intent payout_intent() { return authorized(false).facts.intent; }

AuthorizationEvent use(const Nonce& nonce, std::uint32_t index, const Address& who = payer) {
  return {token, who, nonce, false, index};
}
Transfer moved(const Address& from, const Address& to, Amount amount, std::uint32_t index) {
  return {token, from, to, amount, index};
}

void check(const Evidence& evidence, Moved expected, Amount arrived = {}) {
  CHECK(static_cast<int>(evidence.moved) == static_cast<int>(expected));
  CHECK(evidence.arrived == arrived);
}

MinedTx payout(bool with_ref = true) {
  MinedTx out = mined(9);
  out.transfers = {moved(our_account, payee, 1000, 0)};
  if (with_ref) out.trailing_ref = filled<Ref>(0xb2);
  return out;
}

}  // namespace

TEST_CASE("evidence: an authorization used together with exactly its transfer") {
  check(evidence_of_authorization(bearer_intent(), use_of_authorization(9)), Moved::exact, 1000);
}

TEST_CASE("evidence: a receipt that says success is no payment without the use event") {
  MinedTx tx = use_of_authorization(9);
  tx.authorizations.clear();
  check(evidence_of_authorization(bearer_intent(), tx), Moved::nothing);
  tx.authorizations = {use(other_nonce, 0)};
  check(evidence_of_authorization(bearer_intent(), tx), Moved::nothing);
  tx.authorizations = {use(our_nonce, 0, {"0xQ"})};
  check(evidence_of_authorization(bearer_intent(), tx), Moved::nothing);
  tx.authorizations = {use(our_nonce, 0)};
  tx.authorizations[0].asset = {"0xU"};
  check(evidence_of_authorization(bearer_intent(), tx), Moved::nothing);
}

TEST_CASE("evidence: a reverted transaction moved nothing, whatever else was read from it") {
  MinedTx tx = use_of_authorization(9);
  tx.succeeded = false;
  check(evidence_of_authorization(bearer_intent(), tx), Moved::nothing);
  MinedTx sent = payout();
  sent.succeeded = false;
  check(evidence_of_payout(payout_intent(), sent, true), Moved::nothing);
}

TEST_CASE("evidence: an intent that was never signed has none") {
  Intent intent = bearer_intent();
  intent.authorization.reset();
  check(evidence_of_authorization(intent, use_of_authorization(9)), Moved::nothing);
}

TEST_CASE("evidence: a cancellation alone is no use") {
  check(evidence_of_authorization(bearer_intent(), cancellation(9)), Moved::nothing);
  CHECK(cancels_authorization(bearer_intent(), cancellation(9)));
  CHECK_FALSE(uses_authorization(bearer_intent(), cancellation(9)));
  CHECK_FALSE(cancels_authorization(bearer_intent(), use_of_authorization(9)));
}

TEST_CASE("evidence: in a multicall each authorization owns the transfers up to the next use") {
  MinedTx tx = mined(9);
  tx.authorizations = {use(other_nonce, 0), use(our_nonce, 2), use(filled<Nonce>(0x66), 4)};
  tx.transfers = {moved(payer, payee, 5, 1), moved(payer, payee, 1000, 3),
                  moved(payer, {"0xX"}, 7, 5)};
  check(evidence_of_authorization(bearer_intent(), tx), Moved::exact, 1000);
  // Whose use it is that comes next does not matter.
  tx.authorizations[2].authorizer = {"0xQ"};
  check(evidence_of_authorization(bearer_intent(), tx), Moved::exact, 1000);
  // The same transfer before our use belongs to the other.
  tx.authorizations = {use(other_nonce, 0), use(our_nonce, 4)};
  check(evidence_of_authorization(bearer_intent(), tx), Moved::other);
  // A use at another asset is no border.
  tx.authorizations = {use(our_nonce, 2), use(other_nonce, 2)};
  tx.authorizations[1].asset = {"0xU"};
  check(evidence_of_authorization(bearer_intent(), tx), Moved::exact, 1000);
}

TEST_CASE("evidence: what arrived short is not made up by the next authorization's transfer") {
  MinedTx tx = use_of_authorization(9, payee, {990});
  tx.authorizations.push_back(use(other_nonce, 2));
  tx.transfers.push_back(moved(payer, payee, 10, 3));
  check(evidence_of_authorization(bearer_intent(), tx), Moved::less, 990);
  // A cancellation in between is no use, and no border.
  tx.authorizations[1].canceled = true;
  check(evidence_of_authorization(bearer_intent(), tx), Moved::exact, 1000);
}

TEST_CASE("evidence: the order of events is their index, not their place in the list") {
  MinedTx tx = mined(9);
  tx.authorizations = {use(filled<Nonce>(0x66), 4), use(our_nonce, 0)};
  tx.transfers = {moved(payer, payee, 7, 5), moved(payer, payee, 1000, 1)};
  check(evidence_of_authorization(bearer_intent(), tx), Moved::exact, 1000);
}

TEST_CASE("evidence: used on other terms, and a later plain transfer does not mend it") {
  check(evidence_of_authorization(bearer_intent(), use_of_authorization(9, {"0xX"})), Moved::other);
  check(evidence_of_authorization(bearer_intent(), use_of_authorization(9, payee, {1001})),
        Moved::other);
  MinedTx tx = use_of_authorization(9, {"0xX"}, {1});
  tx.transfers.push_back(moved(payer, payee, 1000, 2));
  check(evidence_of_authorization(bearer_intent(), tx), Moved::other);
}

TEST_CASE("evidence: what follows after the amount was spent does not belong to it") {
  MinedTx tx = use_of_authorization(9);
  tx.transfers.push_back(moved(payer, payee, 1000, 2));
  tx.transfers.push_back(moved(payee, {"0xX"}, 1000, 3));
  check(evidence_of_authorization(bearer_intent(), tx), Moved::exact, 1000);
}

TEST_CASE("evidence: a token that takes a fee: what arrived is less, wherever the fee is logged") {
  MinedTx tx = use_of_authorization(9, payee, {990});
  tx.transfers.push_back(moved(payer, {"0xFee"}, 10, 2));
  check(evidence_of_authorization(bearer_intent(), tx), Moved::less, 990);
  std::swap(tx.transfers[0].index, tx.transfers[1].index);
  check(evidence_of_authorization(bearer_intent(), tx), Moved::less, 990);
  tx.transfers.pop_back();
  check(evidence_of_authorization(bearer_intent(), tx), Moved::less, 990);
  // All of it: the authorization is spent and the payee has nothing.
  check(evidence_of_authorization(bearer_intent(), use_of_authorization(9, {"0xFee"})),
        Moved::other);
}

TEST_CASE("evidence: a matching transfer of another token, or from somebody else, is none") {
  MinedTx tx = use_of_authorization(9);
  tx.transfers[0].asset = {"0xU"};
  check(evidence_of_authorization(bearer_intent(), tx), Moved::other);
  tx = use_of_authorization(9);
  tx.transfers[0].from = {"0xQ"};
  check(evidence_of_authorization(bearer_intent(), tx), Moved::other);
  tx.transfers.clear();  // the token logs a use and moves nothing
  check(evidence_of_authorization(bearer_intent(), tx), Moved::other);
}

TEST_CASE("evidence: a payout is known by its ref, or by its hash") {
  check(evidence_of_payout(payout_intent(), payout(), false), Moved::exact, 1000);
  check(evidence_of_payout(payout_intent(), payout(false), true), Moved::exact, 1000);
  check(evidence_of_payout(payout_intent(), payout(false), false), Moved::nothing);
  MinedTx tx = payout();
  tx.trailing_ref = filled<Ref>(0xb3);
  check(evidence_of_payout(payout_intent(), tx, false), Moved::nothing);
}

TEST_CASE("evidence: a payout of another sender is none, though it carries the ref") {
  MinedTx tx = payout();
  tx.sender = {"0xSomebody"};
  check(evidence_of_payout(payout_intent(), tx, false), Moved::nothing);
  check(evidence_of_payout(payout_intent(), tx, true), Moved::nothing);
}

TEST_CASE("evidence: a payout that moved another sum, to another payee, or more besides") {
  for (const Amount amount : {Amount{1001}, U256::max()}) {
    MinedTx tx = payout();
    tx.transfers[0].amount = amount;
    check(evidence_of_payout(payout_intent(), tx, false), Moved::other);
  }
  MinedTx tx = payout();
  tx.transfers[0].to = {"0xX"};
  check(evidence_of_payout(payout_intent(), tx, false), Moved::other);
  tx = payout();
  tx.transfers.push_back(moved(our_account, {"0xX"}, 1, 1));
  check(evidence_of_payout(payout_intent(), tx, false), Moved::other);
  tx = payout();
  tx.transfers[0].amount = 990;
  check(evidence_of_payout(payout_intent(), tx, false), Moved::less, 990);
}

TEST_CASE("evidence: a payout whose token logs nothing, or logs elsewhere, moved nothing") {
  MinedTx tx = payout();
  tx.transfers.clear();
  check(evidence_of_payout(payout_intent(), tx, true), Moved::nothing);
  tx = payout();
  tx.transfers[0].asset = {"0xU"};
  check(evidence_of_payout(payout_intent(), tx, true), Moved::nothing);
  tx = payout();
  tx.transfers[0].from = {"0xQ"};
  check(evidence_of_payout(payout_intent(), tx, true), Moved::nothing);
}

TEST_CASE("evidence: a native payout, and other assets moved beside it do not count") {
  Intent intent = payout_intent();
  intent.terms.asset = native_asset;
  MinedTx tx = payout(false);
  tx.transfers[0].asset = native_asset;
  check(evidence_of_payout(intent, tx, true), Moved::exact, 1000);
  tx.transfers.push_back(moved(our_account, payee, 1000, 1));
  check(evidence_of_payout(intent, tx, true), Moved::exact, 1000);
  tx.transfers.erase(tx.transfers.begin());
  check(evidence_of_payout(intent, tx, true), Moved::nothing);
}

}  // namespace holdfast::test

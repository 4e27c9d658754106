#include <algorithm>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include <holdfast/domain/journal.hpp>

namespace holdfast::domain {
namespace {

const ChainId chain{"eip155:1"};
const AssetId token{"0xT"};
const Address payer{"0xP"};
const Address payee{"0xM"};

IntentId intent(Byte byte) {
  IntentId out;
  out.value.fill(byte);
  return out;
}

Entry hold_of(Amount amount, Byte byte = 0xa1) {
  return make_hold(intent(byte), chain, token, payer, amount, 5);
}

SignedAmount plus(std::uint64_t n) { return {false, n}; }
SignedAmount minus(std::uint64_t n) { return {n != 0, n}; }

// A random amount of a random size: small numbers and such near 2^256 alike.
Amount any_amount(std::mt19937_64& random) {
  std::array<Byte, 32> bytes{};
  const std::size_t size = 1 + random() % 32;
  for (std::size_t i = 32 - size; i < 32; ++i) bytes[i] = static_cast<Byte>(random());
  bytes[31] |= 1;
  return *U256::from_big_endian(bytes);
}

using Balances = std::map<BalanceKey, Balance>;

void apply(Balances& balances, const Entry& entry, const std::optional<Entry>& hold) {
  REQUIRE(check_entry(entry).has_value());
  const auto changes = balance_changes(entry, hold);
  REQUIRE(changes.has_value());
  for (const auto& [key, change] : *changes) {
    const auto sum = add(balances[key], change);
    REQUIRE(sum.has_value());
    balances[key] = *sum;
  }
}

template <class Value>
void check_error(const Result<Value>& result, JournalError error) {
  REQUIRE(result.has_error());
  CHECK(result.error().code == error);
  CHECK_FALSE(result.error().detail.empty());
}

}  // namespace

TEST_CASE("journal: a hold reserves, a post records what arrived, a void takes it all back") {
  const Entry hold = hold_of(1000);
  CHECK(hold.id == "pi_a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1/hold");
  CHECK(hold.legs == std::vector<Leg>{{"source:0xP", minus(1000)}, {"hold:eip155:1", plus(1000)}});
  const Entry post = *make_post(hold, payee, 1000, 6);
  CHECK(post.id == hold.id.substr(0, 35) + "/post");
  CHECK(post.legs == std::vector<Leg>{{"hold:eip155:1", minus(1000)}, {"payee:0xM", plus(1000)}});
  const Entry undone = make_void(hold, 7);
  CHECK(undone.id == hold.id.substr(0, 35) + "/void");
  CHECK(undone.legs ==
        std::vector<Leg>{{"source:0xP", plus(1000)}, {"hold:eip155:1", minus(1000)}});
  for (const Entry& entry : {hold, post, undone}) CHECK(check_entry(entry).has_value());
}

TEST_CASE("journal: when less arrives a fee leg takes the rest, and never the payee") {
  const Entry hold = hold_of(1'000'000);
  CHECK(make_post(hold, payee, 990'000, 6)->legs ==
        std::vector<Leg>{{"hold:eip155:1", minus(1'000'000)},
                         {"payee:0xM", plus(990'000)},
                         {"fee:0xT", plus(10'000)}});
  CHECK(make_post(hold, payee, 0, 6)->legs ==
        std::vector<Leg>{{"hold:eip155:1", minus(1'000'000)}, {"fee:0xT", plus(1'000'000)}});
  check_error(make_post(hold, payee, 1'000'001, 6), JournalError::over_hold);
}

TEST_CASE("journal: gas is booked in the native asset, under the transaction's hash") {
  TxHash hash;
  hash.value.fill(0xee);
  const Entry gas = make_gas(hash, chain, {"0xR"}, 21'000, 5);
  CHECK(gas.id == hash.hex() + "/gas");
  CHECK(gas.asset == native_asset);
  CHECK(gas.legs ==
        std::vector<Leg>{{"source:0xR", minus(21'000)}, {"gas:eip155:1", plus(21'000)}});
  check_error(check_entry(make_gas(hash, chain, {"0xR"}, 0, 5)), JournalError::zero_leg);
}

TEST_CASE("journal: a transaction mined again at another price is booked at that price alone") {
  TxHash first;
  first.value.fill(0xee);
  TxHash second;
  second.value.fill(0xdd);
  std::vector<Entry> there;
  const auto add = [&](const TxHash& hash, std::uint64_t fee) {
    const auto wanted = gas_entries(there, make_gas(hash, chain, {"0xR"}, fee, 5));
    std::vector<std::string> ids;
    for (const GasEntry& each : wanted) {
      if (each.reverses) CHECK(there[*each.reverses].id + "/back" == each.entry.id);
      CHECK(check_entry(each.entry).has_value());
      ids.push_back(each.entry.id);
    }
    for (const GasEntry& each : wanted) there.push_back(each.entry);
    return ids;
  };
  const std::string a = first.hex() + "/gas";
  const std::string b = second.hex() + "/gas";
  using Ids = std::vector<std::string>;
  CHECK(add(first, 700) == Ids{a});
  CHECK(add(first, 700).empty());
  CHECK(add(first, 800) == Ids{a + "/back", a + "/2"});
  CHECK(add(second, 9) == Ids{a + "/2/back", b});
  CHECK(add(first, 800) == Ids{b + "/back", a + "/3"});
  CHECK(add(second, 0) == Ids{a + "/3/back"});
  CHECK(add(second, 0).empty());
}

TEST_CASE("journal: an entry with one leg, a zero leg, an account twice or a sum is refused") {
  Entry entry = hold_of(10);
  entry.legs.pop_back();
  check_error(check_entry(entry), JournalError::too_few_legs);
  entry.legs.clear();
  check_error(check_entry(entry), JournalError::too_few_legs);
  entry = hold_of(10);
  entry.legs.push_back({"fee:0xT", plus(0)});
  check_error(check_entry(entry), JournalError::zero_leg);
  entry.legs = {{"a", plus(5)}, {"a", minus(5)}};
  check_error(check_entry(entry), JournalError::repeated_account);
  entry.legs = {{"a", plus(5)}, {"b", minus(4)}};
  check_error(check_entry(entry), JournalError::unbalanced);
  CHECK(check_entry(entry).error().detail.find("puts in 5 and takes out 4") != std::string::npos);
  entry.legs = {{"a", plus(5)}, {"b", plus(5)}};
  check_error(check_entry(entry), JournalError::unbalanced);
}

TEST_CASE("journal: legs over 2^256 - 1 together are an overflow, in whatever order they stand") {
  const SignedAmount most{false, U256::max()};
  Entry entry = hold_of(10);
  entry.legs = {{"a", most}, {"b", plus(1)}, {"c", most.negated()}, {"d", minus(1)}};
  std::sort(entry.legs.begin(), entry.legs.end(),
            [](const Leg& left, const Leg& right) { return left.account < right.account; });
  do {
    check_error(check_entry(entry), JournalError::overflow);
  } while (std::next_permutation(
      entry.legs.begin(), entry.legs.end(),
      [](const Leg& left, const Leg& right) { return left.account < right.account; }));
  CHECK(check_entry(hold_of(U256::max())).has_value());
}

TEST_CASE("journal: an entry of the same content is a replay, of other content a conflict") {
  const Entry hold = hold_of(10);
  CHECK(*check_append(hold, {}) == Appending::append);
  Entry later = hold;
  later.at_ms += 1000;  // the time is not content
  CHECK(*check_append(later, {hold, {}, {}}) == Appending::replay);
  check_error(check_append(hold_of(11), {hold, {}, {}}), JournalError::conflict);
  Entry other = hold;
  other.asset = {"0xU"};
  check_error(check_append(other, {hold, {}, {}}), JournalError::conflict);
}

TEST_CASE("journal: a hold resolves exactly once, by post or by void") {
  const Entry hold = hold_of(10);
  const Entry post = *make_post(hold, payee, 10, 6);
  const Entry undone = make_void(hold, 6);
  for (const Entry& entry : {post, undone}) {
    CHECK(*check_append(entry, {{}, hold, {}}) == Appending::append);
    check_error(check_append(entry, {}), JournalError::no_hold);
    check_error(check_append(entry, {{}, hold_of(10, 0xb2), {}}), JournalError::no_hold);
    check_error(check_append(entry, {{}, post, {}}), JournalError::no_hold);
  }
  check_error(check_append(undone, {{}, hold, post}), JournalError::resolved);
  check_error(check_append(post, {{}, hold, undone}), JournalError::resolved);
  CHECK(*check_append(post, {post, hold, post}) == Appending::replay);
}

TEST_CASE(
    "journal: a post of more or less than was held, or a void of something else, is refused") {
  const Entry hold = hold_of(10);
  for (const std::uint64_t taken : {std::uint64_t{9}, std::uint64_t{11}}) {
    Entry post = *make_post(hold, payee, 10, 6);
    post.legs = {{"hold:eip155:1", minus(taken)}, {"payee:0xM", plus(taken)}};
    REQUIRE(check_entry(post).has_value());
    check_error(check_append(post, {{}, hold, {}}), JournalError::over_hold);
    check_error(balance_changes(post, hold), JournalError::over_hold);
  }
  Entry undone = make_void(hold, 6);
  undone.legs[0].account = "source:0xQ";
  check_error(balance_changes(undone, hold), JournalError::conflict);
  check_error(balance_changes(make_void(hold, 6), {}), JournalError::no_hold);
  Entry elsewhere = make_void(hold, 6);
  elsewhere.asset = {"0xU"};
  check_error(balance_changes(elsewhere, hold), JournalError::no_hold);
}

TEST_CASE("journal: pending moves with holds, posted with posts and gas, and nothing else") {
  Balances balances;
  const Entry hold = hold_of(1000);
  apply(balances, hold, {});
  const BalanceKey source{"source:0xP", chain, token};
  const BalanceKey held{"hold:eip155:1", chain, token};
  CHECK(balances[source] == Balance{{}, minus(1000)});
  CHECK(balances[held] == Balance{{}, plus(1000)});
  apply(balances, *make_post(hold, payee, 990, 6), hold);
  CHECK(balances[source] == Balance{minus(1000), {}});
  CHECK(balances[held] == Balance{});
  CHECK(balances[{"payee:0xM", chain, token}] == Balance{plus(990), {}});
  CHECK(balances[{"fee:0xT", chain, token}] == Balance{plus(10), {}});

  Balances undone;
  apply(undone, hold, {});
  apply(undone, make_void(hold, 6), hold);
  for (const auto& [key, balance] : undone) CHECK(balance == Balance{});
}

TEST_CASE("journal: over any mix of holds, posts, voids and gas the books stay at zero") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 50; ++round) {
    Balances balances;
    std::vector<Entry> open;
    for (Byte i = 0; i < 20; ++i) {
      // Small enough that twenty of them fit together.
      const Amount amount = *any_amount(random).divided_by(64)->plus(1);
      const Entry hold =
          make_hold(intent(i), chain, token, {i % 2 == 0 ? "0xP" : "0xQ"}, amount, 1);
      apply(balances, hold, {});
      open.push_back(hold);
      if (random() % 3 == 0) {
        TxHash hash;
        hash.value.fill(i);
        apply(balances, make_gas(hash, chain, {"0xR"}, 1 + random() % 1000, 1), {});
      }
      if (random() % 2 == 0) continue;
      const Amount arrived = random() % 2 == 0 ? amount : *amount.divided_by(3);
      const bool posts = random() % 2 == 0;
      apply(balances, posts ? *make_post(hold, payee, arrived, 2) : make_void(hold, 2), hold);
      open.pop_back();
    }
    for (const Entry& hold : open) apply(balances, make_void(hold, 3), hold);
    std::map<AssetId, SignedAmount> sums;
    for (const auto& [key, balance] : balances) {
      CHECK(balance.pending == SignedAmount{});
      sums[key.asset] = *sums[key.asset].plus(balance.posted);
    }
    for (const auto& [asset, sum] : sums) CHECK(sum == SignedAmount{});
  }
}

TEST_CASE("journal: a balance over 2^256 - 1 is refused, at exactly that edge") {
  const Balance most{{false, U256::max()}, {}};
  CHECK(add(most, Balance{plus(0), plus(1)}).has_value());
  CHECK_FALSE(add(most, Balance{plus(1), {}}).has_value());
  CHECK(add(most, Balance{minus(1), {}}).has_value());
  const Balance least{{true, U256::max()}, {}};
  CHECK_FALSE(add(least, Balance{minus(1), {}}).has_value());
  CHECK(*add(most, least) == Balance{});
  CHECK_FALSE(add(Balance{{}, most.posted}, Balance{{}, plus(1)}).has_value());
}

TEST_CASE("journal: signed amounts add as numbers do, and zero is never negative") {
  CHECK(*plus(5).plus(minus(7)) == minus(2));
  CHECK(*minus(5).plus(plus(7)) == plus(2));
  CHECK(*minus(5).plus(minus(7)) == minus(12));
  CHECK(*plus(5).plus(minus(5)) == SignedAmount{});
  CHECK(*minus(5).plus(plus(5)) == SignedAmount{});
  CHECK(plus(0).negated() == plus(0));
  CHECK(minus(5).negated() == plus(5));
  CHECK(minus(5).decimal() == "-5");
  CHECK(plus(0).decimal() == "0");
  std::mt19937_64 random(12);
  for (int i = 0; i < 2000; ++i) {
    const SignedAmount a{random() % 2 == 0, any_amount(random)};
    const SignedAmount b{random() % 2 == 0, any_amount(random)};
    CHECK(a.plus(b) == b.plus(a));
    CHECK(*a.plus(a.negated()) == SignedAmount{});
    if (const auto sum = a.plus(b)) {
      if (const auto back = sum->plus(b.negated())) CHECK(*back == a);
      CHECK_FALSE((sum->negative && sum->magnitude.is_zero()));
    }
  }
}

// The vector was computed apart from this code with Python's hashlib: SHA-256 over the fields, each
// behind its length as eight big-endian bytes, numbers as eight big-endian bytes, magnitudes as 32:
//   "holdfast/journal/1", 32 zero bytes, 1, "pi_" + 16 * "a1" + "/hold", "hold", "eip155:1", "0xT",
//   5, 2, "source:0xP", "-", 1000, "hold:eip155:1", "+", 1000
TEST_CASE("journal: the hash chain has a pinned first link") {
  CHECK(to_hex(entry_hash(Digest{}, 1, hold_of(1000))) ==
        "cc28ac5c917dbcf57985dd77bce223c375345a9c2fbaa35ad13fc58e191148ee");
}

TEST_CASE("journal: whatever changes in an entry or before it changes its hash") {
  const Entry entry = hold_of(1000);
  std::vector<Entry> others(9, entry);
  others[0].id += "x";
  others[1].kind = EntryKind::gas;
  others[2].chain = {"eip155:2"};
  others[3].asset = {"0xU"};
  others[4].at_ms += 1;
  others[5].legs[0].account += "x";
  others[6].legs[0].amount.negative = false;
  others[7].legs[0].amount.magnitude = 1001;
  std::swap(others[8].legs[0], others[8].legs[1]);
  std::set<Digest> digests = {entry_hash(Digest{}, 1, entry), entry_hash(Digest{}, 2, entry),
                              entry_hash(Digest{1}, 1, entry)};
  for (const Entry& other : others) digests.insert(entry_hash(Digest{}, 1, other));
  CHECK(digests.size() == 3 + others.size());
}

TEST_CASE("journal: kinds and errors have texts of their own") {
  for (const EntryKind kind :
       {EntryKind::hold, EntryKind::post, EntryKind::void_, EntryKind::gas}) {
    CHECK(entry_kind_from(to_text(kind)) == kind);
  }
  CHECK(to_text(EntryKind::void_) == "void");
  CHECK_FALSE(entry_kind_from("void_"));
  std::set<std::string> texts;
  for (int code = 1; code <= 10; ++code) {
    texts.insert(make_error_code(static_cast<JournalError>(code)).message());
  }
  CHECK(texts.size() == 10);
}

}  // namespace holdfast::domain

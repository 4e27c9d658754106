// The named reads: bounds, order, pages. And the keys of the HTTP face.
#include <algorithm>

#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

using domain::Actor;
using store::StoreError;

store::ApiKey key_named(const std::string& name, Byte digest = 1) {
  store::ApiKey key;
  key.name = name;
  key.sha256.fill(digest);
  key.scopes = {"pay", "ops"};
  key.created_ms = 5;
  return key;
}

}  // namespace

TEST_CASE("reads: a payment is found by its id and by its ref, with all it was made of") {
  TestStore db;
  Desk desk(db);
  const domain::Intent made = desk.create_bearer(3);
  const auto by_id = db.read([&](store::Txn& txn) { return store::find_intent(txn, made.id); });
  const auto by_ref = db.read([&](store::Txn& txn) { return store::find_by_ref(txn, made.ref); });
  REQUIRE(by_id.has_value());
  REQUIRE(by_ref.has_value());
  CHECK(by_id->terms == made.terms);
  CHECK(by_id->authorization == made.authorization);
  CHECK(by_id->validity == made.validity);
  CHECK(by_ref->id == made.id);
  CHECK(!db.read([](store::Txn& txn) {
             return store::find_intent(txn, domain::derive_intent_id(shop, "unknown"));
           }).has_value());
  CHECK(!db.read([](store::Txn& txn) { return store::find_by_ref(txn, {}); }).has_value());
  CHECK(!db.read([](store::Txn& txn) { return store::find_facts(txn, {}); }).has_value());
}

TEST_CASE("reads: lists go from the newest, page by page, for one caller and one state") {
  TestStore db;
  Desk desk(db);
  std::vector<IntentId> ids;
  ids.reserve(7);
  for (std::uint64_t i = 0; i < 7; ++i) ids.push_back(desk.create_payout(i).id);
  store::NewIntent theirs = payout(50);
  theirs.intent.caller = {"other"};
  desk.create(theirs);
  desk.bring_to(ids[0], IntentState::settled);

  store::ListFilter filter;
  filter.limit = 3;
  filter.caller = shop;
  std::vector<IntentId> seen;
  for (int page = 0; page < 10; ++page) {
    const auto got = db.read([&](store::Txn& txn) { return store::list_intents(txn, filter); });
    for (const auto& intent : got.intents) seen.push_back(intent.id);
    if (got.next == 0) break;
    filter.before = got.next;
  }
  CHECK(seen == std::vector<IntentId>(ids.rbegin(), ids.rend()));

  const auto count = [&](std::optional<IntentState> state, std::optional<domain::CallerId> who) {
    store::ListFilter one;
    one.state = state;
    one.caller = std::move(who);
    return db.read([&](store::Txn& txn) { return store::list_intents(txn, one).intents.size(); });
  };
  CHECK(count({}, {}) == 8);
  CHECK(count(IntentState::settled, {}) == 1);
  CHECK(count(IntentState::authorized, {}) + count(IntentState::settling, {}) == 7);
  CHECK(count(IntentState::settled, domain::CallerId{"other"}) == 0);
  CHECK(count(IntentState::authorized, domain::CallerId{"other"}) == 1);
  CHECK(count(IntentState::failed, {}) == 0);
}

TEST_CASE("reads: the states are counted, settled ones included") {
  TestStore db;
  Desk desk(db);
  for (std::uint64_t i = 0; i < 4; ++i) desk.create_payout(i);
  desk.bring_to(payout(0).intent.id, IntentState::settled);
  desk.bring_to(payout(1).intent.id, IntentState::confirming);
  const auto counts = db.read([](store::Txn& txn) { return store::state_counts(txn); });
  const decltype(counts) expected = {
      {IntentState::authorized, 2}, {IntentState::confirming, 1}, {IntentState::settled, 1}};
  CHECK(counts == expected);
}

TEST_CASE("reads: watched payments come page by page, state by state, oldest first") {
  TestStore db;
  Desk desk(db);
  for (std::uint64_t i = 0; i < 6; ++i) desk.create_payout(i);
  desk.lease_all();
  for (std::uint64_t i = 0; i < 5; ++i) desk.claim(payout(i).intent.id);
  desk.sign(payout(2).intent.id);
  desk.confirm(payout(2).intent.id);
  std::vector<IntentId> seen;
  std::optional<store::WatchedPlace> after = store::WatchedPlace{};
  std::size_t attempts = 0;
  while (after) {
    const auto page =
        db.read([&](store::Txn& txn) { return store::watched(txn, chain, *after, 2); });
    CHECK(page.items.size() <= 2);
    for (const Facts& each : page.items) {
      seen.push_back(each.intent.id);
      attempts += each.attempts.size();
      CHECK(each.slot.has_value());
    }
    after = page.next;
  }
  const std::vector<IntentId> expected = {payout(0).intent.id, payout(1).intent.id,
                                          payout(3).intent.id, payout(4).intent.id,
                                          payout(2).intent.id};
  CHECK(seen == expected);
  CHECK(attempts == 1);
  // What carries a payment's ref comes with it: a process may have ended since it was read.
  const store::RefFound carried{
      chain, our_account, {7}, desk.facts(payout(3).intent.id).intent.ref, tx_hash(9), desk.now_ms};
  db.write([&](store::Txn& txn) { return store::note_ref_found(txn, carried); });
  const auto all = db.read([](store::Txn& txn) { return store::watched(txn, chain, {}, 10); });
  for (const Facts& each : all.items) {
    const bool is_carried = each.intent.id == payout(3).intent.id;
    REQUIRE(each.ref_found_in.size() == (is_carried ? 1 : 0));
    if (is_carried) CHECK(each.ref_found_in[0].hash == tx_hash(9));
  }
  // Another chain's rows are looked at, and not shown.
  const auto elsewhere = db.read(
      [](store::Txn& txn) { return store::watched(txn, domain::ChainId{"eip155:1"}, {}, 10); });
  CHECK(elsewhere.items.empty());
  CHECK(elsewhere.next.has_value());
}

TEST_CASE("reads: events come in order behind a cursor, account and operator events too") {
  TestStore db;
  Desk desk(db);
  desk.bring_to(desk.create_payout(1).id, IntentState::settled);
  const auto all = db.read([](store::Txn& txn) { return store::events_after(txn, 0, 100); });
  REQUIRE(all.size() == 5);
  CHECK(all[0].kind == "account");
  CHECK(!all[0].intent.has_value());
  CHECK(all[1].intent.has_value());
  const auto rest =
      db.read([&](store::Txn& txn) { return store::events_after(txn, all[2].seq, 1); });
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].seq == all[3].seq);
}

TEST_CASE("keys: a name is given once, for ever, because it is a caller's id") {
  TestStore db;
  const auto add = [&](const store::ApiKey& key) {
    return db.write([&](store::Txn& txn) { return store::add_api_key(txn, key); });
  };
  const auto revoke = [&](std::string_view name) {
    return db.write([&](store::Txn& txn) { return store::revoke_api_key(txn, name, 9); });
  };
  REQUIRE(add(key_named("shop")).has_value());
  CHECK(refused_with(add(key_named("shop", 2)), StoreError::name_taken));
  CHECK(refused_with(add(key_named("other", 1)), StoreError::name_taken));
  REQUIRE(add(key_named("other", 2)).has_value());
  REQUIRE(revoke("shop").has_value());
  CHECK(refused_with(revoke("shop"), StoreError::not_found));
  CHECK(refused_with(revoke("nobody"), StoreError::not_found));
  CHECK(refused_with(add(key_named("shop", 3)), StoreError::name_taken));
  const auto keys = db.read([](store::Txn& txn) { return store::api_keys(txn); });
  REQUIRE(keys.size() == 2);
  CHECK(keys[0].revoked_ms == 9);
  CHECK(keys[0].scopes == std::vector<std::string>{"pay", "ops"});
  CHECK(!keys[1].revoked_ms.has_value());
}

TEST_CASE("keys: a key without a name, without a scope, or with an unknown one is refused") {
  TestStore db;
  const auto refused = [&](const store::ApiKey& key) {
    const auto added = db.write([&](store::Txn& txn) { return store::add_api_key(txn, key); });
    return refused_with(added, StoreError::bad_key);
  };
  CHECK(refused(key_named("")));
  CHECK(refused(key_named(std::string(65, 'x'))));
  store::ApiKey key = key_named("shop");
  key.scopes.clear();
  CHECK(refused(key));
  key.scopes = {"root"};
  CHECK(refused(key));
}

}  // namespace holdfast::test

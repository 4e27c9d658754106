// The same request, the same answer: creation, authorization, cancel.
#include "store/fixture.hpp"

namespace holdfast::test {
namespace {

using domain::Actor;
using store::Answered;
using store::StoreError;

Result<Answered> create(TestStore& db, const store::NewIntent& wanted) {
  return db.write([&](store::Txn& txn) { return store::create_intent(txn, wanted); });
}
Result<Answered> answer(TestStore& db, const store::Move& move) {
  return db.write([&](store::Txn& txn) { return store::answer_move(txn, move); });
}

/// Everything an answer is rendered from.
bool same(const domain::Intent& a, const domain::Intent& b) {
  return a.id == b.id && a.ref == b.ref && a.caller == b.caller && a.terms == b.terms &&
         a.bearer == b.bearer && a.state == b.state && a.version == b.version &&
         a.tx_hash == b.tx_hash && a.reason == b.reason && a.cancel_asked == b.cancel_asked &&
         a.validity == b.validity && a.authorization == b.authorization &&
         a.created_ms == b.created_ms && a.updated_ms == b.updated_ms &&
         a.settling_ms == b.settling_ms && a.publish_before_s == b.publish_before_s;
}

store::Move authorize_move(const Desk& desk, const domain::Intent& intent, std::uint64_t key) {
  store::Move out = desk.move(intent.id, IntentState::authorized, Actor::api);
  out.caller = shop;
  out.authorization = authorization_of(intent);
  out.request = request(key);
  return out;
}

/// A payer's own nonce, redeemed through another door: other id, same redemption key.
store::NewIntent redeeming(std::uint64_t number, std::uint64_t earlier_ended = 0) {
  store::NewIntent out = bearer(number);
  domain::Intent& intent = out.intent;
  domain::Authorization authorization = authorization_of(intent);
  authorization.nonce.value.fill(9);
  intent.terms.amount = domain::Amount(5);
  intent.id = domain::derive_intent_id(intent.terms, authorization.nonce, earlier_ended);
  intent.ref = domain::derive_ref(intent.id, intent.terms);
  intent.state = IntentState::authorized;
  intent.authorization = authorization;
  return out;
}

}  // namespace

TEST_CASE("store: the same creation twice is one payment and one job") {
  TestStore db;
  const auto first = create(db, payout(1));
  REQUIRE(first.has_value());
  CHECK(!first->replayed);
  const auto second = create(db, payout(1));
  REQUIRE(second.has_value());
  CHECK(second->replayed);
  CHECK(same(first->intent, second->intent));
  CHECK(db.number("SELECT count(*) FROM intents") == 1);
  CHECK(db.number("SELECT count(*) FROM jobs") == 1);
  CHECK(db.number("SELECT count(*) FROM events") == 1);
}

TEST_CASE("store: the same key with another body is refused") {
  TestStore db;
  REQUIRE(create(db, payout(1)).has_value());
  store::NewIntent other = payout(1);
  other.request = request(1, /*body=*/2);
  CHECK(refused_with(create(db, other), StoreError::key_reused));
}

TEST_CASE("store: another caller's request for a taken id shows nothing of it") {
  TestStore db;
  REQUIRE(create(db, payout(1)).has_value());
  store::NewIntent other = payout(1);
  other.intent.caller = {"stranger"};
  CHECK(refused_with(create(db, other), StoreError::key_reused));
  // Derived ids keep callers apart in the first place.
  CHECK(domain::derive_intent_id(shop, "k") != domain::derive_intent_id({"stranger"}, "k"));
}

TEST_CASE("store: a creation repeated after the payment settled gets its first answer, unchanged") {
  TestStore db;
  Desk desk(db);
  const auto first = create(db, payout(1));
  REQUIRE(first.has_value());
  desk.bring_to(first->intent.id, IntentState::settled);
  const auto again = create(db, payout(1));
  REQUIRE(again.has_value());
  CHECK(again->replayed);
  CHECK(same(first->intent, again->intent));
}

TEST_CASE("store: every request on a bearer payment keeps its first answer for ever") {
  TestStore db;
  Desk desk(db);
  const auto made = create(db, bearer(1));
  REQUIRE(made.has_value());
  desk.now_ms = 3000;
  const store::Move authorize = authorize_move(desk, made->intent, 500);
  const auto authorized = answer(db, authorize);
  REQUIRE(authorized.has_value());
  CHECK(!authorized->replayed);
  CHECK(authorized->intent.state == IntentState::authorized);
  CHECK(db.number("SELECT count(*) FROM jobs") == 1);
  desk.now_ms = 4000;
  desk.bring_to(made->intent.id, IntentState::settled);

  const auto created_again = create(db, bearer(1));
  REQUIRE(created_again.has_value());
  CHECK(same(made->intent, created_again->intent));
  const auto authorized_again = answer(db, authorize);
  REQUIRE(authorized_again.has_value());
  CHECK(authorized_again->replayed);
  CHECK(same(authorized->intent, authorized_again->intent));
}

TEST_CASE("store: the same authorization under another key is a replay, another one is refused") {
  TestStore db;
  Desk desk(db);
  const auto made = create(db, bearer(1));
  const auto first = answer(db, authorize_move(desk, made->intent, 500));
  REQUIRE(first.has_value());
  desk.now_ms = 9000;
  for (const IntentState state : {IntentState::authorized, IntentState::settling,
                                  IntentState::confirming, IntentState::settled}) {
    CAPTURE(domain::to_text(state));
    if (state != IntentState::authorized) desk.bring_to(made->intent.id, state);
    const auto again = answer(db, authorize_move(desk, made->intent, 501));
    REQUIRE(again.has_value());
    CHECK(again->replayed);
    CHECK(same(first->intent, again->intent));
    store::Move other = authorize_move(desk, made->intent, 502);
    other.authorization->signature[0] ^= 1;
    CHECK(refused_with(answer(db, other), StoreError::already_authorized));
  }
}

TEST_CASE("store: a key of one move with another body is refused") {
  TestStore db;
  Desk desk(db);
  const auto made = create(db, bearer(1));
  store::Move authorize = authorize_move(desk, made->intent, 500);
  REQUIRE(answer(db, authorize).has_value());
  authorize.request = request(500, /*body=*/7);
  CHECK(refused_with(answer(db, authorize), StoreError::key_reused));
}

TEST_CASE("store: a bearer payment needs an authorization, a payout takes none") {
  TestStore db;
  Desk desk(db);
  const auto made = create(db, bearer(1));
  store::Move bare = authorize_move(desk, made->intent, 500);
  bare.authorization.reset();
  CHECK(refused_with(answer(db, bare), domain::TransitionError::missing_need));
}

TEST_CASE("store: a cancel repeated, or under another key, is answered alike") {
  TestStore db;
  Desk desk(db);
  const auto made = create(db, bearer(1));
  store::Move cancel = desk.move(made->intent.id, IntentState::canceled, Actor::api);
  cancel.reason = "changed my mind";
  cancel.request = request(600);
  const auto first = answer(db, cancel);
  REQUIRE(first.has_value());
  CHECK(first->intent.reason == "changed my mind");
  const auto again = answer(db, cancel);
  REQUIRE(again.has_value());
  CHECK(again->replayed);
  CHECK(same(first->intent, again->intent));
  cancel.request = request(601);
  cancel.now_ms = 9999;
  const auto other_key = answer(db, cancel);
  REQUIRE(other_key.has_value());
  CHECK(same(first->intent, other_key->intent));
  // A canceled payment is not authorized any more, not even by what would have been good.
  CHECK(refused_with(answer(db, authorize_move(desk, made->intent, 602)),
                     domain::TransitionError::terminal));
}

TEST_CASE("store: an authorization is redeemed by one payment, whatever door it came through") {
  TestStore db;
  Desk desk(db);
  const store::NewIntent first = redeeming(1);
  REQUIRE(create(db, first).has_value());
  CHECK(db.number("SELECT count(*) FROM jobs") == 1);
  CHECK(create(db, first)->replayed);

  // Another intent, authorized later with the same nonce.
  const auto other = create(db, bearer(2));
  REQUIRE(other.has_value());
  store::Move authorize = authorize_move(desk, other->intent, 700);
  authorize.authorization = first.intent.authorization;
  CHECK(refused_with(answer(db, authorize), StoreError::redemption_taken));

  // Another caller at the same door.
  store::NewIntent stranger = first;
  stranger.intent.caller = {"stranger"};
  CHECK(refused_with(create(db, stranger), StoreError::redemption_taken));
  // Under a made-up id.
  store::NewIntent forged = redeeming(1, /*earlier_ended=*/1);
  forged.request = request(9);
  CHECK(refused_with(create(db, forged), StoreError::redemption_taken));
}

TEST_CASE("store: an authorization may be redeemed again once its payment was canceled") {
  TestStore db;
  Desk desk(db);
  const store::NewIntent first = redeeming(1);
  REQUIRE(create(db, first).has_value());
  const auto key =
      domain::derive_redemption_key(first.intent.terms, first.intent.authorization->nonce);
  const auto ended = [&] {
    return db.read([&](store::Txn& txn) { return store::ended_redemptions(txn, key); });
  };
  CHECK(ended() == 0);
  store::Move cancel = desk.move(first.intent.id, IntentState::canceled, Actor::system);
  cancel.reason = "expired";
  desk.must(cancel);
  CHECK(ended() == 1);
  store::NewIntent anew = redeeming(1, 1);
  anew.request = request(9);
  REQUIRE(create(db, anew).has_value());
  // And its own creation, repeated, is still answered as the first time.
  const auto again = create(db, first);
  REQUIRE(again.has_value());
  CHECK(again->replayed);
  CHECK(again->intent.state == IntentState::authorized);
}

TEST_CASE(
    "store: a payment failed by proof 1 gives its authorization free, by proof 3 it does not") {
  for (const bool by_first : {true, false}) {
    CAPTURE(by_first);
    TestStore db;
    Desk desk(db);
    const store::NewIntent made = redeeming(1);
    REQUIRE(create(db, made).has_value());
    desk.lease_all();
    desk.claim(made.intent.id);
    if (!by_first) desk.sign(made.intent.id);
    store::Move fail = desk.move(made.intent.id, IntentState::failed, Actor::relayer);
    fail.reason = "expired";
    if (by_first) fail.proof = domain::NeverAsked{};
    if (!by_first) {
      fail.proof = domain::AuthorizationDead{
          domain::AuthorizationDead::How::expired_unused, made.intent.validity.before_s, {}};
    }
    desk.must(fail);
    store::NewIntent anew = redeeming(1, 1);
    anew.request = request(9);
    CHECK(create(db, anew).has_value() == by_first);
  }
}

TEST_CASE("store: asking for a cancel is recorded once, and refused when the payment has ended") {
  TestStore db;
  Desk desk(db);
  const IntentId id = desk.create_payout(1).id;
  desk.bring_to(id, IntentState::settling);
  const auto ask = [&](const domain::CallerId& caller) {
    return db.write([&](store::Txn& txn) {
      return store::ask_cancel(txn, id, caller, Actor::operator_,
                               {"ann", "stuck", {}, desk.now_ms, 0});
    });
  };
  CHECK(refused_with(ask({"stranger"}), StoreError::not_found));
  const auto asked = ask(shop);
  REQUIRE(asked.has_value());
  CHECK(asked->intent.cancel_asked);
  CHECK(asked->intent.version == 3);
  CHECK(asked->intent.state == IntentState::settling);
  const auto again = ask(shop);
  REQUIRE(again.has_value());
  CHECK(again->intent.version == 3);
  desk.sign(id);
  desk.confirm(id);
  desk.settle(id);
  CHECK(refused_with(ask(shop), domain::TransitionError::terminal));
  const auto report = db.read([&](store::Txn& txn) { return store::history_of(txn, id); });
  CHECK(report.at(2).kind == "cancel");
  CHECK(report.at(2).who == "ann");
}

}  // namespace holdfast::test

// Payments through the real engine and store, on the scripted chain, in virtual time.
#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::check_audit;
using testing::check_paid_once;
using testing::Rig;
using testing::RigOptions;

TEST_CASE("engine: a payout runs from request to settled, held and posted once") {
  Rig rig;
  rig.start();
  const domain::Intent intent = rig.create("one", rig.payout());
  CHECK(intent.state == IntentState::authorized);
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 30'000));
  check_paid_once(rig, intent);
  const auto detail = rig.detail(intent.id);
  CHECK(detail.attempts.size() == 1);
  CHECK(detail.slot->state == domain::SlotState::consumed);
  REQUIRE(detail.journal.size() >= 2);
  CHECK(rig.pending_hold("sim:1").decimal() == "0");
  CHECK_FALSE(rig.job(intent.id).has_value());
  check_audit(rig);
}

TEST_CASE("engine: a payer's authorization settles, its ref being the nonce") {
  Rig rig;
  rig.start();
  const domain::Intent created = rig.create("one", rig.from_payer());
  CHECK(created.state == IntentState::created);
  rig.world.run_for(5'000);
  CHECK(rig.chain.posts().empty());
  const auto signature = sim::authorize(created).signature;
  const auto first = rig.run(rig.engine->authorize(rig.caller("sign"), created.id, signature));
  REQUIRE(first.has_value());
  REQUIRE(rig.reaches(created.id, IntentState::settled, 30'000));
  check_paid_once(rig, created);
  // The same request again: the first answer, byte for byte, however far it has come.
  const auto again = rig.run(rig.engine->authorize(rig.caller("sign"), created.id, signature));
  REQUIRE(again.has_value());
  CHECK(again->replayed);
  CHECK(again->intent.state == first->intent.state);
  CHECK(again->intent.version == first->intent.version);
  CHECK(again->intent.updated_ms == first->intent.updated_ms);
  check_audit(rig);
}

TEST_CASE("engine: a wrong signature changes nothing") {
  Rig rig;
  rig.start();
  const domain::Intent created = rig.create("one", rig.from_payer());
  Bytes signature = sim::authorize(created).signature;
  signature[5] ^= 1;
  const auto refused = rig.run(rig.engine->authorize(rig.caller("sign"), created.id, signature));
  REQUIRE_FALSE(refused.has_value());
  CHECK(rig.find(created.id).version == created.version);
  CHECK(rig.state(created.id) == IntentState::created);
}

TEST_CASE("engine: one authorization through two doors is one payment") {
  Rig rig;
  rig.start();
  const domain::Intent created = rig.create_authorized("one", rig.from_payer());
  const domain::Authorization same = sim::authorize(created);
  const auto second = rig.run(rig.engine->submit(rig.caller("other"), rig.from_payer(), same));
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().code == engine::EngineError::redemption_taken);
  REQUIRE(rig.reaches(created.id, IntentState::settled, 30'000));
  CHECK(rig.chain.posts().size() == 1);
}

TEST_CASE("engine: a payer's own nonce makes the id; both doors meet in it") {
  Rig rig;
  rig.start();
  domain::Nonce nonce;
  nonce.value.fill(7);
  domain::Intent probe = rig.create("probe", rig.from_payer());
  const std::int64_t now_s = rig.world.clock().wall_ms() / 1000;
  const auto mine = sim::authorize(probe.terms, nonce, {0, now_s + 3'600});
  const auto first = rig.run(rig.engine->submit(rig.caller("a"), rig.from_payer(), mine));
  REQUIRE_MESSAGE(first.has_value(), first.error().detail);
  const auto again = rig.run(rig.engine->submit(rig.caller("a"), rig.from_payer(), mine));
  REQUIRE(again.has_value());
  CHECK(again->replayed);
  CHECK(again->intent.id == first->intent.id);
  REQUIRE(rig.reaches(first->intent.id, IntentState::settled, 30'000));
  CHECK(rig.chain.posts().size() == 1);
}

// Found by the simulator, seed 5 at profile calm.
TEST_CASE(
    "engine: the same key gets its first answer, though its payment ended and may be tried anew") {
  Rig rig;
  rig.start();
  domain::Nonce nonce;
  nonce.value.fill(7);
  const domain::Intent probe = rig.create("probe", rig.from_payer());
  const std::int64_t now_s = rig.world.clock().wall_ms() / 1000;
  const auto mine = sim::authorize(probe.terms, nonce, {0, now_s + 3'600});
  const auto submit = [&](const std::string& key) {
    return rig.run(rig.engine->submit(rig.caller(key), rig.from_payer(), mine));
  };
  const auto first = submit("a");
  REQUIRE_MESSAGE(first.has_value(), first.error().detail);
  const auto canceled = rig.run(rig.engine->cancel(rig.caller("c"), first->intent.id, "no"));
  REQUIRE_MESSAGE(canceled.has_value(), canceled.error().detail);
  const auto again = submit("a");
  REQUIRE_MESSAGE(again.has_value(), again.error().detail);
  CHECK(again->replayed);
  CHECK(again->intent.id == first->intent.id);
  CHECK(again->intent.state == IntentState::authorized);  // as it was answered then
  const auto anew = submit("b");
  REQUIRE_MESSAGE(anew.has_value(), anew.error().detail);
  CHECK(anew->intent.id != first->intent.id);
}

TEST_CASE("engine: a key that submitted one authorization submits no other") {
  Rig rig;
  rig.start();
  const domain::Intent probe = rig.create("probe", rig.from_payer());
  const std::int64_t now_s = rig.world.clock().wall_ms() / 1000;
  const auto with_nonce = [&](std::uint8_t byte) {
    domain::Nonce nonce;
    nonce.value.fill(byte);
    return sim::authorize(probe.terms, nonce, {0, now_s + 3'600});
  };
  const auto submit = [&](const engine::Caller& caller, std::uint8_t byte) {
    return rig.run(rig.engine->submit(caller, rig.from_payer(), with_nonce(byte)));
  };
  const auto is_reused = [](const auto& answer) {
    return !answer.has_value() && answer.error().code == engine::EngineError::key_reused;
  };
  engine::Caller caller = rig.caller("a");
  SUBCASE("whether its digest says so") { caller.fingerprint.fill(1); }
  SUBCASE("or was left the same") {}
  const auto first = submit(rig.caller("a"), 7);
  REQUIRE_MESSAGE(first.has_value(), first.error().detail);
  CHECK(is_reused(submit(caller, 8)));
  CHECK(submit(rig.caller("a"), 7)->replayed);
  // Nor does the other door take it, or one that the other door took.
  CHECK(is_reused(rig.run(rig.engine->create(caller, rig.payout()))));
  CHECK(is_reused(submit(rig.caller("probe"), 9)));
  engine::Page all = rig.run(rig.engine->list({}));
  CHECK(all.intents.size() == 2);
  // Without a key it is what is redeemed that tells one request from another.
  engine::Caller keyless = rig.caller("");
  CHECK(submit(keyless, 10).has_value());
  CHECK(submit(keyless, 11).has_value());
  CHECK(submit(keyless, 11)->replayed);
}

TEST_CASE("engine: a key asked again for something else is refused, also with the same digest") {
  Rig rig;
  rig.start();
  const domain::Intent first = rig.create("one", rig.payout());
  const auto other = rig.run(rig.engine->create(rig.caller("one"), rig.payout("2000000")));
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code == engine::EngineError::key_reused);
  CHECK(rig.run(rig.engine->create(rig.caller("one"), rig.payout()))->intent.id == first.id);
}

TEST_CASE("engine: cancel before settling ends it, after settling it is too late") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  const domain::Intent created = rig.create("one", rig.from_payer());
  const auto canceled = rig.run(rig.engine->cancel(rig.caller("c1"), created.id, "changed mind"));
  REQUIRE(canceled.has_value());
  CHECK(canceled->intent.state == IntentState::canceled);
  const domain::Intent payout = rig.create("two", rig.payout());
  REQUIRE(rig.reaches(payout.id, IntentState::confirming, 5'000));
  const auto late = rig.run(rig.engine->cancel(rig.caller("c2"), payout.id, "too late"));
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error().code == engine::EngineError::too_late);
  CHECK(rig.state(payout.id) == IntentState::confirming);
  check_audit(rig);
}

TEST_CASE("engine: an unknown post keeps its record; the same bytes settle it") {
  for (const bool reached : {true, false}) {
    CAPTURE(reached);
    Rig rig;
    rig.chain.script().next_post(reached ? sim::NextPost::accept_answer_unknown()
                                         : sim::NextPost::drop_answer_unknown());
    rig.start();
    const domain::Intent intent = rig.create("one", rig.payout());
    REQUIRE(rig.reaches(intent.id, IntentState::settled, 120'000));
    check_paid_once(rig, intent);
    CHECK(rig.chain.bodies({"relayer0"}, {0}).size() == 1);
    CHECK(rig.chain.count({"relayer0"}) == 1);
    check_audit(rig);
  }
}

TEST_CASE("engine: a node that says yes and forgets gets the same bytes again") {
  Rig rig;
  rig.chain.script().next_post(sim::NextPost::drop_answer_ok());
  rig.start();
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 180'000));
  check_paid_once(rig, intent);
  CHECK(rig.chain.posts().size() >= 2);
  CHECK(rig.chain.bodies({"relayer0"}, {0}).size() == 1);
}

TEST_CASE("engine: bytes that never left go out later, at the same number") {
  Rig rig;
  rig.chain.script().next_post(sim::NextPost::not_sent());
  rig.chain.script().next_post(sim::NextPost::not_sent());
  rig.start();
  const domain::Intent intent = rig.create("one", rig.payout());
  const domain::Intent next = rig.create("two", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 120'000));
  REQUIRE(rig.reaches(next.id, IntentState::settled, 120'000));
  check_paid_once(rig, intent);
  check_paid_once(rig, next);
  CHECK(rig.chain.count({"relayer0"}) == 2);
}

TEST_CASE("engine: two hundred payments, several accounts, every number used once and in order") {
  RigOptions options;
  options.accounts = 3;
  Rig rig(options);
  rig.start();
  std::vector<domain::Intent> intents;
  for (int i = 0; i < 200; ++i) {
    const std::string key = "k" + std::to_string(i);
    intents.push_back(i % 4 == 0 ? rig.create(key, rig.payout())
                                 : rig.create_authorized(key, rig.from_payer()));
  }
  for (const domain::Intent& intent : intents) {
    REQUIRE(rig.reaches(intent.id, IntentState::settled, 300'000));
    check_paid_once(rig, intent);
  }
  std::uint64_t used = 0;
  for (const domain::Address& account : rig.accounts) {
    used += rig.chain.count(account);
    for (std::uint64_t n = 0; n < rig.chain.count(account); ++n) {
      CHECK(rig.chain.bodies(account, {n}).size() == 1);
    }
  }
  CHECK(used == 200);
  check_audit(rig);
}

TEST_CASE("engine: a payout that reverts for good fails, its hold voided, its number consumed") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  // Each asks for all the account has: both simulate, the second mined one reverts.
  const domain::Intent one = rig.create("one", rig.payout("1000000000000"));
  const domain::Intent two = rig.create("two", rig.payout("1000000000000"));
  REQUIRE(rig.reaches(one.id, IntentState::confirming, 5'000));
  REQUIRE(rig.reaches(two.id, IntentState::confirming, 5'000));
  rig.chain.mine(4);
  rig.world.run_for(5'000);
  const bool one_paid = rig.state(one.id) == IntentState::settled;
  const domain::Intent& paid = one_paid ? one : two;
  const domain::Intent& reverted = one_paid ? two : one;
  check_paid_once(rig, paid);
  const auto detail = rig.detail(reverted.id);
  CHECK(detail.intent.state == IntentState::failed);
  CHECK(detail.intent.reason == "reverted");
  CHECK(detail.slot->state == domain::SlotState::consumed);
  CHECK(rig.chain.moved(reverted.ref) == 0);
  CHECK(rig.pending_hold("sim:1").decimal() == "0");
  check_audit(rig);
}

TEST_CASE("engine: a bearer authorization that reverts stays open until its end is final") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  engine::NewPayment all = rig.from_payer("1000000000000");
  all.validity_s = 600;
  const domain::Intent one = rig.create_authorized("one", all);
  const domain::Intent two = rig.create_authorized("two", all);
  REQUIRE(rig.reaches(one.id, IntentState::confirming, 5'000));
  REQUIRE(rig.reaches(two.id, IntentState::confirming, 5'000));
  rig.chain.mine(4);
  rig.world.run_for(60'000);
  const domain::Intent& open = rig.state(one.id) == IntentState::settled ? two : one;
  CHECK(rig.state(open.id) == IntentState::settling);
  CHECK(rig.detail(open.id).slot->state == domain::SlotState::consumed);
  CHECK(rig.chain.posts().size() == 2);
  // Its end passes in a final block, unused: now it is proved.
  rig.world.run_for(700'000);
  rig.chain.mine(4);
  REQUIRE(rig.reaches(open.id, IntentState::failed, 120'000));
  CHECK(rig.chain.moved(open.ref) == 0);
  CHECK(rig.chain.posts().size() == 2);
  check_audit(rig);
}

TEST_CASE("engine: a payout's validity_s is until when it is posted, within the limits") {
  RigOptions options;
  options.block_ms = 0;
  Rig rig(options);
  rig.start();
  engine::NewPayment payment = rig.payout();
  payment.validity_s = 90;
  const domain::Intent intent = rig.create("one", payment);
  CHECK(intent.publish_before_s == intent.created_ms / 1000 + 90);
  CHECK(rig.create("two", rig.payout()).publish_before_s > intent.publish_before_s + 3'600);
  payment.validity_s = 59;
  const auto refused = rig.run(rig.engine->create(rig.caller("three"), payment));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == engine::EngineError::bad_validity);
}

TEST_CASE("engine: what nobody signed is canceled at its deadline, by both clocks") {
  RigOptions options;
  options.block_ms = 0;
  options.config.sweep_ms = 5'000;
  Rig rig(options);
  rig.start();
  engine::NewPayment payment = rig.from_payer();
  payment.validity_s = 90;
  const domain::Intent early = rig.create("one", payment);
  payment.validity_s = 600;
  const domain::Intent later = rig.create("two", payment);
  rig.world.run_for(120'000);
  CHECK(rig.state(early.id) == IntentState::created);  // the chain stands still
  rig.chain.mine();
  rig.world.run_for(12'000);
  CHECK(rig.state(early.id) == IntentState::canceled);
  CHECK(rig.find(early.id).reason == "expired");
  CHECK(rig.detail(early.id).history.back().actor == "system");
  CHECK(rig.state(later.id) == IntentState::created);
  testing::check_audit(rig);
}

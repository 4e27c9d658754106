// The review desk in the running engine: what it reads, what it writes, and what it refuses.
#include <algorithm>

#include <doctest/doctest.h>

#include "rig.hpp"
#include "store/writes.hpp"

using namespace holdfast;
using domain::IntentState;
using domain::Resolution;
using engine::EngineError;
using testing::check_audit;
using testing::check_paid_once;
using testing::Rig;
using testing::RigOptions;

namespace {

engine::Caller operator_with(const std::string& key) {
  return {{"ann"}, key, sha256(as_bytes(key))};
}

engine::Resolve as(Resolution what, std::optional<domain::TxHash> hash = {},
                   std::vector<domain::TxHash> consumers = {}) {
  return {what, hash, std::move(consumers), "looked at it"};
}

Result<engine::Resolved> resolve(Rig& rig, const domain::IntentId& id,
                                 const engine::Resolve& wanted, const std::string& key = "k") {
  return rig.run(rig.engine->resolve(operator_with(key), id, wanted));
}

std::string why(const Result<engine::Resolved>& refused, EngineError code) {
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == code);
  return refused.error().detail;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Into review, as a settling payment comes there when nobody could know.
void put_into_review(Rig& rig, const domain::IntentId& id) {
  const auto facts =
      rig.run(rig.store->write([id, now_ms = rig.world.clock().wall_ms()](store::Txn& txn) {
        store::Move move;
        move.id = id;
        move.to = IntentState::needs_review;
        move.actor = domain::Actor::relayer;
        move.reason = "no_receipt";
        move.now_ms = now_ms;
        return store::move_intent(txn, move);
      }));
  REQUIRE_MESSAGE(facts.has_value(), facts.error().detail);
}

/// Signed and stored, the node said nothing and (`reached`) has the bytes or not; then the engine
/// was gone, and comes back to a payment in review.
domain::Intent in_review(Rig& rig, const engine::NewPayment& payment, bool reached) {
  rig.chain.script().next_post(reached ? sim::NextPost::accept_answer_unknown()
                                       : sim::NextPost::drop_answer_unknown());
  rig.start();
  const domain::Intent intent = payment.method == "payout" ? rig.create("one", payment)
                                                           : rig.create_authorized("one", payment);
  while (rig.chain.posts().empty()) rig.world.run_for(10);
  rig.crash_without_restart();
  put_into_review(rig, intent.id);
  rig.run(rig.store->write([](store::Txn& txn) {
    txn.db().execute("DELETE FROM jobs");
    return 0;
  }));
  return intent;
}

domain::TxHash run_by_stranger(Rig& rig, const domain::IntentId& id) {
  const auto facts = rig.read([id](store::Txn& txn) { return store::find_facts(txn, id); });
  const auto call = rig.authorizations.call(facts->intent);
  REQUIRE(call.has_value());
  rig.chain.give({"stranger"}, domain::native_asset, *U256::from_decimal("1000000000000"));
  return rig.chain.run_elsewhere({{"stranger"}, {0}, *call, {U256{2'000}, U256{100}, 60'000}});
}

/// Somebody else with the account's key uses its number for nothing.
domain::TxHash use_number(Rig& rig, std::uint64_t number) {
  const domain::Address account{"relayer0"};
  return rig.chain.run_elsewhere(
      {account, {number}, rig.chain.noop_call(account), {U256{3'000}, U256{200}, 60'000}});
}

RigOptions by_hand() {
  RigOptions options;
  options.block_ms = 0;
  return options;
}

}  // namespace

TEST_CASE("F8: paid while nobody looked, an operator names the transaction: settled, posted once") {
  Rig rig(by_hand());
  const domain::Intent intent = in_review(rig, rig.from_payer(), false);
  const domain::TxHash theirs = run_by_stranger(rig, intent.id);
  rig.chain.mine(1);
  rig.start();
  rig.world.run_for(3'000);
  REQUIRE(rig.state(intent.id) == IntentState::needs_review);

  const auto early = resolve(rig, intent.id, as(Resolution::settled, theirs), "early");
  CHECK(contains(why(early, EngineError::unproven), "not final yet"));
  rig.chain.mine(4);
  rig.world.run_for(3'000);
  domain::TxHash wrong = theirs;
  wrong.value[0] ^= 1;
  CHECK(contains(
      why(resolve(rig, intent.id, as(Resolution::settled, wrong), "wrong"), EngineError::unproven),
      "the chain knows no transaction"));
  rig.chain.script().fail_next(sim::ChainCall::find, ports::Unknown{"no answer"});
  CHECK(contains(why(resolve(rig, intent.id, as(Resolution::settled, theirs), "silent"),
                     EngineError::try_again),
                 "does not answer"));
  CHECK(rig.state(intent.id) == IntentState::needs_review);

  const auto done = resolve(rig, intent.id, as(Resolution::settled, theirs), "done");
  REQUIRE_MESSAGE(done.has_value(), done.error().detail);
  CHECK(done->intent.state == IntentState::settled);
  CHECK(done->intent.tx_hash == theirs);
  CHECK_FALSE(done->replayed);
  const auto again = resolve(rig, intent.id, as(Resolution::settled, theirs), "done");
  REQUIRE(again.has_value());
  CHECK(again->replayed);
  CHECK(again->intent.version == done->intent.version);
  CHECK(again->intent.updated_ms == done->intent.updated_ms);
  CHECK(again->note == done->note);
  check_paid_once(rig, intent);
  const auto detail = rig.detail(intent.id);
  CHECK(detail.history.back().who == "ann");
  CHECK(detail.history.back().actor == "operator");
  CHECK(detail.history.back().reason == "looked at it");
  CHECK(rig.pending_hold("sim:1").decimal() == "0");
  check_audit(rig);
}

TEST_CASE("desk: confirming on a stranger's transaction is followed to its end") {
  Rig rig(by_hand());
  const domain::Intent intent = in_review(rig, rig.from_payer(), false);
  const domain::TxHash theirs = run_by_stranger(rig, intent.id);
  rig.chain.mine(1);
  rig.start();
  rig.world.run_for(3'000);
  const auto done = resolve(rig, intent.id, as(Resolution::confirming, theirs));
  REQUIRE_MESSAGE(done.has_value(), done.error().detail);
  CHECK(done->intent.state == IntentState::confirming);
  rig.world.run_for(60'000);
  CHECK(rig.state(intent.id) == IntentState::confirming);
  // Not by way of another delivery: it is followed from here on.
  const auto history = rig.detail(intent.id).history;
  CHECK(std::none_of(history.begin(), history.end(), [](const engine::HistoryItem& step) {
    return step.from == "confirming" && step.to == "settling";
  }));
  rig.chain.mine(4);
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 10'000));
  // Our own bytes may go out again meanwhile, so that the number holds nobody up; no others do.
  CHECK(rig.chain.bodies({"relayer0"}, {0}).size() == 1);
  check_paid_once(rig, intent);
  check_audit(rig);
}

TEST_CASE(
    "B8: a signed payout is not called failed while its bytes may run; then by what used its"
    " number") {
  Rig rig(by_hand());
  const domain::Intent intent = in_review(rig, rig.payout(), false);
  rig.start();
  rig.world.run_for(3'000);
  CHECK(contains(why(resolve(rig, intent.id, as(Resolution::failed), "a"), EngineError::unproven),
                 "may still run; abandon it instead"));
  CHECK(contains(why(resolve(rig, intent.id, as(Resolution::retry), "b"), EngineError::unproven),
                 "something was signed"));
  const domain::TxHash other = use_number(rig, 0);
  rig.chain.mine(1);
  rig.world.run_for(2'000);
  CHECK(contains(
      why(resolve(rig, intent.id, as(Resolution::failed, {}, {other}), "c"), EngineError::unproven),
      "is not final"));
  rig.chain.mine(4);
  rig.world.run_for(2'000);
  const auto done = resolve(rig, intent.id, as(Resolution::failed, {}, {other}), "d");
  REQUIRE_MESSAGE(done.has_value(), done.error().detail);
  CHECK(done->intent.state == IntentState::failed);
  CHECK(rig.detail(intent.id).slot->state == domain::SlotState::consumed);
  CHECK(rig.detail(intent.id).slot->consumed_by == other);
  CHECK(rig.pending_hold("sim:1").decimal() == "0");
  CHECK(rig.chain.moved(intent.ref) == 0);
  check_audit(rig);
}

TEST_CASE("B8: abandoned in review, the account uses up the number, and then there is a proof") {
  Rig rig(by_hand());
  const domain::Intent intent = in_review(rig, rig.payout(), false);
  rig.start();
  rig.world.run_for(3'000);
  REQUIRE(rig.run(rig.engine->abandon(rig.by("ann"), intent.id, "not wanted")).has_value());
  CHECK(rig.state(intent.id) == IntentState::needs_review);
  rig.world.run_for(10'000);
  REQUIRE(rig.chain.posts().size() == 2);
  CHECK(rig.detail(intent.id).slot->handed_over);
  CHECK(
      contains(why(resolve(rig, intent.id, as(Resolution::failed), "early"), EngineError::unproven),
               "may still run"));
  CHECK(contains(
      why(resolve(rig, intent.id, as(Resolution::rebroadcast), "again"), EngineError::wrong_state),
      "handed to the account"));
  rig.chain.mine(5);
  rig.world.run_for(15'000);
  const auto done = resolve(rig, intent.id, as(Resolution::failed), "done");
  REQUIRE_MESSAGE(done.has_value(), done.error().detail);
  CHECK(done->intent.state == IntentState::failed);
  CHECK(rig.chain.moved(intent.ref) == 0);
  CHECK(rig.chain.count({"relayer0"}) == 1);
  CHECK(rig.pending_hold("sim:1").decimal() == "0");
  check_audit(rig);
}

TEST_CASE("desk: what used the number is found without being named") {
  Rig rig(by_hand());
  const domain::Intent intent = in_review(rig, rig.payout(), false);
  rig.start();
  use_number(rig, 0);
  rig.chain.mine(5);
  rig.world.run_for(3'000);
  const auto done = resolve(rig, intent.id, as(Resolution::failed));
  REQUIRE_MESSAGE(done.has_value(), done.error().detail);
  CHECK(done->intent.state == IntentState::failed);
  check_audit(rig);
}

TEST_CASE("desk: bytes posted again stay the same bytes, and the review ends by what they did") {
  Rig rig(by_hand());
  const domain::Intent intent = in_review(rig, rig.payout(), false);
  rig.start();
  rig.world.run_for(3'000);
  REQUIRE(rig.chain.posts().size() == 1);
  const auto done = resolve(rig, intent.id, as(Resolution::rebroadcast));
  REQUIRE_MESSAGE(done.has_value(), done.error().detail);
  CHECK(done->intent.state == IntentState::needs_review);
  CHECK(done->note == "answered accepted: looked at it");
  CHECK(rig.chain.posts().size() == 2);
  CHECK(rig.chain.bodies({"relayer0"}, {0}).size() == 1);
  CHECK(rig.detail(intent.id).attempts[0].outcome == domain::AttemptOutcome::accepted);
  const auto again = resolve(rig, intent.id, as(Resolution::rebroadcast));
  REQUIRE(again.has_value());
  CHECK(again->replayed);
  CHECK(again->note == done->note);
  CHECK(again->intent.version == done->intent.version);
  CHECK(again->intent.updated_ms == done->intent.updated_ms);
  CHECK(rig.chain.posts().size() == 2);
  rig.chain.mine(5);
  REQUIRE(rig.reaches(intent.id, IntentState::settled, 10'000));
  check_paid_once(rig, intent);
  CHECK(contains(
      why(resolve(rig, intent.id, as(Resolution::rebroadcast), "late"), EngineError::wrong_state),
      "has ended as settled"));
  check_audit(rig);
}

TEST_CASE("desk: nothing was signed, so it is settled afresh, at a fresh number if need be") {
  for (const bool number_gone : {false, true}) {
    CAPTURE(number_gone);
    RigOptions options;
    options.config.policy.max_lapsed_leases = 2;
    Rig rig(options);
    rig.start();
    rig.chain.script().fail_next(sim::ChainCall::quote, ports::Unknown{"no answer"}, 1'000);
    const domain::Intent intent = rig.create("one", rig.payout());
    REQUIRE(rig.reaches(intent.id, IntentState::settling, 5'000));
    rig.crash_without_restart();
    put_into_review(rig, intent.id);
    rig.run(rig.store->write([](store::Txn& txn) {
      txn.db().execute("DELETE FROM jobs");
      return 0;
    }));
    if (number_gone) {
      use_number(rig, 0);
      rig.world.run_for(5'000);
    }
    rig.chain.script() = {};
    rig.start();
    rig.world.run_for(2'000);
    const auto done = resolve(rig, intent.id, as(Resolution::retry));
    if (number_gone) {
      // The account was used elsewhere: it takes no payments until somebody says so.
      CHECK(contains(why(done, EngineError::try_again), "no account can send"));
      CHECK(rig.state(intent.id) == IntentState::needs_review);
      continue;
    }
    REQUIRE_MESSAGE(done.has_value(), done.error().detail);
    CHECK(done->intent.state == IntentState::settling);
    REQUIRE(rig.reaches(intent.id, IntentState::settled, 30'000));
    check_paid_once(rig, intent);
    CHECK(rig.chain.count({"relayer0"}) == 1);
    check_audit(rig);
  }
}

TEST_CASE("desk: a wish that makes no sense names its field, and changes nothing") {
  Rig rig(by_hand());
  const domain::Intent intent = in_review(rig, rig.payout(), false);
  rig.start();
  rig.world.run_for(2'000);
  const std::uint64_t version = rig.find(intent.id).version;
  const domain::TxHash hash = *rig.detail(intent.id).attempts[0].hash;
  const auto bad = [&](engine::Resolve wanted, const char* field) {
    CHECK(contains(why(resolve(rig, intent.id, wanted), EngineError::bad_terms), field));
  };
  bad(as(Resolution::settled), "tx_hash: ");
  bad(as(Resolution::retry, hash), "tx_hash: ");
  bad(as(Resolution::settled, hash, {hash}), "consumers: ");
  bad(as(Resolution::failed, {}, std::vector<domain::TxHash>(17, hash)), "consumers: ");
  engine::Resolve silent = as(Resolution::failed);
  silent.reason.clear();
  bad(silent, "reason: ");
  silent.reason = std::string(201, 'x');
  bad(silent, "reason: ");
  domain::IntentId nobody = intent.id;
  nobody.value[0] ^= 1;
  why(resolve(rig, nobody, as(Resolution::failed)), EngineError::not_found);
  rig.chain.script().set_down(true);
  rig.world.run_for(20'000);
  why(resolve(rig, intent.id, as(Resolution::failed)), EngineError::try_again);
  CHECK(rig.find(intent.id).version == version);
}

TEST_CASE(
    "desk: nothing is proved by a chain that took back finality, until somebody looked at it") {
  Rig rig(by_hand());
  const domain::Intent intent = in_review(rig, rig.payout(), false);
  rig.start();
  rig.world.run_for(2'000);
  rig.chain.mine(6);
  rig.world.run_for(15'000);
  rig.chain.reorg(5, sim::ScriptedChain::Fate::dropped);
  rig.chain.mine(3);
  rig.world.run_for(15'000);
  CHECK(contains(
      why(resolve(rig, intent.id, as(Resolution::rebroadcast), "a"), EngineError::wrong_state),
      "acknowledge that first"));
  CHECK(rig.chain.posts().size() == 1);
  REQUIRE(rig.run(rig.engine->acknowledge(rig.by("ann"), {"sim:1"}, "looked at it")).has_value());
  rig.world.run_for(5'000);  // the chain is looked at afresh first
  CHECK(resolve(rig, intent.id, as(Resolution::rebroadcast), "b").has_value());
}

TEST_CASE("desk: a review shows what was found, and what can be done") {
  Rig rig(by_hand());
  const domain::Intent intent = in_review(rig, rig.payout(), false);
  rig.start();
  rig.world.run_for(2'000);
  const auto review = rig.run(rig.engine->review(intent.id));
  REQUIRE(review.has_value());
  CHECK(review->detail.attempts.size() == 1);
  CHECK_FALSE(review->found.has_value());
  CHECK(review->possible.size() == 4);
  CHECK(review->possible.back() == Resolution::rebroadcast);
  const auto page = rig.run(rig.engine->list({{}, IntentState::needs_review, 50, 0}));
  REQUIRE(page.intents.size() == 1);
  CHECK(page.intents[0].id == intent.id);
  const auto accounts = rig.run(rig.engine->accounts());
  REQUIRE(accounts.size() == 1);
  CHECK(accounts[0].address.value == "relayer0");
  CHECK(accounts[0].unconsumed == 1);
  CHECK(accounts[0].lowest_open == domain::Sequence{0});
  CHECK(accounts[0].highest_open == domain::Sequence{0});
  CHECK(accounts[0].handed_over == 0);
  CHECK(accounts[0].read);
  CHECK(accounts[0].latest == domain::Sequence{0});
  CHECK(accounts[0].blocked.empty());
  const domain::Intent created = rig.create("other", rig.from_payer());
  const auto none = rig.run(rig.engine->review(created.id));
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == EngineError::wrong_state);
}

TEST_CASE("engine: too late to cancel is told as a person would") {
  Rig rig(by_hand());
  rig.start();
  const domain::Intent intent = rig.create("one", rig.payout());
  REQUIRE(rig.reaches(intent.id, IntentState::confirming, 5'000));
  const auto late = rig.run(rig.engine->cancel(rig.caller("c"), intent.id, "no"));
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error().detail ==
        "the payment is confirming: it can be canceled until settling starts, and not any more");
}

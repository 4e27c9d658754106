// Cases N: the numbers of a sending account.
#include <signal.h>

#include <algorithm>
#include <set>
#include <thread>

#include <doctest/doctest.h>

#include "engine/rig.hpp"
#include "rig.hpp"
#include "store/writes.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

const std::string send_raw = "eth_sendRawTransaction";

bool any_answer_says(const Rig& rig, const std::string& words) {
  const auto raws = rig.proxy->raws();
  return std::ranges::any_of(
      raws, [&](const test::SentRaw& raw) { return raw.answer.find(words) != std::string::npos; });
}

std::set<std::uint64_t> numbers_sent(const Rig& rig) {
  std::set<std::uint64_t> out;
  for (const test::SentRaw& raw : rig.proxy->raws()) out.insert(raw.nonce);
  return out;
}

/// Each request on a connection of its own, all at once.
void all_at_once(std::size_t count, const std::function<void(std::size_t)>& one) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back(one, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("N1: many payments in the same instant take a number each") {
  Options options;
  options.max_unconsumed = 64;
  options.rpc_batch = 100;
  Rig rig(options);
  rig.proxy->add({.method = "eth_getTransactionCount", .calls = 0, .fault = test::delay(50)});
  rig.start();
  constexpr std::size_t count = 50;
  all_at_once(count, [&](std::size_t i) {
    rig.ask("POST", "/v1/payment_intents", rig.payout_body(), "n1-" + std::to_string(i));
  });
  for (std::size_t i = 0; i < count; ++i) {
    rig.ask_for(rig.payout_body(), "n1-" + std::to_string(i));
  }
  CHECK(rig.mine_until(rig.payments, "settled", 40'000));
  const auto numbers = numbers_sent(rig);
  CHECK(numbers.size() == count);
  CHECK(*numbers.rbegin() == count - 1);
  CHECK_FALSE(any_answer_says(rig, "nonce too low"));
  CHECK_FALSE(any_answer_says(rig, "underpriced"));
  rig.check_all();
}

TEST_CASE("N4: a send that never left leaves no number behind") {
  Options options;
  options.blocks = Blocks::every_second;
  Rig rig(options);
  rig.proxy->add({.method = send_raw, .from = 2, .calls = 2, .fault = test::cut()});
  rig.start();
  for (int i = 0; i < 3; ++i) {
    const Payment one = rig.payout();
    CHECK(rig.reaches(one.id, "settled", 20'000));
  }
  CHECK(numbers_sent(rig) == std::set<std::uint64_t>{0, 1, 2});
  CHECK(rig.proxy->raws().size() == 5);
  CHECK(rig.transfers_of_all() == 3);
  CHECK(rig.store().number("SELECT count(*) FROM slots") == 3);
  rig.check_all();
}

TEST_CASE("N11: an empty wallet fails nothing; after a top-up all settle in order") {
  Options options;
  options.retry_cap_ms = 2'000;  // with half of it certain: at most one a second
  Rig rig(options);
  const std::string relayer = rig.relayers[0].address;
  rig.rpc("anvil_setBalance", json::array{relayer, "0x0"});
  rig.start();
  const std::int64_t began_ms = test::mono_ms();
  const auto all = rig.payouts(3);
  test::pause_ms(6'000);
  for (const Payment& one : all) {
    const std::string state = rig.state(one.id);
    CHECK((state == "authorized" || state == "settling"));
  }
  CHECK(rig.store().number("SELECT count(*) FROM entries WHERE kind = 'void'") == 0);
  CHECK(rig.logged("critical account_unfunded"));
  CHECK(rig.metric("holdfast_alarms_total") == 1);  // one, however long it lasts
  // The first tries come quickly; from then on at most one a second for each payment.
  const std::int64_t spent_s = (test::mono_ms() - began_ms) / 1'000 + 1;
  const std::int64_t most = 3 * (5 + spent_s);
  CHECK(static_cast<std::int64_t>(rig.proxy->calls("eth_estimateGas")) <= most);
  CHECK(static_cast<std::int64_t>(rig.proxy->calls(send_raw)) <= most);
  rig.rpc("anvil_setBalance", json::array{relayer, "0xde0b6b3a7640000"});
  CHECK(rig.mine_until(all, "settled"));
  CHECK(rig.transfers_of_all() == 3);
  CHECK(rig.store().number("SELECT count(*) FROM entries WHERE kind = 'hold'") == 3);
  CHECK(rig.store().number("SELECT count(*) FROM entries WHERE kind = 'post'") == 3);
  CHECK(numbers_sent(rig) == std::set<std::uint64_t>{0, 1, 2});
  rig.check_all();
}

TEST_CASE("N13: a repeated request spends no number") {
  Rig rig;
  rig.start();
  all_at_once(10, [&](std::size_t i) {
    rig.ask("POST", "/v1/payment_intents", rig.payout_body(), "n13-" + std::to_string(i / 2));
  });
  for (int i = 0; i < 5; ++i) rig.ask_for(rig.payout_body(), "n13-" + std::to_string(i));
  CHECK(rig.mine_until(rig.payments, "settled"));
  CHECK(rig.store().number("SELECT count(*) FROM intents") == 5);
  CHECK(rig.store().number("SELECT count(*) FROM slots") == 5);
  CHECK(numbers_sent(rig) == std::set<std::uint64_t>{0, 1, 2, 3, 4});
  CHECK(rig.transfers_of_all() == 5);
  rig.check_all();
}

TEST_CASE("N10: a payment that has its number is not canceled, one that waits for it is") {
  Options options;
  options.max_unconsumed = 2;
  Rig rig(options);
  rig.proxy->add({.method = send_raw, .fault = test::delay(3'000)});
  rig.start();
  const Payment a = rig.payout();
  REQUIRE(rig.reaches(a.id, "settling"));
  const Payment b = rig.payout();
  REQUIRE(rig.reaches(b.id, "settling"));
  const Payment c = rig.payout();
  const Payment d = rig.payout();
  const auto cancel = [&](const Payment& one) {
    return rig.ask("POST", "/v1/payment_intents/" + one.id + "/cancel", "{}", one.key + "-cancel")
        .status;
  };
  CHECK(cancel(a) == 409);
  CHECK(cancel(b) == 409);
  CHECK(cancel(d) == 200);
  CHECK(rig.state(d.id) == "canceled");
  CHECK(rig.store().number("SELECT count(*) FROM slots") == 2);
  CHECK(rig.mine_until({a, b, c}, "settled", 30'000));
  CHECK(rig.transfers(d) == 0);
  CHECK(numbers_sent(rig) == std::set<std::uint64_t>{0, 1, 2});
  rig.check_all();
}

TEST_CASE("N10: a payment abandoned before it was signed leaves its number to the next") {
  testing::Rig rig;
  for (int i = 0; i < 3; ++i) rig.signer.fail_next(sim::unknown("the signer does not answer"));
  rig.start();
  const domain::Intent a = rig.create("a", rig.payout());
  REQUIRE(rig.reaches(a.id, domain::IntentState::settling, 5'000));
  REQUIRE(rig.detail(a.id).slot->state == domain::SlotState::reserved);
  REQUIRE(rig.run(rig.engine->abandon(rig.by("ann"), a.id, "not wanted")).has_value());
  REQUIRE(rig.reaches(a.id, domain::IntentState::failed, 60'000));
  CHECK_FALSE(rig.detail(a.id).slot.has_value());
  CHECK(rig.pending_hold("sim:1").decimal() == "0");
  const domain::Intent c = rig.create("c", rig.payout());
  REQUIRE(rig.reaches(c.id, domain::IntentState::settled, 120'000));
  CHECK(rig.detail(c.id).slot->sequence == domain::Sequence{0});
  testing::check_paid_once(rig, c);
  CHECK(rig.chain.moved(a.ref) == 0);
  CHECK(rig.chain.count({"relayer0"}) == 1);
  testing::check_audit(rig);
}

TEST_CASE("N2: two deliveries before the claim take one number") {
  int taken_over = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    testing::RigOptions options;
    options.seed = seed;
    testing::Rig rig(options);
    rig.start();
    const domain::Intent one = rig.create("one", rig.payout());
    const auto simulated = [&] { return rig.chain.script().calls(sim::ChainCall::simulate) > 0; };
    REQUIRE(rig.world.run_until(simulated, 10'000));
    // The first is between "no reservation yet" and the claim; the second gets the job, and dies.
    store::LeaseRequest second;
    second.now_ms = rig.world.clock().wall_ms() + options.config.lease_ms + 1;
    second.lease_ms = 2'000;
    second.instance = rig.world.entropy().bytes<domain::InstanceId>();
    second.receipts = {rig.world.entropy().bytes<domain::Receipt>()};
    const std::size_t leased = rig.run(rig.store->write(
        [second](store::Txn& txn) { return store::lease_jobs(txn, second).size(); }));
    rig.world.run_for(1'000);
    if (leased == 1 && rig.state(one.id) == domain::IntentState::authorized) ++taken_over;
    CHECK(rig.reaches(one.id, domain::IntentState::settled, 120'000));
    testing::check_paid_once(rig, one);
    CHECK(rig.chain.bodies({"relayer0"}, {0}).size() == 1);
    CHECK(rig.chain.count({"relayer0"}) == 1);
    CHECK(
        rig.read([](store::Txn& txn) { return store::find_account(txn, {"sim:1"}, {"relayer0"}); })
            ->highest_used == domain::Sequence{0});
    testing::check_audit(rig);
  }
  CHECK(taken_over > 0);
}

TEST_CASE("N2: a process that slept before its claim takes one number") {
  Options options;
  options.lease_ms = 1'000;
  options.deadline_ms = 8'000;
  Rig rig(options);
  rig.proxy->add({.method = "eth_estimateGas", .fault = test::hold(3'500)});
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(test::within_ms(2'000, [&] { return rig.proxy->calls("eth_estimateGas") > 0; }, 10));
  rig.server().signal(SIGSTOP);
  test::pause_ms(2'500);
  rig.server().signal(SIGCONT);
  CHECK(rig.mine_until(one, "settled"));
  CHECK(rig.metric("holdfast_jobs_leased_total") == 1);
  CHECK(rig.store().number("SELECT count(*) FROM slots") == 1);
  CHECK(rig.proxy->raws().size() == 1);
  CHECK(rig.nonce(rig.relayers[0]) == 1);
  rig.check_all();
}

TEST_CASE("N5: numbers that were reserved and never signed are used, lowest first") {
  testing::Rig rig;
  for (int i = 0; i < 5; ++i) rig.signer.fail_next(sim::unknown("the signer does not answer"));
  rig.start();
  std::vector<domain::Intent> all;
  for (int i = 0; i < 5; ++i) {
    all.push_back(rig.create("n5-" + std::to_string(i), rig.payout()));
    rig.world.run_for(20);
    if (i == 2) rig.crash();
  }
  for (int i = 5; i < 8; ++i) {
    all.push_back(rig.create("n5-" + std::to_string(i), rig.payout()));
  }
  for (const domain::Intent& one : all) {
    CHECK(rig.reaches(one.id, domain::IntentState::settled, 120'000));
    testing::check_paid_once(rig, one);
  }
  CHECK(rig.chain.count({"relayer0"}) == 8);
  for (std::uint64_t n = 0; n < 8; ++n) CHECK(rig.chain.bodies({"relayer0"}, {n}).size() == 1);
  testing::check_audit(rig);
}

TEST_CASE("N5: a node that takes no gap never sees one, over crashes with numbers unsigned") {
  Options options;
  options.scripted = true;
  options.node.refuse_gaps = true;
  Rig rig(options);
  for (int i = 0; i < 5; ++i) {
    rig.start("KP1");
    rig.payout();
    REQUIRE(rig.dies_within(10'000));
  }
  rig.start();
  for (int i = 0; i < 3; ++i) rig.payout();
  CHECK(rig.mine_until(rig.payments, "settled", 30'000));
  CHECK_FALSE(any_answer_says(rig, "nonce too high"));
  CHECK(*numbers_sent(rig).rbegin() == 7);
  CHECK(rig.transfers_of_all() == 8);
  rig.check_all();
}

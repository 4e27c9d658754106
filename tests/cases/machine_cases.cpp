// Cases B, D, K and Q about the machine beneath: disks, clocks, and processes that die or sleep.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "machine.hpp"

using namespace holdfast::cases;
using namespace holdfast;

TEST_CASE("B5: what a post was answered cannot be saved at first, and the payment is paid once") {
  Options options;
  options.blocks = Blocks::at_once;
  Machine machine(options);
  Rig& rig = machine.rig;
  rig.proxy->add({.method = "eth_sendRawTransaction", .fault = test::hold(1'500)});
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(test::within_ms(5'000, [&] { return !rig.proxy->raws().empty(); }, 10));
  CHECK(rig.store().number("SELECT count(*) FROM attempts WHERE length(bytes) > 0") == 1);
  machine.set("full");
  CHECK(test::within_ms(5'000, [&] { return rig.logged("store_unavailable intent="); }, 10));
  CHECK(rig.count_of(one, "WHERE i.state = 'settling'") == 1);
  machine.unset("full");
  CHECK(rig.mine_until(one, "settled"));
  CHECK(rig.transfers(one) == 1);
  CHECK(rig.raws_of(one).size() <= 2);
  rig.check_all();
}

TEST_CASE("D1: on a full disk nothing is promised and nothing is sent, and five payments go on") {
  Machine machine;
  Rig& rig = machine.rig;
  // The disk is full when they are to be signed.
  rig.proxy->add({.method = "eth_estimateGas", .calls = 5, .fault = test::delay(1'200)});
  rig.start();
  const std::vector<Payment> all = rig.payouts(5);
  machine.set("full");
  test::pause_ms(2'500);
  CHECK(rig.proxy->raws().empty());
  const Answer refused =
      rig.ask("POST", "/v1/payment_intents", rig.payout_body(), "while-it-is-full");
  CHECK(refused.status == 503);
  CHECK(rig.ask("GET", "/readyz").status == 503);
  CHECK(rig.store().number("SELECT count(*) FROM intents") == 5);
  CHECK(rig.store().number("SELECT count(*) FROM attempts") == 0);
  SUBCASE("it goes on when there is room") {
    machine.unset("full");
    CHECK(rig.mine_until(all, "settled", 30'000));
  }
  SUBCASE("killed on the full disk, it opens clean when there is room") {
    rig.kill();
    machine.unset("full");
    rig.start();
    CHECK(rig.mine_until(all, "settled", 30'000));
  }
  CHECK(rig.transfers_of_all() == 5);
  Allowed allowed;
  allowed.server_errors = true;
  rig.check_all(allowed);
}

TEST_CASE(
    "D1: after a sync that failed the file is not written on, and nothing is lost or doubled") {
  Machine machine;
  Rig& rig = machine.rig;
  rig.start();
  const std::vector<Payment> before = rig.payouts(2);
  REQUIRE(rig.mine_until(before, "settled"));
  machine.set("sync_fails");
  const Answer refused = rig.ask("POST", "/v1/payment_intents", rig.payout_body(), "unsynced");
  CHECK(refused.status == 503);
  test::pause_ms(1'000);
  machine.unset("sync_fails");
  CHECK(test::within_ms(8'000, [&] { return rig.ready(); }));
  CHECK(rig.logged("store_reopened"));
  const Payment again = rig.ask_for(rig.payout_body(), "unsynced");
  CHECK(rig.mine_until(rig.payments, "settled", 30'000));
  CHECK(rig.transfers(again) == 1);
  CHECK(rig.transfers_of_all() == 3);
  Allowed allowed;
  allowed.server_errors = true;
  rig.check_all(allowed);
}

namespace {

/// Fifty on their way when time goes wrong; afterwards each is paid once, and none was given up.
void fifty_in_flight(Machine& machine, const std::function<void()>& meanwhile) {
  Rig& rig = machine.rig;
  rig.start();
  const std::vector<Payment> all = rig.payouts(50);
  meanwhile();
  CHECK(rig.mine_until(all, "settled", 40'000));
  CHECK(rig.transfers_of_all() == 50);
  CHECK(rig.store().number("SELECT count(*) FROM slots") == 50);
  CHECK(rig.store().number("SELECT count(*) FROM dead_letters") == 0);
  CHECK(rig.store().number("SELECT count(*) FROM events WHERE to_state = 'needs_review'") == 0);
  CHECK(rig.store().number("SELECT count(*) FROM events WHERE to_state = 'failed'") == 0);
  std::map<std::uint64_t, std::set<std::string>> bodies;
  for (const test::SentRaw& raw : rig.proxy->raws()) bodies[raw.nonce].insert(raw.raw);
  CHECK(bodies.size() == 50);
  CHECK(std::ranges::all_of(bodies, [](const auto& one) { return one.second.size() <= 2; }));
  Allowed allowed;
  allowed.more_bodies = true;  // the lowest may have been made dearer
  rig.check_all(allowed);
}

Options many() {
  Options options;
  options.max_unconsumed = 64;
  options.rpc_batch = 100;
  options.log_level = "info";
  options.lease_ms = 1'000;
  options.stuck_after_ms = 1'000;
  options.review_after_ms = 10'000;
  return options;
}

}  // namespace

void wait_for_all_in_the_pool(const Rig& rig) {
  REQUIRE(test::within_ms(15'000, [&] {
    return rig.store().number("SELECT count(*) FROM intents WHERE state = 'confirming'") == 50;
  }));
}

TEST_CASE("K2: the wall clock jumps a day ahead under fifty payments, and none ends by it") {
  Machine machine(many());
  fifty_in_flight(machine, [&] {
    wait_for_all_in_the_pool(machine.rig);
    machine.set("wall_ahead", "90000");
    test::pause_ms(4'000);
    const Answer events = machine.rig.ask("GET", "/v1/events");
    CHECK(events.status == 200);
    // It did jump.
    const Payment late = machine.rig.created();
    const auto created_ms = machine.rig.store().number(
        "SELECT created_ms FROM intents WHERE ref = x'" + late.ref.substr(2) + "'");
    CHECK(created_ms > test::wall_ms() + 80'000'000);
    CHECK(machine.rig.ask("POST", "/v1/payment_intents/" + late.id + "/cancel", "{}", "late")
              .status == 200);
    machine.rig.payments.pop_back();
  });
}

TEST_CASE(
    "K2: a process that slept in the middle of fifty deliveries hands none of them out again") {
  Options options = many();
  options.deadline_ms = 20'000;
  options.stuck_after_ms = 60'000;
  Machine machine(options);
  Rig& rig = machine.rig;
  rig.proxy->add({.method = "eth_sendRawTransaction", .calls = 0, .fault = test::hold(2'500)});
  fifty_in_flight(machine, [&] {
    REQUIRE(test::within_ms(5'000, [&] { return !rig.proxy->raws().empty(); }, 10));
    rig.server().signal(SIGSTOP);
    test::pause_ms(4'000);  // four leases long
    rig.proxy->heal();
    rig.server().signal(SIGCONT);
    wait_for_all_in_the_pool(rig);
    CHECK(rig.metric("holdfast_jobs_leased_total") == 50);
  });
}

TEST_CASE("K2: a process that slept through every deadline goes on where it was") {
  Machine machine(many());
  fifty_in_flight(machine, [&] {
    wait_for_all_in_the_pool(machine.rig);
    machine.rig.server().signal(SIGSTOP);
    test::pause_ms(12'000);
    machine.rig.server().signal(SIGCONT);
    test::pause_ms(500);
  });
}

// A process that dies gets its jobs back at once, which spends no budget.
TEST_CASE("Q6: a process that dies three times over one payment pays it once, and five behind it") {
  Rig rig;
  rig.start("KP4");
  const Payment sick = rig.payout();
  REQUIRE(rig.dies_within(10'000));
  // Twice more it dies with the job in its hands, before it has read anything.
  for (int i = 0; i < 2; ++i) {
    rig.start("KP0");
    REQUIRE(rig.dies_within(10'000));
    CHECK(rig.store().number("SELECT count(*) FROM jobs") == 1);
    CHECK(rig.store().number("SELECT count(*) FROM intents WHERE state = 'settling'") == 1);
  }
  rig.start();
  std::vector<Payment> all = rig.payouts(5);
  all.push_back(sick);
  CHECK(rig.mine_until(all, "settled", 30'000));
  CHECK(rig.transfers_of_all() == 6);
  CHECK(rig.store().number("SELECT count(*) FROM jobs") == 0);
  CHECK(rig.store().number("SELECT count(*) FROM attempts") == 6);
  rig.check_all();
}

TEST_CASE("Q6: a budget that is spent parks the job, and its payment waits for what is mined") {
  Rig rig;
  rig.start("KP4");
  const Payment sick = rig.payout();
  REQUIRE(rig.dies_within(10'000));
  // As if workers elsewhere had died with it again and again.
  rig.tamper("UPDATE jobs SET lapsed_leases = 1000");
  rig.rpc("anvil_dropAllTransactions");
  rig.start();
  CHECK(rig.reaches(sick.id, "needs_review"));
  json::value detail = rig.detail(sick.id);
  CHECK(text_of(detail, "reason") == "budget_spent");
  CHECK(detail.at("journal").as_array().size() == 1);
  const std::string slot = text_of(detail.at("slot"), "state");
  CHECK((slot == "signed" || slot == "broadcast" || slot == "reconciliation_required"));
  CHECK(rig.logged("critical job_parked"));
  CHECK(rig.store().number("SELECT count(*) FROM jobs") == 0);
  const Answer parked = rig.ask("GET", "/v1/dead_letters");
  CHECK(parked.text.find(sick.id) != std::string::npos);
  // Those behind it are not held up, though its number is the lowest.
  const std::vector<Payment> behind = rig.payouts(5);
  CHECK(rig.mine_until(behind, "settled", 40'000));
  CHECK(rig.mine_until(sick, "settled", 20'000));
  CHECK(rig.transfers_of_all() == 6);
  CHECK(rig.store().number("SELECT count(*) FROM attempts") == 6);
  rig.check_all();
}

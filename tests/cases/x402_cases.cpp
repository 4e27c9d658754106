// Cases X about what becomes of a settle: over its time, repeated, at once with others, run by
// somebody else, out of its window.
#include <signal.h>

#include <algorithm>
#include <future>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "machine.hpp"
#include "x402_buyer.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

const std::string send_raw = "eth_sendRawTransaction";
const std::string pending = "settlement_pending";
const std::string used = "invalid_exact_evm_nonce_already_used";
const std::string too_near = "invalid_exact_evm_payload_authorization_valid_before";

Options with_budget(int seconds) {
  Options options;
  options.more_tables = x402_table("budget_s = " + std::to_string(seconds));
  return options;
}

std::future<Answer> settle_meanwhile(Rig& rig, const Purchase& purchase,
                                     const std::string& key = "") {
  return std::async(std::launch::async,
                    [&rig, purchase, key] { return settle(rig, purchase, key); });
}

/// As many of the token's transfers as there are, all of this transaction.
void check_moved_once(const Rig& rig, const std::string& hash) {
  const auto moved = rig.moved();
  REQUIRE(moved.size() == 1);
  CHECK(moved.front().tx_hash == hash);
  CHECK(rig.store().number("SELECT count(*) FROM entries WHERE kind = 'hold'") == 1);
  CHECK(rig.store().number("SELECT count(*) FROM entries WHERE kind = 'post'") == 1);
}

/// A settle whose budget ends with its transaction in the pool, and one more once it is mined.
void over_its_time(const test::Fault& of_the_post) {
  Rig rig(with_budget(3));
  rig.proxy->add({.method = send_raw, .fault = of_the_post});
  rig.start();
  const Purchase purchase(rig);
  const std::int64_t begun_ms = test::wall_ms();
  const Answer first = settle(rig, purchase);
  CHECK(test::wall_ms() - begun_ms < 3'500);
  CHECK(first.status == 200);
  CHECK_FALSE(is_success(first));
  CHECK(reason_of(first) == pending);
  CHECK(text_of(first.body, "network") == "eip155:31337");
  CHECK(text_of(first.body, "payer") == rig.payer.address);
  REQUIRE(sent(rig, 1));
  CHECK(hash_of(first) == rig.proxy->raws().front().hash);
  CHECK(open_payments(rig) == 1);
  rig.mine(3);
  const Answer second = settle(rig, purchase);
  CHECK(is_success(second));
  CHECK(hash_of(second) == hash_of(first));
  CHECK(all_ended(rig));
  CHECK(rig.store().number("SELECT count(*) FROM attempts") == 1);
  check_moved_once(rig, hash_of(first));
  rig.check_all();
}

}  // namespace

TEST_CASE("X1: a settle over its time says pending with the hash, and the next one says success") {
  over_its_time(test::Fault{});
}

TEST_CASE("X1: the same where nobody heard what the node said of the transaction") {
  over_its_time(test::drop_reply());
}

namespace {

/// The same answer each time, and nothing sent for it.
void check_repeats(Rig& rig, const Purchase& purchase, const std::string& key, const Answer& first,
                   int times = 1) {
  for (int i = 0; i < times; ++i) {
    const Answer again = settle(rig, purchase, key);
    CHECK_MESSAGE(is_success(again), again.text);
    CHECK(hash_of(again) == hash_of(first));
  }
}

void check_refused_with_hash(Rig& rig, const Purchase& purchase, const std::string& hash) {
  const Answer again = settle(rig, purchase);
  CHECK_MESSAGE(reason_of(again) == used, again.text);
  CHECK(hash_of(again) == hash);
  const Answer checked = verify(rig, purchase);
  CHECK_FALSE(is_valid(checked));
  CHECK_MESSAGE(reason_of(checked) == used, checked.text);
}

}  // namespace

TEST_CASE("X2: a success is repeated for its own key only, also after a crash and a day later") {
  Options options = with_budget(20);
  options.blocks = Blocks::every_second;
  Machine machine(options);
  Rig& rig = machine.rig;
  rig.start();
  const Purchase keyed(rig);
  const Purchase bare(rig);
  Purchase named(rig);
  named.extensions["payment-identifier"] =
      json::object{{"info", json::object{{"required", true}, {"id", "payment_0123456789"}}}};
  const Answer by_key = settle(rig, keyed, "key-1");
  const Answer once = settle(rig, bare);
  const Answer by_name = settle(rig, named);
  for (const Answer* one : {&by_key, &once, &by_name}) {
    REQUIRE_MESSAGE(is_success(*one), one->text);
  }
  const auto check_all_three = [&](int times) {
    check_repeats(rig, keyed, "key-1", by_key, times);
    check_repeats(rig, named, "", by_name, times);
    check_refused_with_hash(rig, bare, hash_of(once));
    CHECK(reason_of(settle(rig, keyed)) == used);
  };
  check_all_three(3);
  rig.kill();
  rig.start();
  check_all_three(1);
  CHECK(all_ended(rig));
  machine.set("wall_ahead", "90000");
  test::pause_ms(300);
  check_repeats(rig, keyed, "key-1", by_key);
  check_repeats(rig, named, "", by_name);
  const Answer late = settle(rig, bare);
  CHECK_MESSAGE(reason_of(late) == used, late.text);
  CHECK(hash_of(late) == hash_of(once));
  machine.unset("wall_ahead");
  CHECK(rig.proxy->raws().size() == 3);
  CHECK(rig.moved().size() == 3);
  rig.check_all();
}

TEST_CASE("X3: twenty settles and ten verifies of one payment at once: one success, one transfer") {
  Rig rig(with_budget(10));
  rig.start();
  const Purchase purchase(rig);
  std::vector<std::future<Answer>> settles;
  std::vector<std::future<Answer>> verifies;
  for (int i = 0; i < 20; ++i) {
    settles.push_back(settle_meanwhile(rig, purchase));
    if (i % 2 == 0) {
      verifies.push_back(std::async(std::launch::async, [&] { return verify(rig, purchase); }));
    }
  }
  test::pause_ms(2'000);
  rig.mine();
  std::set<std::string> hashes;
  int successes = 0;
  for (auto& one : settles) {
    const Answer answer = one.get();
    CAPTURE(answer.text);
    CHECK(answer.status == 200);
    successes += is_success(answer) ? 1 : 0;
    const std::string reason = reason_of(answer);
    CHECK((is_success(answer) || reason == pending || reason == used));
    hashes.insert(hash_of(answer));
  }
  for (auto& one : verifies) CHECK(one.get().status == 200);
  CHECK(successes == 1);
  REQUIRE(hashes.size() == 1);
  CHECK(all_ended(rig));
  CHECK(rig.store().number("SELECT count(*) FROM slots") == 1);
  CHECK(rig.proxy->raws().size() == 1);
  check_moved_once(rig, *hashes.begin());
  rig.check_all();
}

TEST_CASE("X5: who was paid by somebody else's transaction is told so, and nothing is sent") {
  Rig rig(with_budget(10));
  rig.start();
  const Purchase purchase(rig);
  const Person stranger = new_person();
  rig.fund(stranger);
  const std::string theirs = signed_raw(stranger, 0, rig.token, purchase.call_data());
  rig.rpc(send_raw, json::array{theirs});
  rig.mine();
  auto waiting = settle_meanwhile(rig, purchase);
  test::pause_ms(500);
  rig.mine(3);
  const Answer answer = waiting.get();
  CHECK_MESSAGE(is_success(answer), answer.text);
  CHECK(hash_of(answer) == evm::tx_hash(*from_hex(theirs)).hex());
  CHECK(all_ended(rig));
  CHECK(rig.proxy->raws().empty());
  check_moved_once(rig, hash_of(answer));
  CHECK(reason_of(settle(rig, purchase)) == used);
  rig.check_all();
}

TEST_CASE("X5: somebody's copy that is mined before ours settles it, and ours is a revert") {
  Rig rig(with_budget(20));
  rig.start();
  const Purchase purchase(rig);
  const Person stranger = new_person();
  rig.fund(stranger);
  auto waiting = settle_meanwhile(rig, purchase);
  REQUIRE(sent(rig, 1));
  const std::string theirs =
      signed_raw(stranger, 0, rig.token, purchase.call_data(), {}, 50'000'000'000);
  test::pause_ms(300);
  rig.rpc(send_raw, json::array{theirs});
  rig.mine();
  CHECK(all_ended(rig, 30'000));
  const Answer answer = waiting.get();
  CHECK_MESSAGE(is_success(answer), answer.text);
  CHECK(hash_of(answer) == evm::tx_hash(*from_hex(theirs)).hex());
  CHECK(rig.proxy->raws().size() == 1);
  CHECK(test::within_ms(
      10'000,
      [&] {
        rig.mine();
        return rig.store().number("SELECT count(*) FROM slots WHERE state = 'consumed'") == 1;
      },
      300));
  check_moved_once(rig, hash_of(answer));
  rig.check_all();
}

namespace {

Options scripted(int budget_s) {
  Options options = with_budget(budget_s);
  options.scripted = true;
  return options;
}

/// So many seconds from now on the node's clock.
U256 seconds_from_now(const Rig& rig, std::uint64_t seconds) {
  const json::value newest = rig.rpc("eth_getBlockByNumber", json::array{"latest", false});
  return *U256::from_0x(newest.at("timestamp").as_string())->plus(U256(seconds));
}

/// The engine knows the block whose time it is to judge by.
bool knows_newest(Rig& rig) {
  const auto newest = U256::from_0x(rig.rpc("eth_blockNumber", json::array()).as_string());
  return test::within_ms(10'000, [&] {
    const Answer chains = rig.ask("GET", "/v1/chains");
    return U256(chains.body.at("chains").at(0).at("latest").to_number<std::uint64_t>()) == newest;
  });
}

}  // namespace

TEST_CASE("X7: what expires before it is posted is never posted") {
  Rig rig(scripted(10));
  // Its fee cannot be read, so that what is taken is not signed.
  rig.proxy->add(
      {.method = "eth_feeHistory", .calls = 0, .fault = test::answer_error(-32'603, "no")});
  rig.start();
  Purchase too_late(rig);
  too_late.terms.valid_before = seconds_from_now(rig, 20);  // less than the margin of publishing
  CHECK_FALSE(agreed(rig, too_late));
  CHECK(reason_of(settle(rig, too_late)) == too_near);
  check_nothing_begun(rig);
  // Good when it is taken, and over before anybody could send it.
  Purchase in_the_queue(rig);
  in_the_queue.terms.valid_before = seconds_from_now(rig, 60);
  auto waiting = settle_meanwhile(rig, in_the_queue);
  REQUIRE(test::within_ms(4'000, [&] { return open_payments(rig) == 1; }));
  // The node's clock jumps before there is a block to read it from: it would refuse the call.
  rig.proxy->add(
      {.method = "eth_estimateGas", .calls = 0, .fault = test::answer_error(-32'603, "no")});
  rig.node->set_time_ahead(120);
  rig.mine();
  REQUIRE(knows_newest(rig));
  rig.proxy->heal();
  const Answer ended = waiting.get();
  CHECK_FALSE(is_success(ended));
  CHECK_MESSAGE(reason_of(ended) == too_near, ended.text);
  CHECK(hash_of(ended).empty());
  CHECK(all_ended(rig));
  CHECK(rig.proxy->raws().empty());
  CHECK(rig.store().number("SELECT count(*) FROM slots WHERE state <> 'released'") == 0);
  rig.check_all();
}

TEST_CASE("X7: what expires in the pool is over only when a final block is past its end") {
  Rig rig(scripted(2));
  rig.start();
  Purchase purchase(rig);
  purchase.terms.valid_before = seconds_from_now(rig, 60);
  const Answer first = settle(rig, purchase);
  REQUIRE(reason_of(first) == pending);
  rig.node->set_time_ahead(120);
  rig.mine();
  test::pause_ms(800);
  CHECK(open_payments(rig) == 1);
  const Answer meanwhile = settle(rig, purchase);
  CHECK_FALSE(is_success(meanwhile));
  CHECK(hash_of(meanwhile) == hash_of(first));
  CHECK(all_ended(rig));
  CHECK(rig.store().number("SELECT count(*) FROM intents WHERE state = 'failed'") == 1);
  CHECK(rig.store().number("SELECT count(*) FROM entries WHERE kind = 'void'") == 1);
  CHECK(rig.proxy->raws().size() == 1);
  const Answer last = settle(rig, purchase);
  CHECK_FALSE(is_success(last));
  CHECK(reason_of(last) != pending);
  rig.check_all();
}

TEST_CASE("X7: what is mined in time after its caller was told to wait is a success") {
  Rig rig(scripted(2));
  rig.start();
  Purchase purchase(rig);
  purchase.terms.valid_before = seconds_from_now(rig, 60);
  const Answer first = settle(rig, purchase);
  REQUIRE(reason_of(first) == pending);
  rig.mine(2);
  const Answer second = settle(rig, purchase);
  CHECK_MESSAGE(is_success(second), second.text);
  CHECK(hash_of(second) == hash_of(first));
  CHECK(all_ended(rig));
  CHECK(rig.proxy->raws().size() == 1);
  rig.check_all();
}

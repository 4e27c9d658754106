// Cases N, B and C about a sending account of which the store knows less than the chain: lost
// pools, lost stores, backups, and numbers that somebody else used.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include <doctest/doctest.h>
#include <boost/json/parse.hpp>

#include "rig.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

const std::string send_raw = "eth_sendRawTransaction";

/// What an operator sees of the one account.
json::value account_of(Rig& rig) {
  return rig.ask("GET", "/v1/accounts").body.at("accounts").at(0);
}

bool is_blocked(Rig& rig) { return !text_of(account_of(rig), "blocked").empty(); }

std::uint64_t number_of(Rig& rig, const Payment& one) {
  return rig.detail(one.id).at("slot").at("sequence").to_number<std::uint64_t>();
}

}  // namespace

TEST_CASE("N6: lower transactions that a pool lost go out again, in order, as they were") {
  Options options;
  options.stuck_after_ms = 2'000;
  Rig rig(options);
  rig.start();
  std::vector<Payment> all;
  all.reserve(6);
  for (int i = 0; i < 5; ++i) {
    all.push_back(rig.payout());
    REQUIRE(rig.reaches(all.back().id, "confirming"));
  }
  std::vector<test::SentRaw> first;
  first.reserve(all.size());
  for (const Payment& one : all) first.push_back(rig.raws_of(one).front());
  for (std::uint64_t n = 0; n < 5; ++n) REQUIRE(first[n].nonce == n);
  // The node drops those above it as well; two of them come back, above a hole of three.
  rig.rpc("anvil_dropTransaction", json::array{first[0].hash});
  rig.rpc(send_raw, json::array{first[3].raw});
  rig.rpc(send_raw, json::array{first[4].raw});
  REQUIRE(rig.nonce(rig.relayers[0], "pending") == 0);
  const std::size_t before = rig.proxy->raws().size();
  all.push_back(rig.payout());
  REQUIRE(rig.reaches(all.back().id, "confirming"));
  CHECK(rig.raws_of(all.back()).front().nonce == 5);
  CHECK(test::within_ms(15'000, [&] { return rig.nonce(rig.relayers[0], "pending") == 6; }));
  std::vector<std::uint64_t> again;
  const auto raws = rig.proxy->raws();
  for (std::size_t i = before; i < raws.size(); ++i) {
    const std::uint64_t number = raws[i].nonce;
    if (number < 3) CHECK(raws[i].raw == first[number].raw);
    if (number < 3 && std::ranges::find(again, number) == again.end()) again.push_back(number);
  }
  CHECK(again == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(rig.mine_until(all, "settled"));
  CHECK(rig.transfers_of_all() == 6);
  for (std::uint64_t n = 0; n < 6; ++n) CHECK(number_of(rig, all[n]) == n);
  rig.check_all();
}

namespace {

/// Ten payments settled, then the store is gone.
void settle_ten_and_lose_them(Rig& rig) {
  rig.start();
  rig.payouts(10);
  REQUIRE(rig.mine_until(rig.payments, "settled"));
  rig.lose_store();
}

void check_continues_at_ten(Rig& rig, const Payment& next) {
  CHECK(rig.mine_until(next, "settled"));
  CHECK(number_of(rig, next) == 10);
  for (const test::SentRaw& raw : rig.proxy->raws()) {
    CHECK(raw.nonce == 10);
    CHECK(raw.answer.find("nonce too low") == std::string::npos);
  }
  CHECK(rig.transfers(next) == 1);
  Allowed allowed;
  allowed.queued = true;  // the numbers of the new store begin with ten
  rig.check_all(allowed);
}

}  // namespace

TEST_CASE("N8: an empty store uses no number of a used account before it is adopted") {
  Rig rig;
  settle_ten_and_lose_them(rig);
  rig.start();
  const Payment next = rig.payout();
  for (int i = 0; i < 6; ++i) {
    rig.mine();
    test::pause_ms(300);
    CHECK(rig.state(next.id) == "authorized");
  }
  CHECK(is_blocked(rig));
  CHECK(rig.logged("account_blocked"));
  CHECK(rig.proxy->raws().empty());
  CHECK(rig.store().number("SELECT count(*) FROM slots") == 0);
  rig.adopt();
  check_continues_at_ten(rig, next);
}

TEST_CASE("N8: an empty store goes on at the number that its configuration names") {
  Rig rig;
  settle_ten_and_lose_them(rig);
  rig.options.more_account = "adopt = 10\n";
  rig.start();
  check_continues_at_ten(rig, rig.payout());
}

TEST_CASE(
    "N8: a payment on its way whose number and bytes were wiped is reviewed, not paid again") {
  Rig rig;
  rig.proxy->add({.method = send_raw, .calls = 0, .fault = test::drop_reply()});
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(test::within_ms(5'000, [&] { return !rig.proxy->raws().empty(); }));
  rig.kill();
  REQUIRE(rig.nonce(rig.relayers[0], "pending") == 1);
  const std::size_t sent = rig.proxy->raws().size();
  rig.tamper(
      "DROP TRIGGER attempts_stay; DELETE FROM attempts; DELETE FROM slots;"
      " CREATE TRIGGER attempts_stay BEFORE DELETE ON attempts"
      " BEGIN SELECT RAISE(ABORT, 'attempts are only added'); END;");
  rig.proxy->heal();
  rig.rpc("anvil_dropAllTransactions");  // and it is in no block either
  rig.options.review_after_ms = 10'000;
  rig.start();
  rig.mine(12);  // a second of chain time each
  CHECK(rig.mine_until(one, "needs_review", 15'000));
  CHECK(text_of(rig.detail(one.id), "reason") == "outcome_unknown");
  CHECK(rig.proxy->raws().size() == sent);
  CHECK(rig.store().number("SELECT count(*) FROM entries") == 1);
  // Nor by a person who knows no more than we do.
  for (const char* as : {"settling", "failed"}) {
    const Answer answer =
        rig.ask("POST", "/v1/payment_intents/" + one.id + "/resolve",
                std::string(R"({"as":")") + as + R"(","reason":"nothing is stored of it"})", as);
    CHECK(answer.status >= 400);
    CHECK(answer.status < 500);
  }
  CHECK(rig.state(one.id) == "needs_review");
  CHECK(rig.proxy->raws().size() == sent);
  Allowed allowed;
  allowed.wiped = true;
  allowed.unsettled = true;
  rig.check_all(allowed);
}

TEST_CASE(
    "B4: another transaction at our number is no success, and our payment starts afresh once") {
  Options options;
  options.more_chain = "[chain.fees]\nmax_fee = \"10000000000\"\n";
  Rig rig(options);
  rig.proxy->add({.method = send_raw, .calls = 0, .fault = test::cut()});
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(test::within_ms(5'000, [&] { return !rig.proxy->raws().empty(); }));
  const std::string theirs =
      signed_raw(rig.relayers[0], 0, rig.payer.address, {}, {}, 50'000'000'000);
  rig.rpc(send_raw, json::array{theirs});
  rig.proxy->heal();
  const auto is_underpriced = [](const test::SentRaw& raw) {
    return raw.answer.find("replacement transaction underpriced") != std::string::npos;
  };
  CHECK(test::within_ms(10'000, [&] {
    const auto raws = rig.proxy->raws();
    return std::ranges::count_if(raws, is_underpriced) >= 2;
  }));
  CHECK(rig.state(one.id) == "settling");
  CHECK(rig.transfers(one) == 0);
  CHECK(rig.nonce(rig.relayers[0], "pending") == 1);
  rig.mine();
  REQUIRE(rig.is_mined(evm::tx_hash(*from_hex(theirs)).hex()));
  test::pause_ms(1'500);
  // Not final yet: nothing is known of what used it.
  CHECK(rig.state(one.id) == "settling");
  CHECK(rig.nonce(rig.relayers[0], "pending") == 1);
  CHECK(rig.mine_until(one, "settled", 30'000));
  CHECK(rig.transfers(one) == 1);
  CHECK(number_of(rig, one) == 1);
  CHECK(rig.nonce(rig.relayers[0]) == 2);
  CHECK(rig.logged("foreign_transaction"));
  CHECK(rig.store().number("SELECT count(*) FROM slots WHERE sequence = 0 AND state = 'consumed'"
                           " AND consumed_by = x'" +
                           evm::tx_hash(*from_hex(theirs)).hex().substr(2) + "'") == 1);
  Allowed allowed;
  allowed.more_numbers = true;  // the first was used by somebody else
  allowed.more_bodies = true;   // the node said that it was too cheap
  rig.check_all(allowed);
}

namespace {

/// Five settled, a backup, five more settled, the backup put back, and the five asked for again.
void restored(bool bearer, bool with_mark) {
  const test::TempFolder backup;
  Rig rig;
  const auto ask = [&](int i) {
    const std::string key = "c2-" + std::to_string(i);
    const Payment one = rig.ask_for(bearer ? rig.authorization_body() : rig.payout_body(), key);
    if (!bearer) return one;
    const Answer answer = rig.sign(one, {201, json::parse(one.first_answer)});
    REQUIRE_MESSAGE(answer.status == 200, answer.text);
    return one;
  };
  rig.start();
  for (int i = 0; i < 5; ++i) ask(i);
  REQUIRE(rig.mine_until(rig.payments, "settled"));
  REQUIRE(rig.stop(SIGTERM).code == 0);
  Rig::copy_store(rig.folder(), backup.path().string(), with_mark);
  rig.start();
  std::map<std::string, std::string> paid_by;
  for (int i = 5; i < 10; ++i) ask(i);
  REQUIRE(rig.mine_until(rig.payments, "settled"));
  for (const Payment& one : rig.payments) {
    paid_by[one.id] = text_of(rig.detail(one.id), "tx_hash");
  }
  REQUIRE(rig.stop(SIGTERM).code == 0);
  Rig::copy_store(backup.path().string(), rig.folder(), with_mark);
  for (const char* newer : {"/pay.db-wal", "/pay.db-shm"}) {
    std::filesystem::remove(rig.folder() + newer);
  }
  rig.payments.resize(5);
  rig.proxy->forget_raws();

  rig.start();
  CHECK(test::within_ms(5'000, [&] { return is_blocked(rig); }));
  CHECK(rig.logged("account_blocked"));
  for (int i = 5; i < 10; ++i) ask(i);
  for (int i = 0; i < 5; ++i) {
    rig.mine();
    test::pause_ms(300);
  }
  CHECK(rig.pays_sent() == 0);
  rig.adopt();
  CHECK(rig.mine_until(rig.payments, "settled", 40'000));
  for (const Payment& one : rig.payments) {
    CHECK(text_of(rig.detail(one.id), "tx_hash") == paid_by[one.id]);
  }
  CHECK(rig.pays_sent() == 0);
  CHECK(rig.transfers_of_all() == 10);
  // And it goes on above what was lost; where the mark tells that something was, also above what
  // may have been signed and wait behind a gap: noops have used that up.
  const Payment next = rig.payout();
  CHECK(rig.mine_until(next, "settled"));
  CHECK(number_of(rig, next) == (with_mark ? 10 : 10 + 2 * rig.options.max_unconsumed));
  Allowed allowed;
  allowed.more_bodies = true;  // a noop may be made dearer
  allowed.queued = true;  // of five numbers this store knows nothing
  rig.check_all(allowed);
}

}  // namespace

TEST_CASE("C2: payouts that a restored store knows nothing of are found by their ref") {
  restored(false, true);
}

TEST_CASE("C2: authorizations that a restored store knows nothing of are found used") {
  restored(true, false);
}

TEST_CASE("C7: a payment that expired with its number signed leaves the number to a noop") {
  Options options;
  options.scripted = true;
  options.more_engine = "validity_s = 60\npublish_margin_s = 0\n";
  Rig rig(options);
  rig.start("KP2");
  const Payment late = rig.authorized();
  REQUIRE(rig.dies_within(10'000));
  REQUIRE(rig.store().number("SELECT count(*) FROM slots WHERE state = 'signed'") == 1);
  const Row pay = rig.store().rows("SELECT hash FROM attempts").at(0);
  rig.node->set_time_ahead(120);
  rig.mine(4);
  rig.start();
  const Payment next = rig.payout();
  CHECK(rig.mine_until(late, "failed", 30'000));
  CHECK(rig.mine_until(next, "settled", 30'000));
  CHECK(text_of(rig.detail(late.id), "reason") == "expired");
  CHECK(rig.store().number("SELECT count(*) FROM entries WHERE kind = 'void'") == 1);
  CHECK(number_of(rig, late) == 0);
  CHECK(number_of(rig, next) == 1);
  for (const test::SentRaw& raw : rig.proxy->raws()) CHECK(raw.hash != pay[0]);
  CHECK(rig.store().number("SELECT count(*) FROM attempts WHERE kind = 'noop'") >= 1);
  CHECK(rig.transfers(late) == 0);
  CHECK(rig.transfers(next) == 1);
  Allowed allowed;
  allowed.more_bodies = true;  // a noop may be made dearer
  rig.check_all(allowed);
}

// Cases T: what a node says instead of an answer.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include <doctest/doctest.h>
#include <boost/json/serialize.hpp>

#include "evm/node_errors.hpp"
#include "rig.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

const std::string send_raw = "eth_sendRawTransaction";

/// Every row of the catalogue of node errors, each said once about another payment's transaction,
/// which the node kept (`keeps`) or threw away.
void say_everything(bool keeps) {
  const auto rows = evm::error_rows();
  Options options;
  options.scripted = true;
  options.rpc_batch = 100;
  options.max_unconsumed = 400;
  options.stuck_after_ms = 1'000;
  options.log_level = "info";
  Rig rig(options);
  std::map<std::uint64_t, std::string> told;  // by number; under the node's mutex
  rig.node->judge(
      [&](const evm::SignedTransaction& tx) -> std::optional<test::ScriptedNode::Verdict> {
        if (tx.tx.nonce >= rows.size() || told.contains(tx.tx.nonce)) return std::nullopt;
        const std::string text(rows[tx.tx.nonce].text);
        told[tx.tx.nonce] = text;
        return test::ScriptedNode::Verdict{keeps, {-32000, text}};
      });
  rig.start();
  std::vector<Payment> all;
  all.reserve(rows.size() + 1);
  for (std::size_t i = 0; i < rows.size() + 1; ++i) all.push_back(rig.payout());
  std::vector<Payment> open = all;
  CHECK(test::within_ms(
      60'000,
      [&] {
        std::erase_if(open, [&](const Payment& one) {
          const std::string state = rig.state(one.id);
          return state == "settled" || state == "failed";
        });
        rig.mine();
        return open.empty();
      },
      300));
  for (const Payment& one : open) {
    FAIL_CHECK("open: " << json::serialize(rig.detail(one.id)));
  }
  CHECK(told.size() == rows.size());
  // Whatever was said, the node is well, and nothing was ever sent at another number.
  CHECK_FALSE(rig.logged("endpoint_not_usable"));
  CHECK_FALSE(rig.logged("chain_down"));
  std::size_t settled = 0;
  for (const Payment& one : all) {
    const json::value detail = rig.detail(one.id);
    const auto number = detail.at("slot").at("sequence").to_number<std::uint64_t>();
    CAPTURE(told[number]);
    // Such bytes will never do: its number is ended, and the payment with proof.
    using Kind = ports::RefusalKind;
    const bool for_good =
        number < rows.size() && (rows[number].meaning == evm::ErrorMeaning(Kind::malformed) ||
                                 rows[number].meaning == evm::ErrorMeaning(Kind::stuck_for_good));
    // What was mined is paid, whatever was said of it.
    if (keeps || !for_good) CHECK(text_of(detail, "state") == "settled");
    if (text_of(detail, "state") == "settled") ++settled;
  }
  CHECK(rig.transfers_of_all() == settled);
  Allowed allowed;
  allowed.more_bodies = true;
  rig.check_all(allowed);
}

}  // namespace

TEST_CASE("T1: whatever a node says of a transaction that it kept, it is paid once") {
  say_everything(true);
}

TEST_CASE("T1: whatever a node says of a transaction that is mined already, it is paid once") {
  const auto rows = evm::error_rows();
  Options options;
  options.scripted = true;
  options.max_unconsumed = 400;
  options.log_level = "info";
  Rig rig(options);
  std::set<std::string> told;  // bytes; under the proxy's lock for one connection, so ours for all
  std::mutex mutex;
  rig.proxy->add({.method = send_raw,
                  .calls = 0,
                  .fault = test::rewrite([&](json::object& answer, const json::object& request) {
                    const std::lock_guard lock(mutex);
                    const std::string raw(request.at("params").at(0).as_string());
                    if (told.size() >= rows.size() || !told.insert(raw).second) return;
                    rig.mine();
                    answer.erase("result");
                    answer["error"] =
                        json::object{{"code", -32000}, {"message", rows[told.size() - 1].text}};
                  })});
  rig.start();
  std::vector<Payment> all;
  all.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) all.push_back(rig.payout());
  CHECK(rig.mine_until(all, "settled", 60'000));
  CHECK(told.size() == rows.size());
  CHECK_FALSE(rig.logged("endpoint_not_usable"));
  CHECK_FALSE(rig.logged("chain_down"));
  CHECK(rig.transfers_of_all() == rows.size());
  CHECK(rig.store().number("SELECT count(*) FROM attempts") ==
        static_cast<std::int64_t>(rows.size()));
  rig.check_all();
}

TEST_CASE("T1: whatever a node says of a transaction that it threw away, none is sent twice over") {
  say_everything(false);
}

TEST_CASE("T2: rate limits of every form end no payment, and are not hammered") {
  Options options;
  options.stuck_after_ms = 30'000;
  Rig rig(options);
  const std::vector<test::Fault> limits = {test::http_error(429, 2),
                                           test::http_error(429),
                                           test::html_page(429),
                                           test::answer_error(-32005, "Limit exceeded"),
                                           test::answer_error(-32007, "50/second is your limit"),
                                           test::answer_error(-32011, "network error")};
  std::atomic<std::size_t> phase = limits.size();
  for (std::size_t i = 0; i < limits.size(); ++i) {
    rig.proxy->add({.calls = 0, .fault = limits[i], .when = [&, i](const json::object&) {
                      return phase == i;
                    }});
  }
  rig.start();
  const Payment pending = rig.payout();
  REQUIRE(rig.reaches(pending.id, "confirming"));
  const std::string raw = rig.raws_of(pending).front().raw;
  const auto calls_in = [&](std::int64_t ms) {
    const int before = rig.proxy->calls("");
    test::pause_ms(ms);
    return rig.proxy->calls("") - before;
  };
  const int in_health = calls_in(1'000);
  phase = 0;
  const Payment later = rig.payout();
  const auto waits = [&] {
    CHECK(rig.state(pending.id) == "confirming");
    const std::string state = rig.state(later.id);
    CHECK((state == "authorized" || state == "settling"));
  };
  // Told to wait for two seconds, nobody asks meanwhile.
  test::pause_ms(300);
  CHECK(calls_in(1'400) == 0);
  waits();
  int limited = 0;
  for (std::size_t i = 1; i < limits.size(); ++i) {
    phase = i;
    limited += calls_in(1'000);
    waits();
  }
  CHECK(limited <= 2 * in_health);  // in five times the time
  phase = limits.size();
  CHECK(rig.reaches(later.id, "confirming", 30'000));
  CHECK(rig.mine_until({pending, later}, "settled", 30'000));
  CHECK(rig.transfers_of_all() == 2);
  CHECK(rig.raws_of(pending).front().raw == raw);
  rig.check_all();
}

namespace {

/// From now on the endpoint is another chain, with another history.
void becomes_another_chain(test::FaultProxy& proxy) {
  proxy.add({.method = "eth_chainId", .calls = 0, .fault = test::result("0x5")});
  proxy.add({.method = send_raw,
             .calls = 0,
             .fault = test::answer_error(-32003, "invalid chain id for signer")});
  // Behind a balancer: the connections end, and the new ones lead elsewhere.
  proxy.add({.calls = 8, .fault = test::cut()});
}

void has_another_history(test::FaultProxy& proxy) {
  proxy.add({.method = "eth_getTransactionCount", .calls = 0, .fault = test::result("0x63")});
  proxy.add({.method = "eth_getTransactionReceipt", .calls = 0, .fault = test::result(nullptr)});
}

}  // namespace

TEST_CASE("T3: an endpoint that is another chain now is left out; with none left nothing is sent") {
  Options options;
  options.proxy_too = true;
  Rig rig(options);
  rig.start();
  const Payment before = rig.payout();
  REQUIRE(rig.mine_until(before, "settled"));

  becomes_another_chain(*rig.second);
  REQUIRE(test::within_ms(20'000, [&] { return rig.logged("state=quarantined"); }));
  has_another_history(*rig.second);
  const Payment with_one = rig.payout();
  CHECK(rig.mine_until(with_one, "settled"));
  CHECK_FALSE(rig.logged("account_blocked"));

  becomes_another_chain(*rig.proxy);
  has_another_history(*rig.proxy);
  CHECK(test::within_ms(20'000, [&] { return !rig.ready(); }));
  CHECK(test::within_ms(5'000, [&] { return rig.logged("chain_down"); }));
  const std::size_t sent = rig.proxy->raws().size() + rig.second->raws().size();
  const Payment waiting = rig.payout();
  for (int i = 0; i < 6; ++i) {
    rig.mine();
    test::pause_ms(300);
  }
  CHECK(rig.state(waiting.id) == "authorized");
  CHECK(rig.proxy->raws().size() + rig.second->raws().size() == sent);
  CHECK(rig.store().number("SELECT count(*) FROM attempts") == 2);

  rig.proxy->heal();
  rig.second->heal();
  CHECK(rig.mine_until(waiting, "settled", 40'000));
  CHECK(rig.transfers_of_all() == 3);
  std::vector<test::SentRaw> all = rig.proxy->raws();
  for (test::SentRaw& raw : rig.second->raws()) all.push_back(std::move(raw));
  for (const test::SentRaw& raw : all) {
    const auto tx = evm::decode_signed(*from_hex(raw.raw));
    REQUIRE(tx.has_value());
    CHECK(tx->tx.chain_id == 31337);
  }
  rig.check_all();
}

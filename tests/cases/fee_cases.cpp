// Cases R about fees: dearer transactions at the same number, and what happens at the ceiling.
#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "rig.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

/// Transactions stay in the pool, and blocks come.
Options stuck(unsigned relayers = 1) {
  Options options;
  options.scripted = true;
  options.relayers = relayers;
  options.stuck_after_ms = 1'000;
  options.review_after_ms = 10'000;
  return options;
}

/// The different bodies of a sender's number, in the order they were sent.
std::vector<test::SentRaw> bodies(const Rig& rig, const std::string& sender, std::uint64_t number) {
  std::vector<test::SentRaw> out;
  for (test::SentRaw& raw : rig.proxy->raws()) {
    const bool known =
        std::ranges::any_of(out, [&](const test::SentRaw& each) { return each.hash == raw.hash; });
    if (raw.sender == sender && raw.nonce == number && !known) out.push_back(std::move(raw));
  }
  return out;
}

evm::Transaction1559 decoded(const test::SentRaw& raw) {
  const auto tx = evm::decode_signed(*from_hex(raw.raw));
  REQUIRE(tx.has_value());
  return tx->tx;
}

/// Blocks that take nothing, until it is so.
template <class Question>
bool mine_empty_until(Rig& rig, std::int64_t ms, Question is_so) {
  rig.node->hold_pool(true);
  return test::within_ms(
      ms,
      [&] {
        if (is_so()) return true;
        rig.mine();
        return false;
      },
      250);
}

void any_hash_wins(std::size_t hashes, std::size_t winner) {
  Rig rig(stuck());
  rig.node->hold_pool(true);
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(rig.reaches(one.id, "confirming"));
  const std::string& sender = rig.relayers[0].address;
  REQUIRE(mine_empty_until(rig, 20'000, [&] { return bodies(rig, sender, 0).size() >= hashes; }));
  const auto all = bodies(rig, sender, 0);
  rig.node->drop_all();
  rig.node->push_raw(all[winner].raw);
  rig.node->hold_pool(false);
  rig.mine();
  REQUIRE(rig.is_mined(all[winner].hash));
  CHECK(rig.mine_until(one, "settled"));
  const json::value detail = rig.detail(one.id);
  CHECK(text_of(detail, "tx_hash") == all[winner].hash);
  CHECK(text_of(detail.at("slot"), "state") == "consumed");
  // Every hash ever signed there is kept, whichever won.
  std::set<std::string> kept;
  for (const json::value& attempt : detail.at("attempts").as_array()) {
    kept.insert(text_of(attempt, "hash"));
  }
  for (const test::SentRaw& each : all) CHECK(kept.contains(each.hash));
  CHECK(rig.store().number("SELECT count(*) FROM slots") == 1);
  CHECK(rig.store().number("SELECT count(*) FROM slots WHERE consumed_by = x'" +
                           all[winner].hash.substr(2) + "'") == 1);
  CHECK(rig.transfers(one) == 1);
  Allowed allowed;
  allowed.more_bodies = true;
  rig.check_all(allowed);
}

}  // namespace

TEST_CASE("R1: made dearer, and then the first one mines after all") { any_hash_wins(2, 0); }

TEST_CASE("R1: made dearer twice, and the one in the middle mines") { any_hash_wins(3, 1); }

TEST_CASE("R3: at the fee ceiling nothing is given up: the last bytes again, and an alarm") {
  Options options = stuck();
  // Three gwei at first; two steps of an eighth are below eight ninths of this, a third is not.
  options.more_chain = "[chain.fees]\nmax_fee = \"4400000000\"\n";
  Rig rig(options);
  rig.node->hold_pool(true);
  rig.start();
  std::vector<Payment> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(rig.payout());
    REQUIRE(rig.reaches(all.back().id, "confirming"));
  }
  const std::string& sender = rig.relayers[0].address;
  const auto sent_again = [&] {
    const auto versions = bodies(rig, sender, 0);
    const auto raws = rig.proxy->raws();
    return std::ranges::count_if(
        raws, [&](const test::SentRaw& raw) { return raw.hash == versions.back().hash; });
  };
  REQUIRE(mine_empty_until(rig, 20'000,
                           [&] { return rig.logged("fee_ceiling") && sent_again() >= 3; }));
  // Longer than any review waits, by the time of blocks.
  int blocks = 0;
  REQUIRE(mine_empty_until(rig, 10'000, [&] { return ++blocks > 15; }));
  CHECK(bodies(rig, sender, 0).size() == 3);
  CHECK(bodies(rig, sender, 1).size() == 1);
  CHECK(bodies(rig, sender, 2).size() == 1);
  CHECK(bodies(rig, sender, 3).empty());
  for (const Payment& one : all) {
    const json::value detail = rig.detail(one.id);
    const std::string state = text_of(detail, "state");
    CHECK((state == "confirming" || state == "settling"));
    CHECK(text_of(detail.at("slot"), "state") == "broadcast");
    CHECK(detail.at("journal").as_array().size() == 1);
  }
  CHECK(rig.store().number("SELECT count(*) FROM events WHERE to_state = 'needs_review'") == 0);
  rig.node->hold_pool(false);
  CHECK(rig.mine_until(all, "settled"));
  for (const Payment& one : all) CHECK(rig.transfers(one) == 1);
  Allowed allowed;
  allowed.more_bodies = true;
  rig.check_all(allowed);
}

namespace {

void set_tip(Rig& rig, std::uint64_t wei) {
  rig.proxy->add({.method = "eth_feeHistory",
                  .calls = 0,
                  .fault = test::rewrite([wei](json::object& answer, const json::object&) {
                    const std::string tip = U256(wei).quantity();
                    json::array rewards;
                    rewards.emplace_back(json::array{tip});
                    answer.at("result").as_object()["reward"] = std::move(rewards);
                  })});
}

/// ceil(old × 1.1), and more than it: what the strictest of nodes asks.
bool replaces(const U256& old, const U256& next) {
  return next > old && next.times(10) >= old.times(11);
}

}  // namespace

TEST_CASE("R4: every dearer transaction is taken the first time, however small its fees were") {
  Options options = stuck(4);
  options.more_chain = "[chain.fees]\npriority_floor = \"0\"\npriority_default = \"0\"\n";
  Rig rig(options);
  rig.node->hold_pool(true);
  rig.start();
  std::vector<Payment> all;
  for (const std::uint64_t tip : {0ULL, 1ULL, 9ULL, 1'000'000'000ULL}) {
    rig.proxy->heal();
    set_tip(rig, tip);
    test::pause_ms(10'200);  // what the engine knew of tips is old then
    // Each from another account; a payout would come from the one that it names.
    all.push_back(rig.authorized());
    REQUIRE(rig.reaches(all.back().id, "confirming"));
    CHECK(decoded(rig.raws_of(all.back()).front()).max_priority_fee == U256(tip));
  }
  rig.proxy->heal();
  set_tip(rig, 0);
  std::uint64_t base_fee = 1'000'000'000;
  const auto have = [&](std::size_t versions) {
    return std::ranges::all_of(rig.relayers, [&](const Person& one) {
      return bodies(rig, one.address, 0).size() >= versions;
    });
  };
  for (const std::size_t versions : {2UL, 3UL}) {
    base_fee *= 3;
    rig.node->set_base_fee(base_fee);
    REQUIRE(mine_empty_until(rig, 20'000, [&] { return have(versions); }));
  }
  for (const test::SentRaw& raw : rig.proxy->raws()) {
    CHECK(raw.nonce == 0);
    CHECK((raw.answer.empty() || raw.answer == "already known"));
  }
  for (const Person& one : rig.relayers) {
    const auto versions = bodies(rig, one.address, 0);
    for (std::size_t i = 1; i < versions.size(); ++i) {
      const auto old = decoded(versions[i - 1]);
      const auto next = decoded(versions[i]);
      CHECK(replaces(old.max_fee, next.max_fee));
      CHECK(replaces(old.max_priority_fee, next.max_priority_fee));
    }
  }
  rig.node->hold_pool(false);
  CHECK(rig.mine_until(all, "settled"));
  for (const Payment& one : all) CHECK(rig.transfers(one) == 1);
  Allowed allowed;
  allowed.more_bodies = true;
  rig.check_all(allowed);
}

TEST_CASE("R4: called underpriced all the same, the next try is above it, at the same number") {
  Rig rig(stuck());
  rig.node->hold_pool(true);
  rig.start();
  const Payment one = rig.payout();
  REQUIRE(rig.reaches(one.id, "confirming"));
  const std::string& sender = rig.relayers[0].address;
  const std::string first = rig.raws_of(one).front().hash;
  std::string refused;  // the first dearer one; under the node's mutex
  rig.node->judge(
      [&](const evm::SignedTransaction& tx) -> std::optional<test::ScriptedNode::Verdict> {
        const std::string hash = tx.hash.hex();
        if (hash == first || (!refused.empty() && hash != refused)) return std::nullopt;
        refused = hash;
        return test::ScriptedNode::Verdict{false, {-32000, "replacement transaction underpriced"}};
      });
  REQUIRE(mine_empty_until(rig, 20'000, [&] { return bodies(rig, sender, 0).size() >= 3; }));
  const auto versions = bodies(rig, sender, 0);
  CHECK(versions[1].hash == refused);
  CHECK(replaces(decoded(versions[1]).max_fee, decoded(versions[2]).max_fee));
  CHECK(replaces(decoded(versions[1]).max_priority_fee, decoded(versions[2]).max_priority_fee));
  // Bounded: a body or two a stuck time, not one an answer.
  CHECK(versions.size() <= 4);
  CHECK(bodies(rig, sender, 1).empty());
  const json::value detail = rig.detail(one.id);
  CHECK(text_of(detail, "tx_hash") != refused);
  CHECK(text_of(detail.at("attempts").at(1), "hash") == refused);
  CHECK(text_of(detail.at("attempts").at(1), "outcome") == "refused");
  rig.node->judge({});
  rig.node->hold_pool(false);
  CHECK(rig.mine_until(one, "settled"));
  CHECK(rig.transfers(one) == 1);
  CHECK(rig.store().number("SELECT count(*) FROM slots") == 1);
  Allowed allowed;
  allowed.more_bodies = true;
  rig.check_all(allowed);
}

// Many lives under random trouble: lost answers, lost pools, shallow reorgs, crashes, people who
// change their minds. Then calm: everything must end, and nothing may have moved twice.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <holdfast/base/log.hpp>

#include "rig.hpp"

using namespace holdfast;
using domain::IntentState;
using testing::Rig;
using testing::RigOptions;

namespace {

using Random = std::mt19937_64;

std::uint64_t draw(Random& random, std::uint64_t below) { return random() % below; }

ports::RefusalKind some_refusal(Random& random) {
  constexpr ports::RefusalKind kinds[] = {ports::RefusalKind::nonce_too_high,
                                          ports::RefusalKind::replacement_underpriced,
                                          ports::RefusalKind::underpriced,
                                          ports::RefusalKind::unfunded,
                                          ports::RefusalKind::gas,
                                          ports::RefusalKind::pool_full,
                                          ports::RefusalKind::malformed,
                                          ports::RefusalKind::nonce_too_low,
                                          ports::RefusalKind::other};
  return kinds[draw(random, std::size(kinds))];
}

void trouble_a_post(Rig& rig, Random& random) {
  switch (draw(random, 6)) {
    case 0: rig.chain.script().next_post(sim::NextPost::accept_answer_unknown()); break;
    case 1: rig.chain.script().next_post(sim::NextPost::drop_answer_unknown()); break;
    case 2: rig.chain.script().next_post(sim::NextPost::drop_answer_ok()); break;
    case 3: rig.chain.script().next_post(sim::NextPost::not_sent()); break;
    case 4: rig.chain.script().next_post(sim::NextPost::refuse(some_refusal(random))); break;
    default:
      // Refused by word, and taken all the same.
      rig.chain.script().next_post(
          {true, ports::Refused{some_refusal(random), "no, said the node, and kept it"}});
  }
}

void trouble_a_read(Rig& rig, Random& random) {
  constexpr sim::ChainCall calls[] = {sim::ChainCall::head,          sim::ChainCall::block,
                                      sim::ChainCall::block_hash,    sim::ChainCall::find,
                                      sim::ChainCall::sequences,     sim::ChainCall::simulate,
                                      sim::ChainCall::quote,         sim::ChainCall::consumer,
                                      sim::ChainCall::authorization, sim::ChainCall::vouch};
  const sim::ChainCall call = calls[draw(random, std::size(calls))];
  rig.chain.script().fail_next(call, ports::Unknown{"no answer"}, 1 + draw(random, 5));
}

struct Storm {
  explicit Storm(std::uint64_t seed) : random(seed), rig(options_of(seed)) {}

  static RigOptions options_of(std::uint64_t seed) {
    RigOptions options;
    options.seed = seed;
    options.accounts = 1 + seed % 2;
    options.max_unconsumed = 8;
    options.config.policy.review_after_ms = 120'000;
    return options;
  }

  void begin_some() {
    for (std::uint64_t i = draw(random, 4); i > 0; --i) {
      const std::string key = "k" + std::to_string(intents.size());
      const bool payout = draw(random, 2) == 0;
      intents.push_back(rig.create(key, payout ? rig.payout() : rig.from_payer()));
      if (!payout) unsigned_yet.push_back(intents.back());
    }
    // A node that cannot be asked now is no reason to give the signature up.
    std::erase_if(unsigned_yet, [&](const domain::Intent& one) {
      if (rig.state(one.id) != IntentState::created) return true;
      return rig
          .run(rig.engine->authorize(rig.caller("sign" + domain::text(one.id)), one.id,
                                     sim::authorize(one).signature))
          .has_value();
    });
  }

  void trouble() {
    switch (draw(random, 12)) {
      case 0:
      case 1:
      case 2: trouble_a_post(rig, random); break;
      case 3:
      case 4: trouble_a_read(rig, random); break;
      case 5: rig.chain.forget_pool(); break;
      case 6:
        if (rig.chain.height() < 2 || rig.chain.height() == rig.chain.finalized()) break;
        rig.chain.reorg(1, draw(random, 2) == 0 ? sim::ScriptedChain::Fate::repooled
                                                : sim::ScriptedChain::Fate::dropped);
        break;
      case 7: rig.crash(); break;
      case 8: rig.chain.hold_pool(draw(random, 2) == 0); break;
      case 9: abandon_one(); break;
      case 10: rig.chain.script().set_down(draw(random, 3) == 0); break;
      default: rig.chain.set_base_fee(U256{500 + draw(random, 3'000)});
    }
  }

  void abandon_one() {
    if (intents.empty()) return;
    const domain::Intent& one = intents[draw(random, intents.size())];
    std::ignore = rig.run(rig.engine->abandon(rig.by("ann"), one.id, "changed mind"));
  }

  void calm() {
    rig.chain.hold_pool(false);
    rig.chain.script().set_down(false);
    rig.chain.set_base_fee(U256{1'000});
  }

  bool all_ended() {
    for (const domain::Intent& one : intents) {
      const IntentState state = rig.state(one.id);
      if (!domain::is_terminal(state) && state != IntentState::needs_review) return false;
    }
    return true;
  }

  void check_one(const domain::Intent& one) {
    const domain::Intent now = rig.find(one.id);
    CAPTURE(domain::text(one.id));
    CAPTURE(domain::to_text(now.state));
    CAPTURE(now.reason);
    const std::size_t moved = rig.chain.moved(one.ref);
    CHECK(moved <= 1);
    if (now.state == IntentState::settled) CHECK(moved == 1);
    if (now.state == IntentState::failed || now.state == IntentState::canceled) CHECK(moved == 0);
  }

  void run() {
    rig.start();
    for (int step = 0; step < 60; ++step) {
      begin_some();
      trouble();
      rig.world.run_for(static_cast<std::int64_t>(500 + draw(random, 6'000)));
    }
    calm();
    while (!unsigned_yet.empty()) {
      begin_some();
      rig.world.run_for(5'000);
    }
    for (int i = 0; i < 200 && !all_ended(); ++i) rig.world.run_for(30'000);
    CHECK(all_ended());
    for (const domain::Intent& one : intents) {
      check_one(one);
      const domain::Intent now = rig.find(one.id);
      if (!domain::is_terminal(now.state) && now.state != IntentState::needs_review) {
        MESSAGE("left open: ", domain::text(one.id), " ", domain::to_text(now.state), " ",
                now.reason);
      }
      if (now.state == IntentState::needs_review) {
        ++reviews;
        MESSAGE(domain::text(one.id), " in review: ", now.reason, ", moved ",
                rig.chain.moved(one.ref));
        for (const engine::HistoryItem& item : rig.detail(one.id).history) {
          MESSAGE("  ", item.at_ms, " ", item.kind, " ", item.from, " ", item.to, " ", item.reason);
        }
      }
    }
    testing::check_audit(rig);
    rig.world.run_for(120'000);
    for (const domain::Address& account : rig.accounts) {
      // Every number given is used: nothing is left that later ones wait for.
      const auto open = rig.read([&](store::Txn& txn) {
        return store::open_slots(txn, rig.chain.info().id, account, 100);
      });
      for (const store::OpenSlot& one : open) {
        MESSAGE("open number ", one.slot.sequence.value, " ", domain::to_text(one.slot.state));
      }
      CHECK(open.empty());
    }
  }

  Random random;
  Rig rig;
  std::vector<domain::Intent> intents;
  std::vector<domain::Intent> unsigned_yet;
  std::size_t reviews = 0;
};

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void print(holdfast::log::Level, std::string_view line) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace

// STORM_FROM and STORM_SEEDS choose others, STORM_LOG shows what happened: a seed that fails stays
// failing.
TEST_CASE("engine: after any storm everything ends, and nothing has moved twice") {
  const std::uint64_t from = number_from("STORM_FROM", 1);
  const std::uint64_t seeds = number_from("STORM_SEEDS", 6);
  for (std::uint64_t seed = from; seed < from + seeds; ++seed) {
    CAPTURE(seed);
    Storm storm(seed);
    if (number_from("STORM_LOG", 0) != 0) holdfast::log::set_sink(&print);
    storm.run();
    if (storm.reviews > 0) MESSAGE("seed ", seed, ": ", storm.reviews, " in review");
  }
}

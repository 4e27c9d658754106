#include "seed_run.hpp"

#include <algorithm>
#include <utility>

#include <holdfast/base/sha256.hpp>

#include "blows.hpp"
#include "machine.hpp"
#include "people.hpp"
#include "store/reads.hpp"
#include "story.hpp"

namespace holdfast::campaign {

using domain::IntentState;

namespace {

constexpr std::int64_t tick_ms = 500;
constexpr std::int64_t longest_heal_ms = 3'600'000;
/// Every number below an account's highest signed one is used by then: a noop, and its finality.
constexpr std::int64_t numbers_ms = 300'000;
/// Finality that was taken back is noticed with the next polls.
constexpr std::int64_t halt_ms = 60'000;

class SeedRun {
 public:
  SeedRun(const Setting& setting, const std::string& tell)
      : setting_(setting),
        machine_(setting, verdict_.tally),
        story_(machine_.world, tell),
        clients_(sim::Chance(setting.seed ^ 0x636c69ULL).next(), setting, machine_.world,
                 machine_.chain, setting.has_sender ? std::optional(Sender::name()) : std::nullopt,
                 machine_.watch, verdict_.tally),
        operators_(sim::Chance(setting.seed ^ 0x6f7073ULL).next(), machine_.world, machine_.chain,
                   machine_.watch, verdict_.tally),
        blows_(machine_, clients_, operators_, story_) {
    if (machine_.sender) operators_.also_on(machine_.sender->chain);
    if (!tell.empty())
      machine_.watch.tell([this](std::string line) { story_.line(std::move(line)); });
  }

  Verdict run() {
    try {
      trouble();
      heal();
      judge();
    } catch (const std::exception& error) {
      machine_.watch.say(0, "the run", error.what());
    }
    close();
    return std::move(verdict_);
  }

 private:
  std::int64_t now_ms() { return machine_.world.clock().mono_ms(); }

  void trouble() {
    machine_.weather.set(setting_.odds);
    machine_.world.clock().drift(setting_.drift_ppm);
    std::size_t next = 0;
    while (now_ms() < setting_.span_ms && good()) {
      while (next < setting_.strokes.size() && setting_.strokes[next].at_ms <= now_ms()) {
        blows_.strike(setting_.strokes[next++]);
      }
      const std::int64_t blow_ms =
          next < setting_.strokes.size() ? setting_.strokes[next].at_ms : setting_.span_ms;
      step(std::min({tick_ms, std::max<std::int64_t>(1, blow_ms - now_ms())}), true);
    }
  }

  /// Everything bad ends, and within an hour every payment has an end, or a reason to wait.
  void heal() {
    machine_.weather.clear();
    machine_.endpoints.level();
    blows_.calm();
    const std::int64_t end_ms = now_ms() + longest_heal_ms;
    const auto at_rest = [this] {
      return all_ended() && machine_.is_well() && needless_reviews().empty();
    };
    while (now_ms() < end_ms && good() && !at_rest()) step(2 * tick_ms, false);
    if (!good()) return;
    if (!all_ended()) {
      for (const auto& [row, seen] : machine_.watch.payments()) {
        if (!ended(seen)) {
          machine_.watch.say(3, text(seen.id),
                             "an hour after all trouble it is " + std::string(to_text(seen.state)));
        }
      }
      if (!clients_.all_answered()) {
        machine_.watch.say(0, "the clients", "an hour after all trouble some have no answer");
      }
      return;
    }
    const std::int64_t halt_end_ms = now_ms() + halt_ms;
    while (now_ms() < halt_end_ms && good() && machine_.watch.is_halt_owed()) {
      step(2 * tick_ms, false);
    }
    const std::int64_t numbers_end_ms = now_ms() + numbers_ms;
    // What used one may also be what pays for a payment in review: that has its time, too.
    while (now_ms() < numbers_end_ms && good() &&
           (open_numbers() > 0 || !needless_reviews().empty())) {
      step(2 * tick_ms, false);
    }
    if (good() && open_numbers() > 0) {
      machine_.watch.say(
          11, "an account",
          std::to_string(open_numbers()) + " numbers are open, and nothing is under way");
    }
  }

  /// One turn of people and machine, then so much time.
  void step(std::int64_t ms, bool in_trouble) {
    if (machine_.look_after()) {
      if (had_process_) {
        had_process_ = false;
        clients_.forget_requests();
        operators_.forget_requests();
        blows_.ended();
      }
      if (blows_.may_boot()) {
        const std::string why_not = machine_.boot();
        had_process_ = why_not.empty();
        story_.note(had_process_ ? "the process starts" : "the process cannot start: " + why_not);
        had_process_ ? blows_.booted() : blows_.boot_later();
      }
    }
    if (engine::Engine* engine = machine_.engine()) {
      clients_.turn(*engine);
      operators_.look(*engine);
      if (now_ms() >= next_desk_ms_) {
        next_desk_ms_ = now_ms() + setting_.desk_ms;
        operators_.turn(*engine, in_trouble);
      }
    }
    blows_.expire();
    const bool disk_was_well = !machine_.disk.frozen();
    machine_.world.run_until(
        [&] { return (disk_was_well && machine_.disk.frozen()) || blows_.dies_now() || !good(); },
        ms);
    if (blows_.dies_now()) blows_.die_now();
  }

  bool good() const { return machine_.watch.broken().empty(); }
  // What the lost part of a restored store has run stays created, if nobody signed it here: no row
  // of the table leads from there to an end that would be true.
  bool ended(const Seen& seen) {
    if (domain::is_terminal(seen.state) || seen.state == IntentState::needs_review) return true;
    const bool may_stay = seen.state == IntentState::created && machine_.watch.went_back();
    return may_stay &&
           machine_.chain.used_in(seen.asset, seen.payer, {seen.moves_as.value}).has_value();
  }
  bool all_ended() {
    if (!clients_.all_answered()) return false;
    const auto& all = machine_.watch.payments();
    return std::all_of(all.begin(), all.end(),
                       [this](const auto& one) { return ended(one.second); });
  }
  std::uint64_t open_numbers() { return machine_.watch.open_numbers(); }

  void judge() {
    if (!good()) return;
    if (machine_.watch.is_halt_owed()) {
      return machine_.watch.say(
          0, "the chain", "it took back what the engine had called final, and was not halted");
    }
    if (!machine_.is_well()) {
      return machine_.watch.say(0, "the machine", "it does not run after all trouble");
    }
    machine_.read([this](store::Txn& txn) {
      machine_.watch.last_look(txn.db());
      return true;
    });
    for (const auto& [row, seen] : machine_.watch.payments()) {
      if (seen.state == IntentState::needs_review) ++verdict_.reviews_left;
    }
    for (const Seen* const seen : needless_reviews()) {
      ++verdict_.needless_reviews;
      machine_.watch.say(9, text(seen->id),
                         "it waits in review for " + seen->reason + ", and its money has arrived");
    }
  }

  /// In review, where the chain shows that the money has arrived.
  std::vector<const Seen*> needless_reviews() {
    std::vector<const Seen*> out;
    for (const auto& [row, seen] : machine_.watch.payments()) {
      // What a sender did and told no name of, a person has to find. What no event shows, nobody
      // but the chain itself can see; and what arrived short may be for a person to judge.
      const sim::TokenKind kind = machine_.chain.token(seen.asset);
      const bool can_be_seen = machine_.watch.chain_counts(seen) && !seen.is_nameless &&
                               seen.reason != "transfer_mismatch" &&
                               kind != sim::TokenKind::silent &&
                               (kind != sim::TokenKind::takes_fee || setting_.settle_short);
      const bool waits = seen.state == IntentState::needs_review && can_be_seen;
      if (waits && machine_.watch.moved(seen) == 1) out.push_back(&seen);
    }
    return out;
  }

  /// For whoever reads the story of a seed that failed: what the accounts are held up by.
  void tell_open_numbers() {
    if (good() || !machine_.is_well()) return;
    for (const domain::Address& account : machine_.accounts) {
      const auto open = machine_.read([&](store::Txn& txn) {
        return store::open_slots(txn, machine_.chain.info().id, account, 100);
      });
      story_.note(account.value + " is at number " +
                  std::to_string(machine_.chain.next_number(account).value) + " on the chain");
      for (const store::OpenSlot& one : open) {
        std::string line = account.value + " number " + std::to_string(one.slot.sequence.value) +
                           " " + std::string(to_text(one.slot.state)) +
                           (one.slot.handed_over ? ", handed over" : "");
        if (one.item)
          line += ", " + text(one.item->id) + " " + std::string(to_text(one.item->state));
        for (const domain::Attempt& attempt : one.attempts) {
          line += "; " + std::string(to_text(attempt.kind)) + " " +
                  std::string(to_text(attempt.outcome)) + " " +
                  (attempt.hash ? attempt.hash->hex() : "");
        }
        story_.note(line);
      }
    }
  }

  void close() {
    tell_open_numbers();
    verdict_.seed = setting_.seed;
    for (const Broken& one : machine_.watch.broken()) verdict_.broken.push_back(one.text());
    verdict_.payments = machine_.watch.payments().size();
    verdict_.crashes = machine_.crashes();
    verdict_.steps = machine_.world.loop().steps();
    verdict_.simulated_ms = now_ms();
    FieldHash hash("holdfast/trace/1");
    hash.add(std::to_string(machine_.world.loop().order_hash()))
        .add(std::to_string(machine_.world.loop().steps()))
        .add(std::to_string(now_ms()));
    for (const sim::PostRecord& post : machine_.chain.posts()) {
      hash.add(std::to_string(post.at_ms)).add(post.hash.view());
    }
    for (const auto& [row, seen] : machine_.watch.payments()) {
      hash.add(text(seen.id)).add(to_text(seen.state)).add(seen.reason);
    }
    verdict_.trace_hash = to_hex(hash.finish()).substr(0, 16);
    blows_.count(verdict_.tally);
    verdict_.story = story_.take(machine_);
  }

  const Setting& setting_;
  Verdict verdict_;
  Machine machine_;
  Story story_;
  Clients clients_;
  Operators operators_;
  Blows blows_;
  bool had_process_ = false;
  std::int64_t next_desk_ms_ = 0;
};

}  // namespace

Verdict run_seed(const Setting& setting, const std::string& tell) {
  try {
    return SeedRun(setting, tell).run();
  } catch (const std::exception& error) {
    Verdict out;
    out.seed = setting.seed;
    out.broken.push_back(Broken{0, "the run", error.what()}.text());
    return out;
  }
}

}  // namespace holdfast::campaign

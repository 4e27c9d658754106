// Owns: what was mined, became final or was taken back, and the moves of payments that follow
// (`domain::follow`).
// Must never: settle on anything but a transaction it read in a canonical block.
#include <algorithm>

#include "base/kill_point.hpp"
#include "base/teeth.hpp"
#include "engine/join.hpp"
#include "engine/listener.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

constexpr std::size_t page = 500;  // payments looked at side by side

}  // namespace

// Everybody whose situation may have changed, each in a write of its own, all in one commit.
Awaitable<void> Listener::act() {
  std::vector<domain::IntentId> ids = std::move(touched_);
  touched_.clear();
  if (core_.waiters.any()) {
    // `answer_at` may be reached long before anything is to be done.
    for (const domain::IntentId& id : unit_.watch.included_up_to(unit_.view.heights().latest)) {
      core_.waiters.changed(id);
    }
  }
  if (const auto deep = domain::deep_enough(unit_.view.heights(), unit_.chain.info().finality)) {
    for (const domain::IntentId& id : unit_.watch.included_up_to(*deep)) ids.push_back(id);
  }
  const std::int64_t stuck_since_ms =
      core_.parts.clock.mono_ms() - core_.config.policy.stuck_after_ms;
  for (const domain::IntentId& id : unit_.watch.quiet_since(stuck_since_ms)) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());

  try {
    ids = co_await settle_plain(std::move(ids));
    for (std::size_t from = 0; from < ids.size(); from += page) {
      std::vector<Awaitable<bool>> acts;
      for (std::size_t i = from; i < std::min(ids.size(), from + page); ++i) {
        acts.push_back(act_on(ids[i]));
      }
      co_await join_all(std::move(acts));
    }
  } catch (...) {
    touched_.insert(touched_.end(), ids.begin(), ids.end());  // looked at again with the next head
    throw;
  }
}

// Blocks that nobody has read, before a start or while a chain was down, are not read any more:
// whose payment had ended by then is asked for by name, a few with each round, once all of those
// blocks are final.
Awaitable<void> Listener::ask_ended() {
  constexpr std::size_t at_once = 8;
  if (unit_.view.finalized_time_s() < ended_since_s_) co_return;
  for (std::size_t asked = 0; asked < at_once && !ended_.empty(); ++asked) {
    const domain::IntentId id = ended_.back();
    const bool is_answered = co_await ask_ended(id);
    ended_.pop_back();
    if (is_answered) continue;
    ended_.insert(ended_.begin(), id);  // behind the others, with the next round
    co_return;
  }
}

/// False: no node answers that has all of those blocks.
Awaitable<bool> Listener::ask_ended(domain::IntentId id) {
  using Result = domain::AuthorizationSeen::Result;
  const auto facts =
      co_await core_.parts.store.read([id](store::Txn& txn) { return store::find_facts(txn, id); });
  ports::Method* const method = facts ? core_.method(facts->intent.terms) : nullptr;
  if (method == nullptr) co_return true;
  const auto seen = co_await method->read_authorization(facts->intent);
  const bool is_used = seen.result == Result::used_exactly || seen.result == Result::used_otherwise;
  if (is_used && seen.tx) used_late_.emplace_back(id, seen.tx->hash);
  const bool is_behind = seen.result == Result::unused &&
                         seen.unused_at_final_s.value_or(ended_since_s_) < ended_since_s_;
  co_return seen.result != Result::unknown && !is_behind;
}

// The payment stays as it ended: what became of the money is for a person.
Awaitable<void> Listener::tell_used_late() {
  unit_.watch.forget_expired(unit_.view.latest_time_s());
  while (!used_late_.empty()) {
    const auto used = used_late_.back();
    const bool is_new =
        co_await core_.parts.store.write([used, now_ms = core_.wall_ms()](store::Txn& txn) {
          return store::note_used_after_end(txn, used.first, used.second, now_ms);
        });
    used_late_.pop_back();
    if (!is_new) continue;
    core_.alarm("authorization_used_after_end",
                {{"intent", domain::text(used.first)}, {"tx", used.second.hex()}});
  }
}

// A transaction of our account with a ref, and none of the transactions we know: what a lost part
// of the store, or another engine with our key, paid. A client may yet ask for that very payment.
Awaitable<void> Listener::note_refs() {
  while (!refs_seen_.empty()) {
    co_await note_refs_found(core_, unit_, refs_seen_.back());
    refs_seen_.pop_back();
  }
}

// A block followed by its parent hash is canonical; one below what was followed is asked for.
Awaitable<std::optional<bool>> Listener::still_canonical(const Inclusion& inclusion) {
  const domain::BlockRef block = inclusion.tx.block;
  if (planted(Tooth::reorg_unnoticed)) co_return true;
  if (const auto hash = unit_.view.hash_at(block.height)) co_return *hash == block.hash;
  const auto answer = co_await unit_.chain.block_hash(block.height);
  if (answer.ok() == nullptr || !*answer.ok()) co_return std::nullopt;
  if (!co_await unit_.noted_stands(block.height)) co_return std::nullopt;
  co_return **answer.ok() == block.hash;
}

// One node has shown it, and the others do not have it there. It is as good as never seen once
// nobody shows it any more, or shows it elsewhere.
Awaitable<void> Listener::look_again(domain::IntentId id, Inclusion shown) {
  auto answer = co_await unit_.chain.find(shown.tx.hash);
  ports::Whereabouts* const found = answer.ok();
  Watched* const watched = unit_.watch.find(id);
  const bool is_same = watched != nullptr && watched->inclusion &&
                       watched->inclusion->tx.hash == shown.tx.hash &&
                       watched->inclusion->tx.block == shown.tx.block;
  if (found == nullptr || !is_same) co_return;
  if (found->tx && found->tx->block == shown.tx.block) co_return;
  unit_.watch.lose(*watched);
  if (found->tx) unit_.watch.include(*watched, std::move(*found->tx), shown.own_hash);
  touched_.push_back(id);
}

/// True when it moved.
Awaitable<bool> Listener::act_on(domain::IntentId id) {
  Watched* watched = unit_.watch.find(id);
  if (watched == nullptr) co_return false;
  core_.waiters.changed(id);
  Boxed<Inclusion> inclusion = watched->inclusion;
  domain::FollowSeen seen;
  if (inclusion) {
    const std::optional<bool> canonical = co_await still_canonical(*inclusion);
    if (!canonical) co_return false;  // judged with the next head
    seen.included = true;
    seen.own_hash = inclusion->own_hash;
    const domain::Inclusion at{inclusion->tx.block, inclusion->tx.succeeded};
    seen.verdict = *canonical ? domain::verdict(at, inclusion->tx.block.hash, unit_.view.heights(),
                                                unit_.chain.info().finality)
                              : domain::Verdict::lost;
  } else if (watched->lost) {
    seen.verdict = domain::Verdict::lost;
  }

  auto facts =
      co_await core_.parts.store.read([id](store::Txn& txn) { return store::find_facts(txn, id); });
  watched = unit_.watch.find(id);
  if (!facts || watched == nullptr) co_return false;
  ports::Method* const method = core_.method(facts->intent.terms);
  if (method == nullptr) co_return false;
  if (inclusion) seen.evidence = method->evidence(facts->intent, inclusion->tx, seen.own_hash);
  const bool lost = inclusion && domain::is_lost_part(facts->ref_found_in, inclusion->tx.hash);
  seen.stands_on_other = facts->attempts.empty() || lost;
  const std::int64_t quiet_ms = core_.parts.clock.mono_ms() - watched->quiet_since_ms;
  const bool is_next = facts->slot_is_lowest || (facts->slot && unit_.is_next(*facts->slot)) ||
                       unit_.is_overdue(quiet_ms, core_.config.policy);
  if (!inclusion && (is_next || seen.stands_on_other)) seen.lowest_since_post_ms = quiet_ms;
  domain::Follow what = domain::follow(facts->intent, seen, core_.config.policy);
  // With several numbers, known or lost, the proof is put together where all of them are read.
  const bool has_others = !facts->earlier_slots.empty() || !facts->ref_found_in.empty();
  if (what.move == domain::FollowMove::fail && has_others) {
    what.move = domain::FollowMove::back;
  }
  if (what.move == domain::FollowMove::wait) co_return false;
  const bool ends =
      seen.verdict == domain::Verdict::final || seen.verdict == domain::Verdict::failed;
  const auto says =
      what.move == domain::FollowMove::settle ? ports::Says::paid : ports::Says::unpaid;
  if (inclusion && ends && !co_await vouched(core_, unit_, inclusion->tx, says)) {
    co_await look_again(id, *inclusion);
    co_return false;
  }
  co_return co_await move(std::move(*facts), what, std::move(inclusion), seen.evidence);
}

Awaitable<bool> Listener::move(domain::Facts facts, domain::Follow what, Boxed<Inclusion> seen,
                               domain::Evidence evidence) {
  using domain::FollowMove;
  store::Move wanted;
  wanted.id = facts.intent.id;
  wanted.actor = domain::Actor::listener;
  wanted.reason = std::string(what.reason);
  wanted.version = facts.intent.version;
  wanted.queue_ms = core_.queue_ms();
  if (seen) {
    wanted.tx_hash = seen->tx.hash;
    for (const domain::Attempt& one : facts.attempts) {
      if (one.hash == seen->tx.hash) wanted.accepted = one.id;
    }
  }
  switch (what.move) {
    case FollowMove::confirm: wanted.to = domain::IntentState::confirming; break;
    case FollowMove::settle:
      wanted.to = domain::IntentState::settled;
      wanted.final_tx = seen->tx;
      wanted.final_is_noted = seen->tx.block.height <= unit_.final_noted.height;
      wanted.arrived = evidence.arrived;
      wanted.accepted.reset();
      break;
    case FollowMove::review: wanted.to = domain::IntentState::needs_review; break;
    case FollowMove::fail:
      wanted.to = domain::IntentState::failed;
      if (facts.slot) {
        wanted.proof = domain::AllSlotsConsumed{{domain::consumer_of(*facts.slot, seen->tx)}};
      }
      wanted.accepted.reset();
      break;
    case FollowMove::back: wanted.to = domain::IntentState::settling; break;
    case FollowMove::wait: co_return false;
  }
  const bool reverted_for_good =
      what.move == FollowMove::back && seen && what.reason == std::string_view("reverted");
  HOLDFAST_KILL_POINT_IF(what.move == FollowMove::settle, "KP8");
  auto moved = co_await core_.move(std::move(wanted));
  HOLDFAST_KILL_POINT_IF(what.move == FollowMove::settle && moved.has_value(), "KP9");
  if (!moved) {
    log::info("listener_race",
              {{"intent", domain::text(facts.intent.id)}, {"why", moved.error().detail}});
    co_return false;
  }
  if (what.move == FollowMove::review || what.move == FollowMove::fail) {
    core_.alarm("payment_did_not_move", {{"intent", domain::text(facts.intent.id)},
                                         {"ref", facts.intent.ref.hex()},
                                         {"tx", seen ? seen->tx.hash.hex() : ""},
                                         {"reason", what.reason}});
  }
  // A review or a failure has had its line where it was counted.
  if (what.move != FollowMove::review && what.move != FollowMove::fail) {
    log::info(domain::to_text(what.move), {{"intent", domain::text(facts.intent.id)},
                                           {"ref", facts.intent.ref.hex()},
                                           {"reason", what.reason}});
  }
  if (reverted_for_good && moved->slot && moved->slot->sequence == seen->tx.sequence) {
    co_await core_.consume_slot(*moved->slot, seen->tx, std::string(what.reason));
  }
  if (what.move == FollowMove::back) core_.wake();
  // Mined before it was called confirming: it may be final already.
  if (what.move == FollowMove::confirm) touched_.push_back(facts.intent.id);
  co_return true;
}

}  // namespace holdfast::engine

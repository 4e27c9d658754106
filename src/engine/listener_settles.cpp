// Owns: settling the plain payments, many in one write: confirming, by a transaction of their own
// that is final in a block that is followed. What is watched of them tells all that the table asks
// for, and the store holds it against its rows.
// Must never: settle what is plain no more. The version says whether anything was written since;
// whoever was refused is looked at for itself.
#include <algorithm>

#include "base/kill_point.hpp"
#include "engine/join.hpp"
#include "engine/listener.hpp"
#include "store/model.hpp"

namespace holdfast::engine {
namespace {

/// In one write: enough to share its cost, and no long wait for those behind it.
constexpr std::size_t page = 64;
/// Pages under way side by side.
constexpr std::size_t most_pages = 16;

}  // namespace

// Nothing here is asked of a node or read from the store.
std::optional<store::Move> Listener::plain_settle(const domain::IntentId& id) {
  const Watched* const watched = unit_.watch.find(id);
  const bool may_end = watched != nullptr && watched->inclusion && watched->inclusion->own_hash &&
                       watched->intent.state == domain::IntentState::confirming;
  if (!may_end) return std::nullopt;
  const domain::MinedTx& tx = watched->inclusion->tx;
  if (unit_.view.hash_at(tx.block.height) != tx.block.hash) return std::nullopt;
  ports::Method* const method = core_.method(watched->intent.terms);
  if (method == nullptr) return std::nullopt;
  domain::FollowSeen seen;
  seen.included = true;
  seen.own_hash = true;
  seen.verdict = domain::verdict(domain::Inclusion{tx.block, tx.succeeded}, tx.block.hash,
                                 unit_.view.heights(), unit_.chain.info().finality);
  if (seen.verdict != domain::Verdict::final) return std::nullopt;
  seen.evidence = method->evidence(watched->intent, tx, true);
  const domain::Follow what = domain::follow(watched->intent, seen, core_.config.policy);
  if (what.move != domain::FollowMove::settle) return std::nullopt;

  store::Move wanted;
  wanted.id = id;
  wanted.to = domain::IntentState::settled;
  wanted.actor = domain::Actor::listener;
  wanted.reason = std::string(what.reason);
  wanted.version = watched->intent.version;
  wanted.queue_ms = core_.queue_ms();
  wanted.tx_hash = tx.hash;
  wanted.final_tx = tx;
  wanted.final_is_noted = tx.block.height <= unit_.final_noted.height;
  wanted.arrived = seen.evidence.arrived;
  return wanted;
}

/// Returns those that are to be looked at one by one.
Awaitable<std::vector<domain::IntentId>> Listener::settle_plain(std::vector<domain::IntentId> ids) {
  std::vector<domain::IntentId> rest;
  std::vector<Awaitable<std::vector<domain::IntentId>>> pages;
  std::vector<store::Move> moves;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    core_.waiters.changed(ids[i]);
    if (auto move = plain_settle(ids[i])) {
      moves.push_back(std::move(*move));
    } else {
      rest.push_back(ids[i]);
    }
    const bool is_last = i + 1 == ids.size();
    if (moves.size() == page || (is_last && !moves.empty())) {
      pages.push_back(settle_page(std::exchange(moves, {})));
    }
    if (pages.size() < most_pages && !is_last) continue;
    for (const auto& refused : co_await join_all(std::exchange(pages, {}))) {
      rest.insert(rest.end(), refused.begin(), refused.end());
    }
  }
  co_return rest;
}

Awaitable<std::vector<domain::IntentId>> Listener::settle_page(std::vector<store::Move> moves) {
  std::vector<Awaitable<bool>> asked;
  asked.reserve(moves.size());
  for (const store::Move& one : moves) {
    asked.push_back(vouched(core_, unit_, *one.final_tx, ports::Says::paid));
  }
  // Who is not vouched for is looked at alone.
  const std::vector<bool> said = co_await join_all(std::move(asked));
  std::vector<store::Move> wanted;
  std::vector<domain::IntentId> ids;
  std::vector<domain::IntentId> refused;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!said[i]) {
      refused.push_back(moves[i].id);
      continue;
    }
    ids.push_back(moves[i].id);
    wanted.push_back(std::move(moves[i]));
  }
  if (wanted.empty()) co_return refused;
  for (std::size_t i = 0; i < wanted.size(); ++i) HOLDFAST_KILL_POINT("KP8");
  const auto settled = co_await core_.move_all(std::move(wanted));
  for ([[maybe_unused]] const auto& one : settled) {
    HOLDFAST_KILL_POINT_IF(one.has_value(), "KP9");
  }
  for (std::size_t i = 0; i < settled.size(); ++i) {
    if (settled[i].has_error()) {
      log::info("listener_race",
                {{"intent", domain::text(ids[i])}, {"why", settled[i].error().detail}});
      refused.push_back(ids[i]);
    } else if (log::is_on(log::Level::info)) {
      log::info(domain::to_text(domain::FollowMove::settle),
                {{"intent", domain::text(ids[i])},
                 {"ref", settled[i]->intent.ref.hex()},
                 {"reason", settled[i]->intent.reason}});
    }
  }
  co_return refused;
}

}  // namespace holdfast::engine

// Owns: the operators' desk: dead letters and accounts as they are asked for.
// The resolutions are in resolve.cpp.
#include <algorithm>

#include "engine/core.hpp"
#include "engine/errors.hpp"
#include "engine/requests.hpp"
#include "engine/shown.hpp"

namespace holdfast::engine {
namespace {

constexpr std::size_t most_empty_shown = 100;

using EndLetter = Result<store::SignedLetter> (*)(store::Txn&, std::int64_t,
                                                  const store::Signature&);

Awaitable<Result<DeadLetterAnswer>> end_letter(Core& core, Caller who, std::string route,
                                               std::int64_t number, std::string reason,
                                               EndLetter write) {
  if (reason.size() > longest_reason) {
    co_return refuse(EngineError::bad_terms, "reason: longer than 200 bytes");
  }
  const store::Signature by{who.id.value, std::move(reason), request_of(who, route), core.wall_ms(),
                            core.queue_ms()};
  auto ended = co_await core.parts.store.write(
      [write, number, by](store::Txn& txn) { return write(txn, number, by); });
  if (!ended) {
    if (ended.error().code == store::StoreError::not_found) {
      co_return refuse(EngineError::not_found, ended.error().detail);
    }
    co_return at_the_face(ended.error());
  }
  if (!ended->replayed) core.wake();
  co_return DeadLetterAnswer{shown(ended->letter), ended->replayed};
}

}  // namespace

Awaitable<DeadLetterPage> Engine::dead_letters(std::size_t limit, std::int64_t cursor,
                                               bool open_only) {
  const auto core = core_;
  const auto page = co_await core->parts.store.read(
      [=](store::Txn& txn) { return store::dead_letters(txn, limit, cursor, open_only); });
  co_return shown(page);
}

Awaitable<Result<DeadLetter>> Engine::dead_letter(std::int64_t number) {
  const auto core = core_;
  const auto row = co_await core->parts.store.read(
      [number](store::Txn& txn) { return store::dead_letter(txn, number); });
  if (!row) {
    co_return refuse(EngineError::not_found, "there is no dead letter " + std::to_string(number));
  }
  co_return shown(*row);
}

Awaitable<Result<DeadLetterAnswer>> Engine::redrive(Caller who, std::int64_t number,
                                                    std::string reason) {
  const auto core = core_;
  const std::string route = "redrive/" + std::to_string(number);
  co_return co_await end_letter(*core, std::move(who), route, number, std::move(reason),
                                &store::redrive);
}

Awaitable<Result<DeadLetterAnswer>> Engine::drop_dead_letter(Caller who, std::int64_t number,
                                                             std::string reason) {
  const auto core = core_;
  if (reason.empty()) {
    co_return refuse(EngineError::bad_terms, "reason: 1 to 200 bytes are needed");
  }
  const std::string route = "drop/" + std::to_string(number);
  co_return co_await end_letter(*core, std::move(who), route, number, std::move(reason),
                                &store::drop);
}

Awaitable<DeskCounts> Engine::desk_counts() {
  const auto core = core_;
  co_return co_await core->parts.store.read([](store::Txn& txn) {
    return DeskCounts{store::parked_count(txn), store::review_count(txn)};
  });
}

Awaitable<std::vector<AccountStatus>> Engine::accounts() {
  const auto core = core_;
  const auto rows =
      co_await core->parts.store.read([](store::Txn& txn) { return store::account_numbers(txn); });
  std::vector<AccountStatus> out;
  for (const store::AccountNumbers& row : rows) {
    AccountStatus status = shown(row);
    Unit* const unit = core->unit(row.chain);
    const AccountState* const state = unit == nullptr ? nullptr : unit->account(row.account);
    if (state == nullptr) {
      status.blocked = "not configured any more";
    } else {
      status.blocked = state->blocked;
      status.trouble = state->noop_trouble;
      for (const auto& [number, seen] : state->found_empty) {
        if (status.found_empty.size() == most_empty_shown) break;
        status.found_empty.push_back(number);
      }
      if (state->counts) {
        status.read = true;
        status.latest = state->counts->latest;
        status.pending = state->counts->pending;
        status.finalized = state->counts->finalized;
      }
    }
    out.push_back(std::move(status));
  }
  co_return out;
}

}  // namespace holdfast::engine

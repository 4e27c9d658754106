// Owns: the operators' desk: dead letters and accounts as they are asked for.
// The resolutions are in resolve.cpp.
#include <algorithm>

#include "engine/core.hpp"
#include "engine/errors.hpp"
#include "engine/requests.hpp"
#include "store/dead_letters.hpp"
#include "store/desk.hpp"

namespace holdfast::engine {
namespace {

DeadLetter letter_of(const store::DeadLetter& row) {
  DeadLetter out;
  out.number = row.row;
  out.job = row.job;
  out.at_ms = row.at_ms;
  out.deliveries = row.deliveries;
  out.lapsed_leases = row.lapsed_leases;
  out.verdict = row.verdict;
  out.state = row.state;
  out.state_now = row.state_now;
  out.cycles = row.cycles;
  if (row.end) {
    out.ended_as = row.end->as;
    out.ended_by = row.end->who;
    out.ended_why = row.end->why;
    out.ended_ms = row.end->at_ms;
  }
  return out;
}

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
  co_return DeadLetterAnswer{letter_of(ended->letter), ended->replayed};
}

}  // namespace

Awaitable<DeadLetterPage> Engine::dead_letters(std::size_t limit, std::int64_t cursor,
                                               bool open_only) {
  const auto core = core_;
  const auto page = co_await core->parts.store.read(
      [=](store::Txn& txn) { return store::dead_letters(txn, limit, cursor, open_only); });
  DeadLetterPage out;
  out.next = page.next;
  out.letters.reserve(page.letters.size());
  for (const store::DeadLetter& row : page.letters) out.letters.push_back(letter_of(row));
  co_return out;
}

Awaitable<Result<DeadLetter>> Engine::dead_letter(std::int64_t number) {
  const auto core = core_;
  const auto row = co_await core->parts.store.read(
      [number](store::Txn& txn) { return store::dead_letter(txn, number); });
  if (!row) {
    co_return refuse(EngineError::not_found, "there is no dead letter " + std::to_string(number));
  }
  co_return letter_of(*row);
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

Awaitable<std::vector<AccountStatus>> Engine::accounts() {
  const auto core = core_;
  const auto rows =
      co_await core->parts.store.read([](store::Txn& txn) { return store::account_numbers(txn); });
  std::vector<AccountStatus> out;
  for (const store::AccountNumbers& row : rows) {
    AccountStatus status;
    status.chain = row.chain;
    status.address = row.account;
    status.epoch = row.epoch;
    status.unconsumed = row.unconsumed;
    status.handed_over = row.handed_over;
    status.lowest_open = row.lowest_open;
    status.highest_open = row.highest_open;
    status.highest_used = row.highest_used;
    Unit* const unit = core->unit(row.chain);
    const AccountState* const state = unit == nullptr ? nullptr : unit->account(row.account);
    if (state == nullptr) {
      status.blocked = "not configured any more";
    } else {
      status.blocked = state->blocked;
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

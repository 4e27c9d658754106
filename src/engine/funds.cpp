#include "engine/funds.hpp"

#include <utility>

namespace holdfast::engine {
namespace {

constexpr std::int64_t look_every_ms = 10'000;
/// What a token transfer by signature takes, with room: less than this pays for no payment at all.
constexpr std::uint64_t gas_of_a_payment = 100'000;

}  // namespace

void note_funds(Core& core, Unit& unit, AccountState& account, bool is_unfunded) {
  if (std::exchange(account.is_unfunded, is_unfunded) == is_unfunded || !is_unfunded) return;
  core.alarm("account_unfunded", {{"chain", unit.id().value}, {"account", account.address.value}});
}

Awaitable<void> look_at_funds(Core& core, Unit& unit, AccountState& account) {
  const std::int64_t now_ms = core.parts.clock.mono_ms();
  AccountState::Funds& funds = account.funds;
  if (funds.looked_ms && now_ms - *funds.looked_ms < look_every_ms) co_return;
  funds.looked_ms = now_ms;
  const auto held = co_await unit.chain.native_balance(account.address);
  if (held.ok() == nullptr) co_return;
  const auto fees = co_await unit.chain.quote(gas_of_a_payment);
  if (fees.ok() == nullptr) co_return;
  const auto needed = fees.ok()->max_fee.times(U256(fees.ok()->gas_limit));
  const bool is_short = !needed || *held.ok() < *needed;
  // A node may have refused a dearer payment than this: then only more money than was there helps.
  const bool is_filled = funds.held && *held.ok() > *funds.held;
  if (is_short) {
    note_funds(core, unit, account, true);
  } else if (funds.is_short || is_filled) {
    note_funds(core, unit, account, false);
  }
  funds.is_short = is_short;
  funds.held = *held.ok();
}

}  // namespace holdfast::engine

// Owns: the EVM chain's fee quotes and its simulation.
#include <algorithm>

#include "evm/chain_fee_cache.hpp"

namespace holdfast::evm {

namespace json = boost::json;
using ports::Outcome;

namespace {
constexpr std::size_t answer_limit = 4096;  // a payment's call returns nothing, or a word
}

template <class T, class Ask>
ports::Awaitable<Outcome<T>> EvmChain::would_run_by(domain::Address sender, ports::Call call,
                                                    std::optional<std::uint64_t> gas, Ask ask) {
  // What carries data and no value is for a contract; an address without one would take it and do
  // nothing, and the answer would be well.
  if (call.value.is_zero() && !call.payload.empty()) {
    const Outcome<bool> there = co_await check_code(call.target);
    if (there.ok() == nullptr) co_return there.failure<T>();
  }
  json::object tx{{"from", sender.value}, {"to", call.target.value}};
  if (gas) tx["gas"] = quantity(*gas);
  if (!call.value.is_zero()) tx["value"] = call.value.quantity();
  if (!call.payload.empty()) tx["data"] = to_0x(call.payload);
  json::array params;
  params.emplace_back(std::move(tx));
  params.emplace_back("latest");
  // One that is behind refuses what would run: a no is asked of all, one after the other.
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<T>();
  Said<T> said;
  for (Rpc* voice : *voices.ok()) {
    said.push_back(co_await ask(*voice, params));
    if (said.back().ok() != nullptr) break;
  }
  co_return agreed_run(said);
}

ports::Awaitable<Outcome<ports::Simulated>> EvmChain::simulate(domain::Address sender,
                                                               ports::Call call) {
  if (const auto known = known_gas_.of(call, clock_.mono_ms())) {
    const std::uint64_t gas = std::min(*known, fee_policy_.gas_cap);
    const Outcome<bool> runs = co_await would_run_by<bool>(
        sender, call, gas,
        [this](Rpc& voice, json::array params) { return run_of(voice, std::move(params)); });
    if (runs.ok() != nullptr) co_return ports::Simulated{gas};
    const ports::Unknown* const unread = runs.unknown();
    if (runs.refused() == nullptr && (unread == nullptr || !unread->answered)) {
      co_return runs.failure<ports::Simulated>();
    }
  }
  const auto estimate = co_await would_run_by<ports::Simulated>(
      std::move(sender), call, std::nullopt,
      [this](Rpc& voice, json::array params) { return estimate_of(voice, std::move(params)); });
  if (const ports::Simulated* const found = estimate.ok()) {
    known_gas_.note(call, found->gas, clock_.mono_ms());
  }
  co_return estimate;
}

// A no is what `simulate` says, so that whoever asks one and then the other hears the same: nodes
// differ in the time of the block they run a call in, and in how they say that the gas ran out.
ports::Awaitable<Outcome<bool>> EvmChain::would_run(domain::Address sender, ports::Call call) {
  Outcome<bool> answer = co_await would_run_by<bool>(
      sender, call, fee_policy_.gas_cap,
      [this](Rpc& voice, json::array params) { return run_of(voice, std::move(params)); });
  const ports::Unknown* const unread = answer.unknown();
  const bool was_answered = unread != nullptr && unread->answered;
  if (answer.refused() == nullptr && !was_answered) co_return answer;
  co_return co_await ports::Chain::would_run(std::move(sender), std::move(call));
}

ports::Awaitable<Outcome<bool>> EvmChain::run_of(Rpc& voice, json::array params) {
  const Answer answer = co_await voice.call("eth_call", std::move(params));
  if (answer.ok() == nullptr) co_return answer.failure<bool>();
  const Read<Bytes> returned = read_data(*answer.ok(), "what the call returns", answer_limit);
  if (!returned) co_return unknown(returned.error());
  co_return true;
}

ports::Awaitable<Outcome<ports::Simulated>> EvmChain::estimate_of(Rpc& voice, json::array params) {
  const Answer answer = co_await voice.call("eth_estimateGas", std::move(params));
  if (answer.ok() == nullptr) co_return answer.failure<ports::Simulated>();
  const Read<std::uint64_t> gas = read_number(*answer.ok(), "the gas estimate");
  if (!gas) co_return unknown(gas.error());
  if (*gas == 0) co_return unknown("the gas estimate is zero");
  // A no as well, as `quote` would say it: here the other endpoints are still asked.
  if (auto over = over_gas_cap(*gas, fee_policy_)) co_return *std::move(over);
  co_return ports::Simulated{*gas};
}

ports::Awaitable<Outcome<FeeHistory>> EvmChain::fee_history() {
  FeeCache& cache = *fee_cache_;
  while (cache.asking) {
    const std::shared_ptr<FeeCache::Asking> asking = cache.asking;
    ports::Waiter waiter;
    co_await waiter.park(asking->waiting);
    if (asking->answer) co_return *asking->answer;
  }
  const std::int64_t now_ms = clock_.mono_ms();
  if (cache.history && now_ms - cache.read_ms < fee_history_ms) co_return *cache.history;
  if (cache.history && now_ms - cache.read_ms < rewards_ms) {
    if (const auto base_fee = next_base_fee(now_ms)) {
      co_return FeeHistory{*base_fee, cache.history->rewards};
    }
  }

  const FeeCache::Turn turn(fee_cache_);
  const Answer answer = co_await rpc_.call("eth_feeHistory", fee_history_params());
  turn.asking->answer = answer.ok() == nullptr ? answer.failure<FeeHistory>()
                                               : outcome_of(read_fee_history(*answer.ok()));
  if (const FeeHistory* history = turn.asking->answer->ok()) {
    cache.history = *history;
    cache.read_ms = now_ms;
  }
  co_return *turn.asking->answer;
}

std::optional<U256> EvmChain::next_base_fee(std::int64_t now_ms) const {
  std::optional<U256> out;
  for (const auto& [voice, heard] : heard_) {
    if (!heard.base_fee || now_ms - heard.newest_ms >= fee_history_ms) continue;
    const std::optional<U256> nine = heard.base_fee->times(9);
    const std::optional<U256> next = nine ? nine->divided_by(8) : std::nullopt;
    if (next) out = std::max(out, next);
  }
  return out;
}

ports::Awaitable<Outcome<domain::Fees>> EvmChain::quote(std::uint64_t gas) {
  const Outcome<FeeHistory> history = co_await fee_history();
  if (history.ok() == nullptr) co_return history.failure<domain::Fees>();
  co_return fees_for(gas, *history.ok(), fee_policy_);
}

ports::Awaitable<Outcome<std::optional<domain::TxHash>>> EvmChain::send_order(domain::IntentId,
                                                                              domain::Terms) {
  co_return ports::Refused{ports::RefusalKind::other, "this chain takes signed bytes, not orders"};
}

}  // namespace holdfast::evm

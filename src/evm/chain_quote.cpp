// Owns: the EVM chain's fee quotes, its simulation, and the posting of signed bytes.
#include "evm/chain_fee_cache.hpp"
#include "evm/node_errors.hpp"

namespace holdfast::evm {

namespace json = boost::json;
using ports::Outcome;

ports::Awaitable<Outcome<ports::Simulated>> EvmChain::simulate(domain::Address sender,
                                                               ports::Call call) {
  json::object tx{{"from", sender.value}, {"to", call.target.value}};
  if (!call.value.is_zero()) tx["value"] = call.value.quantity();
  if (!call.payload.empty()) tx["data"] = to_0x(call.payload);
  json::array params;
  params.emplace_back(std::move(tx));
  params.emplace_back("latest");
  const Answer answer = co_await rpc_.call("eth_estimateGas", std::move(params));
  if (answer.ok() == nullptr) co_return answer.failure<ports::Simulated>();
  const Read<std::uint64_t> gas = read_number(*answer.ok(), "the gas estimate");
  if (!gas) co_return unknown(gas.error());
  if (*gas == 0) co_return unknown("the gas estimate is zero");
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

  const auto asking = std::make_shared<FeeCache::Asking>();
  cache.asking = asking;
  try {
    const Answer answer = co_await rpc_.call("eth_feeHistory", fee_history_params());
    asking->answer = answer.ok() == nullptr ? answer.failure<FeeHistory>()
                                            : outcome_of(read_fee_history(*answer.ok()));
  } catch (...) {
    // Cancelled: the next of those who wait asks in our place.
    cache.asking.reset();
    asking->waiting.wake_all();
    throw;
  }
  if (const FeeHistory* history = asking->answer->ok()) {
    cache.history = *history;
    cache.read_ms = now_ms;
  }
  cache.asking.reset();
  asking->waiting.wake_all();
  co_return *asking->answer;
}

ports::Awaitable<Outcome<domain::Fees>> EvmChain::quote(std::uint64_t gas) {
  const Outcome<FeeHistory> history = co_await fee_history();
  if (history.ok() == nullptr) co_return history.failure<domain::Fees>();
  co_return fees_for(gas, *history.ok(), fee_policy_);
}

ports::Awaitable<Outcome<ports::Posted>> EvmChain::post(Bytes bytes, domain::TxHash hash) {
  json::array params;
  params.emplace_back(to_0x(bytes));
  const Answer answer = co_await rpc_.call("eth_sendRawTransaction", std::move(params));
  if (const ports::Refused* refused = answer.refused()) {
    if (says_already_known(*refused)) co_return ports::Posted{.already_known = true};
  }
  if (answer.ok() == nullptr) co_return answer.failure<ports::Posted>();
  const Read<domain::TxHash> answered = read_hash(*answer.ok(), "the hash of the post");
  if (!answered) co_return unknown(answered.error());
  // Another hash means that the node holds something else than was sent: what, nobody knows.
  if (*answered != hash) co_return unknown("the node answered another hash than the bytes have");
  co_return ports::Posted{.already_known = false};
}

ports::Awaitable<Outcome<std::optional<domain::TxHash>>> EvmChain::send_order(domain::IntentId,
                                                                              domain::Terms) {
  co_return ports::Refused{ports::RefusalKind::other, "this chain takes signed bytes, not orders"};
}

}  // namespace holdfast::evm

// Owns: reading what became of a payer's permit on the chain. Permit2 writes no event of a use: the
// transfers that a use makes lead to its transaction, whose call data says which nonce it was.
#include <algorithm>

#include "evm/methods/bearer_state.hpp"
#include "evm/methods/permit2.hpp"

namespace holdfast::evm {

namespace json = boost::json;
using domain::AuthorizationSeen;
using ports::Outcome;

namespace {

/// Transfers of one payer in one range of blocks; more of them is another answer than is asked for.
constexpr std::size_t logs_expected = 1'000;

std::string topic_of(const Address20& address) {
  Bytes32 out;
  std::ranges::copy(address.value, out.value.begin() + 12);
  return out.hex();
}

json::array log_filter(const EvmTerms& terms, bool to_payee, std::uint64_t low,
                       std::uint64_t high) {
  json::array wanted;
  wanted.emplace_back(topics::transfer.hex());
  wanted.emplace_back(topic_of(terms.payer));
  if (to_payee) wanted.emplace_back(topic_of(terms.payee));
  json::object filter{{"fromBlock", quantity(low)},
                      {"toBlock", quantity(high)},
                      {"address", to_checksum(terms.token)}};
  filter["topics"] = std::move(wanted);
  json::array params;
  params.emplace_back(std::move(filter));
  return params;
}

/// What was asked for, and not another log that a node throws in.
bool is_of(const EvmTerms& terms, const FoundLog& found) {
  const Result<TransferEvent> transfer = decode_transfer_event(found.log);
  return transfer && transfer->token == terms.token && transfer->from == terms.payer;
}

}  // namespace

ports::Awaitable<std::optional<bool>> Permit2Method::state(Rpc& voice, const domain::Intent& intent,
                                                           std::string at) {
  const U256 nonce = *U256::from_big_endian(intent.authorization->nonce.value);
  const Outcome<Bytes> answer = co_await chain_.call_contract_of(
      voice, permit2_address, encode_nonce_bitmap(terms_of(intent)->payer, nonce), std::move(at));
  if (answer.ok() == nullptr) co_return std::nullopt;
  const Result<bool> used = decode_nonce_used(*answer.ok(), nonce);
  if (!used) co_return std::nullopt;
  co_return *used;
}

ports::Awaitable<AuthorizationSeen> Permit2Method::read_authorization(domain::Intent intent) {
  if (!intent.authorization || !terms_of(intent)) co_return AuthorizationSeen{};
  const StateOf state_of = [&](Rpc& voice, std::string at) {
    return state(voice, intent, std::move(at));
  };
  const std::optional<bool> ended = co_await has_ended(chain_, state_of);
  if (!ended) co_return AuthorizationSeen{};
  if (*ended) co_return co_await used(intent);
  AuthorizationSeen seen = co_await seen_unused(chain_, state_of);
  // Permit2 runs it in a block of the deadline's own second still, which is not before the end: a
  // later time than the end has to be seen.
  if (seen.unused_at_final_s) --*seen.unused_at_final_s;
  co_return seen;
}

ports::Awaitable<AuthorizationSeen> Permit2Method::used(const domain::Intent& intent) {
  const Outcome<ports::Head> head = co_await chain_.head();
  if (head.ok() == nullptr) co_return AuthorizationSeen{};
  Search budget{.newest = head.ok()->latest.height,
                .calls = options_.log_calls,
                .reads = options_.most_read,
                .read = {}};
  AuthorizationSeen seen = co_await search(intent, true, budget);
  if (seen.result == AuthorizationSeen::Result::unknown) {
    seen = co_await search(intent, false, budget);
  }
  co_return seen;
}

ports::Awaitable<AuthorizationSeen> Permit2Method::search(const domain::Intent& intent,
                                                          bool to_payee, Search& budget) {
  const EvmTerms terms = *terms_of(intent);
  const std::uint64_t span = std::max<std::uint64_t>(options_.log_span_blocks, 1);
  const std::uint64_t lowest = budget.newest - std::min(budget.newest, span - 1);
  std::uint64_t high = budget.newest;
  for (; budget.calls > 0; --budget.calls) {
    const std::uint64_t range = std::max<std::uint64_t>(log_range_blocks_, 1);
    const std::uint64_t low = std::max(lowest, high - std::min(high, range - 1));
    const Answer answer =
        co_await chain_.rpc().call("eth_getLogs", log_filter(terms, to_payee, low, high));
    if (answer.ok() == nullptr) {
      // As in the search for an event: too many blocks is worded in too many ways.
      const bool hopeless = answer.not_sent() != nullptr ||
                            (answer.unknown() != nullptr && answer.unknown()->rate_limited);
      if (hopeless || range == 1) co_return AuthorizationSeen{};
      log_range_blocks_ = range / 4;
      continue;
    }
    const Read<std::vector<FoundLog>> logs = read_logs(*answer.ok(), logs_expected);
    if (!logs) co_return AuthorizationSeen{};
    for (auto log = logs->rbegin(); log != logs->rend(); ++log) {
      if (!is_of(terms, *log)) co_return AuthorizationSeen{};
      if (std::ranges::find(budget.read, log->tx) != budget.read.end()) continue;
      if (budget.reads == 0) co_return AuthorizationSeen{};
      --budget.reads;
      budget.read.push_back(log->tx);
      AuthorizationSeen seen = co_await judge(intent, log->tx);
      if (seen.result != AuthorizationSeen::Result::unknown) co_return seen;
    }
    if (low == lowest) co_return AuthorizationSeen{};
    high = low - 1;
  }
  co_return AuthorizationSeen{};
}

ports::Awaitable<AuthorizationSeen> Permit2Method::judge(const domain::Intent& intent,
                                                         domain::TxHash hash) {
  AuthorizationSeen seen;
  std::optional<ReadUse> read = co_await read_use(chain_, hash);
  if (!read || !domain::uses_authorization(intent, read->tx)) co_return seen;
  const domain::Moved moved = domain::evidence_of_authorization(intent, read->tx).moved;
  const bool exactly = moved == domain::Moved::exact || moved == domain::Moved::less;
  seen.result =
      exactly ? AuthorizationSeen::Result::used_exactly : AuthorizationSeen::Result::used_otherwise;
  seen.tx = std::move(read->tx);
  seen.is_final = read->is_final;
  if (!exactly && seen.is_final) seen.is_final = co_await is_vouched_unpaid(chain_, *seen.tx);
  co_return seen;
}

}  // namespace holdfast::evm

// Owns: reading what became of a payer's authorization on the chain.
#include <algorithm>

#include "evm/methods/bearer_state.hpp"
#include "evm/methods/transfer_authorization.hpp"

namespace holdfast::evm {

namespace json = boost::json;
using domain::AuthorizationSeen;
using ports::Outcome;

namespace {

/// One authorization comes to its end once; more events than this are not what was asked for.
constexpr std::size_t logs_expected = 16;

Bytes32 word_of(const Address20& address) {
  Bytes32 out;
  std::ranges::copy(address.value, out.value.begin() + 12);
  return out;
}

/// The authorization as the chain knows it.
struct Key {
  Address20 token;
  Address20 payer;
  Bytes32 nonce;
};

Key key_of(const domain::Intent& intent, const EvmTerms& terms) {
  return {.token = terms.token, .payer = terms.payer, .nonce = {intent.authorization->nonce.value}};
}

json::array log_filter(const Key& key, std::uint64_t low, std::uint64_t high) {
  json::array ends{topics::authorization_used.hex(), topics::authorization_canceled.hex()};
  json::array wanted;
  wanted.emplace_back(std::move(ends));
  wanted.emplace_back(word_of(key.payer).hex());
  wanted.emplace_back(key.nonce.hex());
  json::object filter{{"fromBlock", quantity(low)},
                      {"toBlock", quantity(high)},
                      {"address", to_checksum(key.token)}};
  filter["topics"] = std::move(wanted);
  json::array params;
  params.emplace_back(std::move(filter));
  return params;
}

bool is_end_of(const Key& key, const FoundLog& found) {
  const Log& log = found.log;
  return log.address == key.token && log.topics.size() == 3 && log.topics[0] != topics::transfer &&
         log.topics[1] == word_of(key.payer) && log.topics[2] == key.nonce;
}

/// What the transaction that ended the authorization made of it.
AuthorizationSeen::Result result_of(const domain::Intent& intent, const domain::MinedTx& tx,
                                    bool by_cancel) {
  using enum AuthorizationSeen::Result;
  if (by_cancel) return domain::cancels_authorization(intent, tx) ? canceled : unknown;
  switch (domain::evidence_of_authorization(intent, tx).moved) {
    case domain::Moved::exact:
    case domain::Moved::less: return used_exactly;
    case domain::Moved::other: return used_otherwise;
    case domain::Moved::nothing: return unknown;
  }
  return unknown;
}

}  // namespace

ports::Awaitable<std::optional<bool>> TransferAuthorizationMethod::state(
    Rpc& voice, const domain::Intent& intent, std::string at) {
  const Key key = key_of(intent, *terms_of(intent));
  const Outcome<Bytes> answer = co_await chain_.call_contract_of(
      voice, key.token, encode_authorization_state(key.payer, key.nonce), std::move(at));
  if (answer.ok() == nullptr) co_return std::nullopt;
  const Result<bool> ended = decode_authorization_state(*answer.ok());
  if (!ended) co_return std::nullopt;
  co_return *ended;
}

ports::Awaitable<AuthorizationSeen> TransferAuthorizationMethod::read_authorization(
    domain::Intent intent) {
  if (!intent.authorization || !terms_of(intent)) co_return AuthorizationSeen{};
  const StateOf state_of = [&](Rpc& voice, std::string at) {
    return state(voice, intent, std::move(at));
  };
  const std::optional<bool> ended = co_await has_ended(chain_, state_of);
  if (!ended) co_return AuthorizationSeen{};
  if (*ended) co_return co_await used(intent);
  co_return co_await seen_unused(chain_, state_of);
}

ports::Awaitable<AuthorizationSeen> TransferAuthorizationMethod::used(
    const domain::Intent& intent) {
  AuthorizationSeen seen;
  const Outcome<ports::Head> head = co_await chain_.head();
  if (head.ok() == nullptr) co_return seen;
  const std::optional<Use> use = co_await find_use(intent, head.ok()->latest.height);
  if (!use) co_return seen;
  std::optional<ReadUse> read = co_await read_use(chain_, use->tx);
  if (!read) co_return seen;
  seen.result = result_of(intent, read->tx, use->canceled);
  if (seen.result == AuthorizationSeen::Result::unknown) co_return seen;
  seen.tx = std::move(read->tx);
  seen.is_final = read->is_final;
  if (seen.result != AuthorizationSeen::Result::used_exactly && seen.is_final) {
    seen.is_final = co_await is_vouched_unpaid(chain_, *seen.tx);
  }
  co_return seen;
}

ports::Awaitable<std::optional<TransferAuthorizationMethod::Use>>
TransferAuthorizationMethod::find_use(const domain::Intent& intent, std::uint64_t newest) {
  const Key key = key_of(intent, *terms_of(intent));
  const std::uint64_t span = std::max<std::uint64_t>(options_.log_span_blocks, 1);
  const std::uint64_t lowest = newest - std::min(newest, span - 1);
  std::uint64_t high = newest;
  for (std::uint32_t calls = 0; calls < options_.log_calls; ++calls) {
    const std::uint64_t range = std::max<std::uint64_t>(log_range_blocks_, 1);
    const std::uint64_t low = std::max(lowest, high - std::min(high, range - 1));
    const Answer answer = co_await chain_.rpc().call("eth_getLogs", log_filter(key, low, high));
    if (answer.ok() == nullptr) {
      // Nodes word "too many blocks" in too many ways to be told from other trouble: ask for less,
      // and remember it. Six times less than two thousand blocks is one.
      const bool hopeless = answer.not_sent() != nullptr ||
                            (answer.unknown() != nullptr && answer.unknown()->rate_limited);
      if (hopeless || range == 1) co_return std::nullopt;
      log_range_blocks_ = range / 4;
      continue;
    }
    const Read<std::vector<FoundLog>> logs = read_logs(*answer.ok(), logs_expected);
    if (!logs) co_return std::nullopt;
    for (const FoundLog& log : *logs) {
      if (!is_end_of(key, log)) co_return std::nullopt;
      co_return Use{log.tx, log.log.topics[0] == topics::authorization_canceled};
    }
    if (low == lowest) co_return std::nullopt;
    high = low - 1;
  }
  co_return std::nullopt;
}

}  // namespace holdfast::evm

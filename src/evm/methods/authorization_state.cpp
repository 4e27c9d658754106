// Owns: reading what became of a payer's authorization on the chain.
#include <algorithm>

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

bool cancels(const domain::Intent& intent, const domain::MinedTx& tx) {
  return std::ranges::any_of(tx.authorizations, [&](const domain::AuthorizationEvent& event) {
    return event.canceled && event.asset == intent.terms.asset &&
           event.authorizer == intent.terms.payer && event.nonce == intent.authorization->nonce;
  });
}

/// What the transaction that ended the authorization made of it.
AuthorizationSeen::Result result_of(const domain::Intent& intent, const domain::MinedTx& tx,
                                    bool by_cancel) {
  using enum AuthorizationSeen::Result;
  if (by_cancel) return cancels(intent, tx) ? canceled : unknown;
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
  AuthorizationSeen seen;
  if (!intent.authorization || !terms_of(intent)) co_return seen;
  const Outcome<Voices> voices = co_await chain_.rpc().voices();
  if (voices.ok() == nullptr) co_return seen;
  // That it was used is looked for where one of them knows of it; that it was not is believed of
  // all of them together: one that is behind would have a payment end that somebody else has made.
  bool all_answered = true;
  for (Rpc* voice : *voices.ok()) {
    const std::optional<bool> ended = co_await state(*voice, intent, "latest");
    if (ended && *ended) co_return co_await used(intent);
    all_answered = all_answered && ended;
  }
  if (!all_answered) co_return seen;
  co_return co_await unused(intent);
}

/// The block first, then the state of exactly that block: a state read before its block could be
/// older than the time it is claimed for. Every endpoint is asked, each for its own final block:
/// the earliest of their times is the one that all of them vouch for.
ports::Awaitable<AuthorizationSeen> TransferAuthorizationMethod::unused(
    const domain::Intent& intent) {
  AuthorizationSeen seen;
  seen.result = AuthorizationSeen::Result::unused;
  const Outcome<Voices> voices = co_await chain_.rpc().voices();
  if (voices.ok() == nullptr) co_return seen;
  std::optional<std::int64_t> earliest_s;
  bool all_answered = true;
  for (Rpc* voice : *voices.ok()) {
    const Outcome<Header> final = co_await chain_.final_block_of(*voice);
    if (final.ok() == nullptr) {
      all_answered = false;
      continue;
    }
    const std::optional<bool> ended =
        co_await state(*voice, intent, quantity(final.ok()->ref.height));
    // Ended in a final block and not in the newest: nodes that disagree, and none is believed.
    if (ended && *ended) co_return AuthorizationSeen{};
    all_answered = all_answered && ended;
    earliest_s = std::min(earliest_s.value_or(final.ok()->time_s), final.ok()->time_s);
  }
  if (all_answered && !chain_.is_sole_voice(*voices.ok())) seen.unused_at_final_s = earliest_s;
  co_return seen;
}

ports::Awaitable<AuthorizationSeen> TransferAuthorizationMethod::used(
    const domain::Intent& intent) {
  AuthorizationSeen seen;
  const Outcome<ports::Head> head = co_await chain_.head();
  if (head.ok() == nullptr) co_return seen;
  const std::optional<Use> use = co_await find_use(intent, head.ok()->latest.height);
  if (!use) co_return seen;
  // Final as of before the transaction is read: its block is then checked to be canonical still.
  const Outcome<Header> final = co_await chain_.final_block();
  if (final.ok() == nullptr) co_return seen;
  Outcome<ports::Whereabouts> found = co_await chain_.find(use->tx);
  if (found.ok() == nullptr || !found.ok()->tx) co_return seen;
  seen.result = result_of(intent, *found.ok()->tx, use->canceled);
  if (seen.result == AuthorizationSeen::Result::unknown) co_return seen;
  seen.tx = std::move(found.ok()->tx);
  seen.is_final = seen.tx->block.height <= final.ok()->ref.height;
  // A payment fails by a use on other terms or a cancel: not on one endpoint's word.
  if (seen.result != AuthorizationSeen::Result::used_exactly && seen.is_final) {
    const Outcome<bool> vouched = co_await chain_.vouch(*seen.tx, ports::Says::unpaid);
    seen.is_final = vouched.ok() != nullptr;
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

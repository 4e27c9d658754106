// Owns: the chain's word, made of what its endpoints say.
#include <algorithm>
#include <iterator>
#include <utility>

#include "evm/chain.hpp"
#include "evm/node_errors.hpp"

namespace holdfast::evm {

namespace json = boost::json;
using ports::Outcome;
using ports::Whereabouts;

namespace {
constexpr std::size_t most_contracts = 1'024;  // remembered; an asset each
}

template <class T, class Read>
ports::Awaitable<Said<T>> EvmChain::everybody(Voices voices, Read read) {
  std::vector<ports::Awaitable<Outcome<T>>> reads;
  reads.reserve(voices.size());
  for (Rpc* voice : voices) reads.push_back(read(*voice));
  co_return co_await together(std::move(reads));
}

template <class T, class Read>
ports::Awaitable<Outcome<T>> EvmChain::in_turn(Read read) {
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<T>();
  Said<T> said;
  for (Rpc* voice : *voices.ok()) {
    said.push_back(co_await read(*voice));
    if (said.back().ok() != nullptr) co_return std::move(said.back());
  }
  co_return agreed_failure(said);
}

template <class T, class Read>
ports::Awaitable<Outcome<std::optional<T>>> EvmChain::whoever_has_it(Read read) {
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<std::optional<T>>();
  Said<std::optional<T>> said;
  bool all_answered = true;
  for (Rpc* voice : *voices.ok()) {
    said.push_back(co_await read(*voice));
    const std::optional<T>* answer = said.back().ok();
    if (answer != nullptr && *answer) co_return std::move(said.back());
    all_answered = all_answered && answer != nullptr;
  }
  if (all_answered) co_return std::optional<T>{};
  co_return agreed_failure(said);
}

ports::Awaitable<Outcome<ports::Head>> EvmChain::head() {
  co_return co_await in_turn<ports::Head>([this](Rpc& voice) { return head_of(voice); });
}

ports::Awaitable<Outcome<std::optional<ports::Block>>> EvmChain::block(std::uint64_t height) {
  co_return co_await whoever_has_it<ports::Block>(
      [this, height](Rpc& voice) { return block_of(voice, height); });
}

ports::Awaitable<Outcome<std::optional<domain::BlockHash>>> EvmChain::block_hash(
    std::uint64_t height) {
  co_return co_await whoever_has_it<domain::BlockHash>(
      [this, height](Rpc& voice) { return block_hash_of(voice, height); });
}

ports::Awaitable<Outcome<Header>> EvmChain::final_block() {
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<Header>();
  const Said<Header> said = co_await everybody<Header>(
      *voices.ok(), [this](Rpc& voice) { return final_block_of(voice); });
  const Header* lowest = nullptr;
  for (const Outcome<Header>& one : said) {
    const Header* header = one.ok();
    if (header != nullptr && (lowest == nullptr || header->ref.height < lowest->ref.height)) {
      lowest = header;
    }
  }
  if (lowest == nullptr) co_return agreed_failure(said);
  co_return *lowest;
}

/// Mostly the first endpoint has it; the others are asked where it has not.
ports::Awaitable<Outcome<Whereabouts>> EvmChain::find(domain::TxHash hash) {
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<Whereabouts>();
  Said<Whereabouts> said;
  said.push_back(co_await find_of(*voices.ok()->front(), hash));
  const Whereabouts* first = said.front().ok();
  const bool has_it = first != nullptr && first->place != Whereabouts::Place::not_found;
  if (!has_it && voices.ok()->size() > 1) {
    Said<Whereabouts> rest =
        co_await everybody<Whereabouts>(Voices(voices.ok()->begin() + 1, voices.ok()->end()),
                                        [this, hash](Rpc& voice) { return find_of(voice, hash); });
    std::ranges::move(rest, std::back_inserter(said));
  }
  co_return agreed_place(said);
}

ports::Awaitable<Outcome<ports::SequenceCounts>> EvmChain::sequences(domain::Address account) {
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<ports::SequenceCounts>();
  const Said<ports::SequenceCounts> said = co_await everybody<ports::SequenceCounts>(
      *voices.ok(), [this, account](Rpc& voice) { return sequences_of(voice, account); });
  co_return agreed_counts(said);
}

ports::Awaitable<Outcome<std::optional<domain::MinedTx>>> EvmChain::consumer(
    domain::Address account, domain::Sequence at) {
  using Found = std::optional<domain::MinedTx>;
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<Found>();
  const Said<Found> said = co_await everybody<Found>(
      *voices.ok(), [this, account, at](Rpc& voice) { return consumer_of(voice, account, at); });
  const Outcome<Found> agreed = agreed_consumer(said);
  if (agreed.ok() == nullptr || !*agreed.ok()) co_return agreed;
  // Who keeps no state of that age cannot search, but it knows the block.
  const domain::BlockRef block = (*agreed.ok())->block;
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (said[i].ok() != nullptr) continue;
    const auto hash = co_await block_hash_of(*(*voices.ok())[i], block.height);
    if (hash.ok() == nullptr || *hash.ok() != block.hash) {
      co_return unknown("not every endpoint has the block that used this number");
    }
  }
  co_return agreed;
}

// --- code at an address -----------------------------------------------------------------------

ports::Awaitable<Outcome<bool>> EvmChain::has_code_of(Rpc& voice, domain::Address address) {
  const Answer answer = co_await voice.call("eth_getCode", json::array{address.value, "latest"});
  if (answer.ok() == nullptr) co_return answer.failure<bool>();
  // Only whether there is any is asked for; a contract's code may be long.
  const json::string* text = answer.ok()->if_string();
  if (text == nullptr || !text->starts_with("0x")) co_return unknown("the code is not data");
  co_return text->size() > 2;
}

ports::Awaitable<Outcome<bool>> EvmChain::check_code(domain::Address target) {
  if (has_code_.contains(target)) co_return true;
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<bool>();
  const Said<bool> said = co_await everybody<bool>(
      *voices.ok(), [this, target](Rpc& voice) { return has_code_of(voice, target); });
  bool all_answered = true;
  for (const Outcome<bool>& one : said) {
    all_answered = all_answered && one.ok() != nullptr;
    if (one.ok() == nullptr || !*one.ok()) continue;
    if (has_code_.size() < most_contracts) has_code_.insert(target);
    co_return true;
  }
  if (!all_answered) co_return agreed_failure(said);
  co_return ports::Refused{ports::RefusalKind::reverted, "no contract at " + target.value};
}

// --- posting ----------------------------------------------------------------------------------

namespace {

Outcome<ports::Posted> read_post(const Answer& answer, const domain::TxHash& hash) {
  if (const ports::Refused* refused = answer.refused()) {
    if (says_already_known(*refused)) return ports::Posted{.already_known = true};
  }
  if (answer.ok() == nullptr) return answer.failure<ports::Posted>();
  const Read<domain::TxHash> answered = read_hash(*answer.ok(), "the hash of the post");
  if (!answered) return unknown(answered.error());
  // Another hash means that the node holds something else than was sent: what, nobody knows.
  if (*answered != hash) return unknown("the node answered another hash than the bytes have");
  return ports::Posted{.already_known = false};
}

}  // namespace

ports::Awaitable<Outcome<ports::Posted>> EvmChain::post(Bytes bytes, domain::TxHash hash) {
  json::array params;
  params.emplace_back(to_0x(bytes));
  const std::vector<Answer> answers = co_await rpc_.call_everywhere(
      "eth_sendRawTransaction", std::move(params),
      [hash](const Answer& answer) { return read_post(answer, hash).ok() != nullptr; });
  Said<ports::Posted> said;
  for (const Answer& answer : answers) said.push_back(read_post(answer, hash));
  co_return agreed_post(said);
}

}  // namespace holdfast::evm

// Owns: the chain's word, made of what its endpoints say.
#include <algorithm>
#include <iterator>
#include <utility>

#include "evm/chain.hpp"
#include "evm/node_errors.hpp"
#include "evm/voices.hpp"

namespace holdfast::evm {

namespace json = boost::json;
using ports::Outcome;
using ports::Whereabouts;

namespace {
constexpr std::size_t most_contracts = 1'024;  // remembered; an asset each
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
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<ports::Head>();
  const Said<ports::Head> said = co_await everybody<ports::Head>(
      *voices.ok(), [this, first = voices.ok()->front()](Rpc& voice) {
        return head_of(voice, &voice == first);  // who is asked for blocks first
      });
  Voices heard;
  std::vector<HeadSeen> newest;
  std::vector<ports::Head> heads;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const ports::Head* head = said[i].ok();
    if (head == nullptr) continue;
    heard.push_back((*voices.ok())[i]);
    newest.push_back({head->latest.height, head->latest_time_s});
    heads.push_back(*head);
  }
  if (heard.empty()) co_return agreed_failure(said);
  const std::vector<bool> behind = rpc_.behind(heard, newest);
  Voices trusted;
  std::vector<ports::Head> current;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    if (behind[i]) continue;
    trusted.push_back(heard[i]);
    current.push_back(heads[i]);
  }
  co_return co_await same_final_block(std::move(trusted), std::move(current));
}

/// The lowest final block counts when all of them have that very block: whose final block is a
/// later one is asked for its own at that height.
ports::Awaitable<Outcome<ports::Head>> EvmChain::same_final_block(Voices voices,
                                                                  std::vector<ports::Head> heads) {
  const ports::Head agreed = agreed_head(heads);
  const std::uint64_t height = agreed.finalized.height;
  bool same = true;
  Voices later;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (heads[i].finalized.height > height)
      later.push_back(voices[i]);
    else
      same = same && heads[i].finalized.hash == agreed.finalized.hash;
  }
  const auto said = co_await everybody<std::optional<domain::BlockHash>>(
      std::move(later), [this, height](Rpc& voice) { return block_hash_of(voice, height); });
  for (const Outcome<std::optional<domain::BlockHash>>& one : said) {
    if (one.ok() == nullptr) co_return one.failure<ports::Head>();
    same = same && *one.ok() == agreed.finalized.hash;
  }
  if (!same) {
    for (auto& [voice, heard] : heard_) heard.asked_ms.reset();  // all of them are asked anew
    co_return unknown("the endpoints disagree about the final block " + std::to_string(height));
  }
  co_return agreed;
}

ports::Awaitable<Outcome<std::optional<ports::Block>>> EvmChain::block(std::uint64_t height) {
  co_return co_await whoever_has_it<ports::Block>(
      [this, height](Rpc& voice) { return block_of(voice, height); });
}

/// What is canonical is compared with what was followed: two that have different blocks there say
/// nothing, one that has none yet leaves it to the others.
ports::Awaitable<Outcome<std::optional<domain::BlockHash>>> EvmChain::block_hash(
    std::uint64_t height) {
  using Found = std::optional<domain::BlockHash>;
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<Found>();
  const Said<Found> said = co_await everybody<Found>(
      *voices.ok(), [this, height](Rpc& voice) { return block_hash_of(voice, height); });
  Found out;
  bool all_answered = true;
  for (const Outcome<Found>& one : said) {
    all_answered = all_answered && one.ok() != nullptr;
    if (one.ok() == nullptr || !*one.ok()) continue;
    if (out && *out != **one.ok()) {
      co_return unknown("the endpoints disagree about block " + std::to_string(height));
    }
    out = *one.ok();
  }
  if (!out && !all_answered) co_return agreed_failure(said);
  co_return out;
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

/// Mostly the first endpoint has it; the others are asked where it has not, and where it says that
/// the transaction failed.
ports::Awaitable<Outcome<Whereabouts>> EvmChain::find(domain::TxHash hash) {
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<Whereabouts>();
  Said<Whereabouts> said;
  said.push_back(co_await find_of(*voices.ok()->front(), hash));
  const Whereabouts* first = said.front().ok();
  const bool has_it = first != nullptr && first->place != Whereabouts::Place::not_found &&
                      (!first->tx || first->tx->succeeded);
  if (!has_it && voices.ok()->size() > 1) {
    Said<Whereabouts> rest =
        co_await everybody<Whereabouts>(Voices(voices.ok()->begin() + 1, voices.ok()->end()),
                                        [this, hash](Rpc& voice) { return find_of(voice, hash); });
    std::ranges::move(rest, std::back_inserter(said));
  }
  const Outcome<Whereabouts> agreed = agreed_place(said);
  const bool has_failed = agreed.ok() != nullptr && agreed.ok()->tx && !agreed.ok()->tx->succeeded;
  if (has_failed && is_sole_voice(*voices.ok())) co_return nobody_else();
  co_return agreed;
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
  if (is_sole_voice(*voices.ok())) co_return nobody_else();
  // Who keeps no state of that age cannot search, but it knows the transaction.
  Voices others;
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (said[i].ok() == nullptr) others.push_back((*voices.ok())[i]);
  }
  const Outcome<bool> vouched = co_await vouched_by(std::move(others), **agreed.ok());
  if (vouched.ok() == nullptr) co_return vouched.failure<Found>();
  co_return agreed;
}

ports::Unknown EvmChain::nobody_else() const {
  std::string why =
      "only one of several endpoints can be asked, and alone it ends no payment as "
      "unpaid";
  for (const std::string& one : rpc_.endpoint_texts()) why += "; " + one;
  return {std::move(why), false};
}

bool EvmChain::is_sole_voice(const Voices& voices) const {
  return voices.size() == 1 && rpc_.configured() > 1;
}

ports::Awaitable<Outcome<bool>> EvmChain::vouch(domain::MinedTx tx, ports::Says says) {
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<bool>();
  if (says == ports::Says::unpaid && is_sole_voice(*voices.ok())) co_return nobody_else();
  // Who is alone has said it already.
  if (voices.ok()->size() == 1) co_return true;
  co_return co_await vouched_by(*voices.ok(), std::move(tx));
}

ports::Awaitable<Outcome<bool>> EvmChain::vouched_by(Voices voices, domain::MinedTx tx) {
  const Voices asked = voices;
  const Said<Whereabouts> said = co_await everybody<Whereabouts>(
      std::move(voices), [this, hash = tx.hash](Rpc& voice) { return find_of(voice, hash); });
  for (std::size_t i = 0; i < said.size(); ++i) {
    const Outcome<Whereabouts>& one = said[i];
    const std::string who = asked[i]->label();
    if (one.ok() == nullptr) {
      co_return unknown(who + " does not tell of transaction " + tx.hash.hex() + ": " + one.text());
    }
    if (one.ok()->tx && says_the_same(*one.ok()->tx, tx)) continue;
    std::string why = "the endpoints do not say the same of transaction " + tx.hash.hex() + ": ";
    if (one.ok()->place != Whereabouts::Place::not_found) {
      co_return unknown(why + who + " says something else");
    }
    co_return unknown(why + who +
                      " does not have it; a node that keeps no old transactions never will:"
                      " configure another in its place");
  }
  co_return true;
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

ports::Awaitable<Outcome<bool>> EvmChain::has_code(domain::Address address) {
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (voices.ok() == nullptr) co_return voices.failure<bool>();
  const Said<bool> said = co_await everybody<bool>(
      *voices.ok(), [this, address](Rpc& voice) { return has_code_of(voice, address); });
  bool all_answered = true;
  for (const Outcome<bool>& one : said) {
    all_answered = all_answered && one.ok() != nullptr;
    if (one.ok() != nullptr && *one.ok()) co_return true;
  }
  if (!all_answered) co_return agreed_failure(said);
  co_return false;
}

ports::Awaitable<Outcome<bool>> EvmChain::check_code(domain::Address target) {
  if (has_code_.contains(target)) co_return true;
  const Outcome<bool> there = co_await has_code(target);
  if (there.ok() == nullptr) co_return there;
  if (!*there.ok()) {
    co_return ports::Refused{ports::RefusalKind::reverted, "no contract at " + target.value};
  }
  if (has_code_.size() < most_contracts) has_code_.insert(target);
  co_return true;
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

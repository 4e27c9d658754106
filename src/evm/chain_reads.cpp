// Owns: the EVM chain's small reads: identity, heights, counts, balances, contract calls. What says
// `_of` asks one endpoint; chain_voices.cpp makes the chain's word of what they say.
#include <algorithm>

#include "evm/chain.hpp"

namespace holdfast::evm {

namespace json = boost::json;
using domain::FinalityTag;
using ports::Outcome;

namespace {

constexpr std::size_t answer_limit = 4096;  // of a contract: words and short texts

RpcCall header_call(const std::string& at) {
  return {"eth_getBlockByNumber", json::array{at, false}};
}
RpcCall count_call(const domain::Address& account, const std::string& at) {
  return {"eth_getTransactionCount", json::array{account.value, at}};
}

std::string tag(FinalityTag of) { return std::string(to_text(of)); }

Read<Header> header_of(const json::value& answer) {
  if (answer.is_null()) return Unreadable{"the node has no such block"};
  return read_header(answer);
}

}  // namespace

ports::Awaitable<Outcome<bool>> EvmChain::check() {
  const Outcome<Voices> voices = co_await rpc_.voices();
  if (const ports::NotSent* nobody = voices.not_sent()) {
    co_return ports::Refused{ports::RefusalKind::other, nobody->reason};
  }
  const Answer answer = co_await rpc_.call("eth_chainId", {});
  if (answer.ok() == nullptr) co_return answer.failure<bool>();
  const Read<std::uint64_t> id = read_number(*answer.ok(), "the node's chain id");
  if (!id) co_return unknown(id.error());
  if (*id != number_) {
    co_return ports::Refused{ports::RefusalKind::other,
                             "the node serves eip155:" + std::to_string(*id) +
                                 ", the configuration says " + info_.id.value};
  }
  co_return true;
}

bool EvmChain::tag_is_final() const {
  return !confirmations_only_ && info_.finality.confirmations <= 1;
}

std::uint64_t EvmChain::final_height(std::uint64_t latest, std::uint64_t tagged) const {
  const std::uint64_t above = std::max<std::uint32_t>(info_.finality.confirmations, 1) - 1;
  return std::min(tagged, latest - std::min(latest, above));
}

ports::Awaitable<Outcome<std::optional<Header>>> EvmChain::maybe_header_at(Rpc& voice,
                                                                           std::uint64_t height) {
  using Found = std::optional<Header>;
  RpcCall call = header_call(quantity(height));
  const Answer answer = co_await voice.call(std::move(call.method), std::move(call.params));
  if (answer.ok() == nullptr) co_return answer.failure<Found>();
  if (answer.ok()->is_null()) co_return Found{};
  const Read<Header> read = read_header(*answer.ok());
  if (!read) co_return unknown(read.error());
  if (read->ref.height != height) co_return unknown("a block of another height");
  co_return Found{*read};
}

ports::Awaitable<Outcome<Header>> EvmChain::header_at(Rpc& voice, std::uint64_t height) {
  const Outcome<std::optional<Header>> header = co_await maybe_header_at(voice, height);
  if (header.ok() == nullptr) co_return header.failure<Header>();
  if (!*header.ok()) co_return unknown("the node has no such block");
  co_return **header.ok();
}

ports::Awaitable<Outcome<Header>> EvmChain::final_block_of(Rpc& voice) {
  std::vector<RpcCall> calls;
  if (!tag_is_final()) calls.push_back(header_call("latest"));
  if (!confirmations_only_) calls.push_back(header_call(tag(info_.finality.tag)));
  const std::vector<Answer> answers = co_await call_all(voice, std::move(calls));
  if (const Answer* failed = first_failure(answers)) co_return failed->failure<Header>();
  const Read<Header> latest = header_of(*answers.front().ok());
  if (!latest) co_return unknown(latest.error());
  const Read<Header> tagged = header_of(*answers.back().ok());
  if (!tagged) co_return unknown(tagged.error());
  const std::uint64_t height = final_height(latest->ref.height, tagged->ref.height);
  if (height == tagged->ref.height) co_return *tagged;
  co_return co_await header_at(voice, height);
}

ports::Awaitable<Outcome<ports::Head>> EvmChain::head_by_depth(Rpc& voice) {
  RpcCall call = header_call("latest");
  const Answer answer = co_await voice.call(std::move(call.method), std::move(call.params));
  if (answer.ok() == nullptr) co_return answer.failure<ports::Head>();
  const Read<Header> latest = header_of(*answer.ok());
  if (!latest) co_return unknown(latest.error());
  const std::uint64_t height = final_height(latest->ref.height, latest->ref.height);
  const Outcome<Header> deep = co_await header_at(voice, height);
  if (deep.ok() == nullptr) co_return deep.failure<ports::Head>();
  co_return ports::Head{.latest = latest->ref,
                        .latest_time_s = latest->time_s,
                        .safe_height = height,
                        .finalized = deep.ok()->ref,
                        .finalized_time_s = deep.ok()->time_s};
}

ports::Awaitable<Outcome<ports::Head>> EvmChain::head_of(Rpc& voice, bool with_block) {
  if (confirmations_only_) co_return co_await head_by_depth(voice);
  const Heard& heard = heard_[&voice];
  const bool is_due = !heard.asked_ms || clock_.mono_ms() - *heard.asked_ms >= tags_every_ms_;
  if (!is_due) {
    const RpcCall newest = newest_call(voice, with_block);
    std::vector<RpcCall> calls{newest};
    const auto expected = expected_block(voice, newest);
    if (expected) calls.push_back({"eth_getBlockReceipts", json::array{quantity(*expected)}});
    const std::vector<Answer> answers = co_await call_all(voice, std::move(calls));
    const Outcome<Header> latest = read_newest(voice, newest, answers.front());
    if (latest.ok() == nullptr) co_return latest.failure<ports::Head>();
    if (expected) keep_receipts(voice, *expected, answers.back());
    const domain::BlockRef& ref = latest.ok()->ref;
    const bool goes_on = ref.height > heard.latest.height || ref == heard.latest;
    if (goes_on && ref.height > heard.finalized.ref.height) {
      co_return note_newest(voice, *latest.ok());
    }
  }
  co_return co_await head_with_tags(voice, with_block);
}

/// The newest block, whole where it is small: it is read next, if it is new.
RpcCall EvmChain::newest_call(Rpc& voice, bool with_block) {
  constexpr std::size_t small = 64;
  Heard& heard = heard_[&voice];
  heard.newest.reset();
  heard.receipts.reset();
  const bool whole = with_block && heard.txs <= small;
  // Whatever becomes of this answer, it may have been too large: one that was read says otherwise.
  if (whole) heard.txs = small + 1;
  return {"eth_getBlockByNumber", json::array{std::string("latest"), whole}};
}

std::optional<std::uint64_t> EvmChain::expected_block(Rpc& voice, const RpcCall& newest) {
  constexpr int enough_in_a_row = 2;
  const Heard& heard = heard_[&voice];
  const bool whole = newest.params.at(1).as_bool();
  if (!whole || heard.in_a_row < enough_in_a_row || lacks_block_receipts_.contains(&voice)) {
    return std::nullopt;
  }
  return heard.latest.height + 1;
}

void EvmChain::keep_receipts(Rpc& voice, std::uint64_t height, const Answer& answer) {
  Heard& heard = heard_[&voice];
  const bool is_its = heard.newest && heard.newest->header.ref.height == height;
  if (!is_its || answer.ok() == nullptr) return;
  Read<std::vector<WireReceipt>> receipts = read_receipts(*answer.ok());
  if (receipts) heard.receipts = std::move(*receipts);  // else they are asked for once more
}

Outcome<Header> EvmChain::read_newest(Rpc& voice, const RpcCall& asked, const Answer& answer) {
  if (answer.ok() == nullptr) return answer.failure<Header>();
  const Read<Header> latest = header_of(*answer.ok());
  if (!latest) return unknown(latest.error());
  if (asked.params.at(1).as_bool()) {
    Read<WireBlock> block = read_block(*answer.ok());
    if (block) {
      Heard& heard = heard_[&voice];
      heard.txs = block->txs.size();
      heard.newest = std::move(*block);
    }
  }
  return *latest;
}

ports::Awaitable<Outcome<ports::Head>> EvmChain::head_with_tags(Rpc& voice, bool with_block) {
  const std::int64_t now_ms = clock_.mono_ms();
  const RpcCall newest = newest_call(voice, with_block);
  std::vector<RpcCall> calls{newest, header_call("finalized")};
  if (uses_safe()) calls.push_back(header_call("safe"));
  const std::vector<Answer> answers = co_await call_all(voice, std::move(calls));
  const Outcome<Header> latest = read_newest(voice, newest, answers.front());
  if (latest.ok() == nullptr) co_return latest.failure<ports::Head>();
  std::vector<Header> tagged;
  for (std::size_t i = 1; i < answers.size(); ++i) {
    if (answers[i].ok() == nullptr) co_return answers[i].failure<ports::Head>();
    const Read<Header> read = header_of(*answers[i].ok());
    if (!read) co_return unknown(read.error());
    tagged.push_back(*read);
  }
  Heard& heard = heard_[&voice];
  heard.finalized = tagged.front();
  heard.safe_height = tagged.back().ref.height;
  heard.asked_ms = now_ms;
  co_return note_newest(voice, *latest.ok());
}

// A block may have come between the reads; what is final is canonical and may stand for newest,
// also for another at its height.
ports::Head EvmChain::note_newest(Rpc& voice, const Header& told) {
  Heard& heard = heard_[&voice];
  const Header& latest = heard.finalized.ref.height >= told.ref.height ? heard.finalized : told;
  const bool is_next = latest.ref.height == heard.latest.height + 1;
  const bool is_full = heard.newest && !heard.newest->txs.empty();
  heard.in_a_row = is_next && is_full ? heard.in_a_row + 1 : 0;
  heard.latest = latest.ref;
  heard.base_fee = latest.base_fee;
  heard.newest_ms = clock_.mono_ms();
  return ports::Head{
      .latest = latest.ref,
      .latest_time_s = latest.time_s,
      .safe_height = std::clamp(heard.safe_height, heard.finalized.ref.height, latest.ref.height),
      .finalized = heard.finalized.ref,
      .finalized_time_s = heard.finalized.time_s};
}

bool EvmChain::uses_safe() const {
  return info_.finality.tag == FinalityTag::safe || info_.answer_at.tag == FinalityTag::safe;
}

ports::Awaitable<Outcome<std::optional<domain::BlockHash>>> EvmChain::block_hash_of(
    Rpc& voice, std::uint64_t height) {
  using Found = std::optional<domain::BlockHash>;
  const Outcome<std::optional<Header>> header = co_await maybe_header_at(voice, height);
  if (header.ok() == nullptr) co_return header.failure<Found>();
  if (!*header.ok()) co_return Found{};
  co_return Found{(*header.ok())->ref.hash};
}

ports::Awaitable<Outcome<std::uint64_t>> EvmChain::count_at(Rpc& voice,
                                                            const domain::Address& account,
                                                            std::string at) {
  RpcCall call = count_call(account, at);
  const Answer answer = co_await voice.call(std::move(call.method), std::move(call.params));
  if (answer.ok() == nullptr) co_return answer.failure<std::uint64_t>();
  co_return outcome_of(read_number(*answer.ok(), "the transaction count"));
}

ports::Awaitable<Outcome<ports::SequenceCounts>> EvmChain::sequences_of(Rpc& voice,
                                                                        domain::Address account) {
  std::string final_at = tag(info_.finality.tag);
  if (!tag_is_final()) {
    const Outcome<Header> block = co_await final_block_of(voice);
    if (block.ok() == nullptr) co_return block.failure<ports::SequenceCounts>();
    final_at = quantity(block.ok()->ref.height);
  }
  std::vector<RpcCall> calls;
  // The final state first: a block that comes between the reads can only raise the later ones.
  calls.push_back(count_call(account, final_at));
  calls.push_back(count_call(account, "latest"));
  calls.push_back(count_call(account, "pending"));
  const std::vector<Answer> answers = co_await call_all(voice, std::move(calls));
  if (const Answer* failed = first_failure(answers)) {
    co_return failed->failure<ports::SequenceCounts>();
  }
  std::vector<std::uint64_t> counts;
  for (const Answer& answer : answers) {
    const Read<std::uint64_t> count = read_number(*answer.ok(), "the transaction count");
    if (!count) co_return unknown(count.error());
    counts.push_back(*count);
  }
  if (counts[0] > counts[1]) {
    co_return unknown("the account's final count is above its latest: two nodes that disagree");
  }
  co_return ports::SequenceCounts{
      .latest = {counts[1]}, .pending = {std::max(counts[1], counts[2])}, .finalized = {counts[0]}};
}

ports::Awaitable<Outcome<domain::Amount>> EvmChain::native_balance(domain::Address account) {
  const Answer answer = co_await rpc_.call("eth_getBalance", json::array{account.value, "latest"});
  if (answer.ok() == nullptr) co_return answer.failure<domain::Amount>();
  co_return outcome_of(read_quantity(*answer.ok(), "the balance"));
}

ports::Awaitable<Outcome<Bytes>> EvmChain::call_contract(Address20 contract, Bytes data,
                                                         std::string at) {
  co_return co_await call_contract_of(rpc_, contract, std::move(data), std::move(at));
}

ports::Awaitable<Outcome<Bytes>> EvmChain::call_contract_of(Rpc& voice, Address20 contract,
                                                            Bytes data, std::string at) {
  json::array params;
  params.emplace_back(json::object{{"to", to_checksum(contract)}, {"data", to_0x(data)}});
  params.emplace_back(std::move(at));
  const Answer answer = co_await voice.call("eth_call", std::move(params));
  if (answer.ok() == nullptr) co_return answer.failure<Bytes>();
  co_return outcome_of(read_data(*answer.ok(), "the contract's answer", answer_limit));
}

}  // namespace holdfast::evm

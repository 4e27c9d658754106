#include <holdfast/domain/review.hpp>

#include <algorithm>

#include "domain/decide_view.hpp"
#include "domain/enum_text.hpp"

namespace holdfast::domain {
namespace {

using ruling::Refused;
using Why = Refused::Why;

constexpr EnumText<Resolution> texts[] = {
    {Resolution::confirming, "confirming"},   {Resolution::settled, "settled"},
    {Resolution::failed, "failed"},           {Resolution::retry, "retry"},
    {Resolution::rebroadcast, "rebroadcast"},
};

Refused state(std::string sentence) { return {Why::state, std::move(sentence)}; }
Refused proof(std::string sentence) { return {Why::proof, std::move(sentence)}; }
Refused unreadable(std::string sentence) { return {Why::unreadable, std::move(sentence)}; }

std::string name_of(const TxHash& hash) { return "transaction " + hash.hex(); }
std::string name_of(const Slot& slot) {
  return "number " + std::to_string(slot.sequence.value) + " of " + slot.account.value;
}

constexpr std::string_view offer_abandon =
    "; abandon it instead, and its account runs a transaction there that moves nothing";

// ---- by a transaction
// ---------------------------------------------------------------------------

// Read in a canonical block, and what it moved is known; else what is missing.
std::optional<Refused> why_no_evidence(const NamedTx& named) {
  switch (named.place) {
    case NamedTx::Place::unreadable:
      return unreadable("the node does not answer for " + name_of(named.hash));
    case NamedTx::Place::not_found: return proof("the chain knows no " + name_of(named.hash));
    case NamedTx::Place::pending:
      return proof(name_of(named.hash) +
                   " is not mined yet; when it is, this payment is confirmed without you");
    case NamedTx::Place::mined: break;
  }
  if (!named.tx || named.verdict == Verdict::lost) {
    return proof("the block of " + name_of(named.hash) + " was taken back");
  }
  if (!named.tx->succeeded) {
    return proof(name_of(named.hash) + " reverted: it moved nothing");
  }
  switch (named.evidence.moved) {
    case Moved::exact:
    case Moved::less: return std::nullopt;
    case Moved::nothing: return proof(name_of(named.hash) + " did not move this payment");
    case Moved::other:
      return proof(name_of(named.hash) + " moved something else than this payment");
  }
  return std::nullopt;
}

Ruling by_transaction(const View& view, IntentState to, const std::optional<NamedTx>& named) {
  if (!named) return proof("tx_hash: the transaction that moved it must be named");
  if (auto missing = why_no_evidence(*named)) return *std::move(missing);
  const bool exact = named->evidence.moved == Moved::exact;
  const std::string arrived = named->evidence.arrived.decimal() + " of " +
                              view.intent().terms.amount.decimal() + " arrived";
  ruling::Move move;
  move.to = to;
  move.tx_hash = named->hash;
  if (to == IntentState::confirming) {
    if (exact) return move;
    return proof("only " + arrived + "; once it is final, resolve it as settled to accept that");
  }
  if (named->verdict != Verdict::final) {
    return proof(name_of(named->hash) + " is mined but not final yet; resolve it as confirming");
  }
  move.final_tx = named->tx;
  move.arrived = named->evidence.arrived;
  return move;
}

// ---- failed
// -------------------------------------------------------------------------------------

// A named transaction that cannot stand for the consumer of a number of this payment.
std::optional<Refused> why_no_consumer(const NamedTx& named, const std::vector<Slot>& numbers) {
  switch (named.place) {
    case NamedTx::Place::unreadable:
      return unreadable("the node does not answer for " + name_of(named.hash));
    case NamedTx::Place::not_found:
      return proof("consumers: the chain knows no " + name_of(named.hash));
    case NamedTx::Place::pending:
      return proof("consumers: " + name_of(named.hash) + " is not mined yet");
    case NamedTx::Place::mined: break;
  }
  const bool is_final = named.verdict == Verdict::final || named.verdict == Verdict::failed;
  if (!named.tx || !is_final) return proof("consumers: " + name_of(named.hash) + " is not final");
  const bool stands = std::any_of(numbers.begin(), numbers.end(), [&](const Slot& slot) {
    return slot.account == named.tx->sender && slot.sequence == named.tx->sequence;
  });
  if (stands) return std::nullopt;
  return proof("consumers: " + name_of(named.hash) + " stands at none of this payment's numbers");
}

const MinedTx* named_at(const ReviewSeen& seen, const Slot& slot) {
  for (const NamedTx& named : seen.consumers) {
    if (named.tx && named.tx->sender == slot.account && named.tx->sequence == slot.sequence) {
      return &*named.tx;
    }
  }
  return nullptr;
}

using Consumer = std::variant<Refused, FinalConsumer>;

Consumer consumer_at(const View& view, const ReviewSeen& seen, const Slot& slot) {
  const MinedTx* tx = named_at(seen, slot);
  if (tx == nullptr) {
    const auto read = std::find_if(seen.numbers.begin(), seen.numbers.end(),
                                   [&](const NumberSeen& each) { return each.slot == slot.id; });
    if (read == seen.numbers.end() || !read->readable) {
      return unreadable("the node does not answer for " + name_of(slot));
    }
    if (!read->tx) {
      return proof(name_of(slot) +
                   " is not used with finality, or what used it cannot be found:"
                   " what was signed for it may still run" +
                   std::string(slot.handed_over ? "" : offer_abandon));
    }
    tx = &*read->tx;
  }
  FinalConsumer consumer = consumer_of(slot, *tx);
  if (rules_out(view.intent(), view.facts.attempts, consumer)) return consumer;
  return proof(name_of(tx->hash) + ", final at " + name_of(slot) +
               ", may have moved this payment: name it to resolve it as settled");
}

Ruling failed_payout(const View& view, const ReviewSeen& seen) {
  const auto& attempts = view.facts.attempts;
  const bool outside =
      std::any_of(attempts.begin(), attempts.end(), [](const Attempt& each) { return !each.slot; });
  if (outside) {
    return proof("it was given to an outside sender: nothing can prove that it will not run");
  }
  const std::vector<Slot> numbers = numbers_to_read(view.facts);
  for (const NamedTx& named : seen.consumers) {
    if (auto bad = why_no_consumer(named, numbers)) return *std::move(bad);
  }
  AllSlotsConsumed all;
  for (const Slot& slot : numbers) {
    Consumer consumer = consumer_at(view, seen, slot);
    if (auto* refused = std::get_if<Refused>(&consumer)) return std::move(*refused);
    all.consumers.push_back(std::get<FinalConsumer>(std::move(consumer)));
  }
  if (!proves_unredeemable(view.intent(), attempts, all)) {
    return proof("an attempt stands at a number this store does not know");
  }
  ruling::Move move;
  move.to = IntentState::failed;
  move.proof = std::move(all);
  return move;
}

// While the authorization may still be run by whoever holds it, nothing is proved.
Refused why_alive(const View& view) {
  switch (view.use()) {
    case Use::unread:
    case Use::unknown: return unreadable("the node does not answer for the payer's authorization");
    case Use::unused:
      return proof("the payer's authorization can be run by anyone until chain time " +
                   std::to_string(view.intent().authorization
                                      ? view.intent().authorization->validity.before_s
                                      : view.intent().validity.before_s) +
                   " is past in a final block; then resolve it as failed");
    case Use::exactly:
      return proof("the payer's authorization was used in " +
                   name_of(view.seen.authorization->tx->hash) +
                   " in exactly this transfer: name it to resolve it as confirming or settled");
    case Use::otherwise:
    case Use::canceled: break;
  }
  if (!view.use_is_final()) return proof("the end of the payer's authorization is not final yet");
  return proof("our own transaction used the payer's authorization and moved something else");
}

Ruling failed_bearer(const View& view) {
  ruling::Move move;
  move.to = IntentState::failed;
  if (view.facts.attempts.empty()) {
    const bool open =
        view.use() == Use::unread || view.use() == Use::unknown || view.use() == Use::exactly;
    if (open) return why_alive(view);
    move.proof = NeverAsked{};
    return move;
  }
  auto dead = view.dead_authorization();
  if (!dead) return why_alive(view);
  move.proof = *std::move(dead);
  return move;
}

/// Nothing was signed that the store knows of, and yet a transaction may have paid it.
std::optional<Refused> why_maybe_paid(const View& view) {
  const auto& found = view.facts.ref_found_in;
  const auto tx = found.empty() ? view.intent().tx_hash : std::optional(found.front().hash);
  if (view.bearer() || !tx) return std::nullopt;
  return proof("transaction " + name_of(*tx) +
               " carries this payment and may have paid it: name it to resolve it as confirming or"
               " settled");
}

Ruling failed(const View& view, const ReviewSeen& seen) {
  if (view.facts.attempts.empty() && !view.nothing_signed()) {
    return proof("its number says that something was signed, and nothing is stored of it");
  }
  if (view.bearer()) return failed_bearer(view);
  if (!view.facts.attempts.empty()) return failed_payout(view, seen);
  if (auto no = why_maybe_paid(view)) return *std::move(no);
  ruling::Move move;
  move.to = IntentState::failed;
  move.proof = NeverAsked{};
  return move;
}

// ---- retry, rebroadcast
// -------------------------------------------------------------------------

std::optional<Refused> why_unwanted(const View& view) {
  if (view.intent().cancel_asked) return state("somebody asked to cancel this payment");
  if (view.still_wanted()) return std::nullopt;
  return state("its publish deadline, " + std::to_string(view.intent().publish_before_s) +
               " in Unix seconds, has passed");
}

Ruling retry(const View& view) {
  if (!view.facts.attempts.empty() || !view.nothing_signed()) {
    return proof("something was signed or asked for it before: another could pay twice");
  }
  if (auto no = why_maybe_paid(view)) return *std::move(no);
  if (auto no = why_unwanted(view)) {
    no->sentence += ": resolve it as failed, which needs no more proof than that";
    return *std::move(no);
  }
  ruling::Move move;
  move.to = IntentState::settling;
  return move;
}

Ruling rebroadcast(const View& view) {
  if (is_terminal(view.intent().state)) {
    return state("the payment has ended as " + std::string(to_text(view.intent().state)) +
                 ": its bytes are never posted again");
  }
  if (view.facts.slot && view.facts.slot->handed_over) {
    return state(name_of(*view.facts.slot) +
                 " was handed to the account: the payment's bytes are never posted there again");
  }
  if (auto no = why_unwanted(view)) return *std::move(no);
  const Attempt* bytes = view.postable();
  if (bytes == nullptr) return state("no bytes are stored that may still be posted");
  return ruling::Post{bytes->id};
}

IntentState target(Resolution as) {
  switch (as) {
    case Resolution::confirming: return IntentState::confirming;
    case Resolution::settled: return IntentState::settled;
    case Resolution::failed: return IntentState::failed;
    case Resolution::retry: return IntentState::settling;
    case Resolution::rebroadcast: break;
  }
  return IntentState::needs_review;
}

}  // namespace

std::string_view to_text(Resolution as) { return text_of(texts, as); }
std::optional<Resolution> resolution_from(std::string_view text) { return enum_of(texts, text); }

std::string resolutions_as_text() {
  std::string out;
  for (const auto& row : texts) out.append(out.empty() ? "" : ", ").append(row.text);
  return out;
}

std::vector<Slot> numbers_to_read(const Facts& facts) {
  std::vector<Slot> out;
  const auto add = [&](const Slot& slot) {
    const bool used = std::any_of(facts.attempts.begin(), facts.attempts.end(),
                                  [&](const Attempt& each) { return each.slot == slot.id; });
    if (used) out.push_back(slot);
  };
  for (const Slot& slot : facts.earlier_slots) add(slot);
  if (facts.slot) add(*facts.slot);
  return out;
}

Ruling rule_on(const Facts& facts, Resolution as, const ReviewSeen& seen, const Now& now) {
  Seen read;
  read.authorization = seen.authorization;
  const Policy policy;
  const View view{facts, read, policy, now};
  if (as == Resolution::rebroadcast) return rebroadcast(view);
  const IntentState is = facts.intent.state;
  if (is == target(as)) return ruling::Nothing{};
  if (is_terminal(is)) return state("the payment has ended as " + std::string(to_text(is)));
  if (is != IntentState::needs_review) {
    return state("the payment is " + std::string(to_text(is)) +
                 ", not in review: the engine drives it, and there is nothing to resolve");
  }
  switch (as) {
    case Resolution::confirming: return by_transaction(view, IntentState::confirming, seen.named);
    case Resolution::settled: return by_transaction(view, IntentState::settled, seen.named);
    case Resolution::failed: return failed(view, seen);
    case Resolution::retry: return retry(view);
    case Resolution::rebroadcast: break;
  }
  return ruling::Nothing{};
}

}  // namespace holdfast::domain

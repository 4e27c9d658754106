// Owns: the review desk: what a payment in review shows, and an operator's resolution of it: the
// proof is read from the chain, domain::rule_on decides, one write records it.
// Must never: take anything from the operator but where to look.
#include <algorithm>

#include <holdfast/domain/finality.hpp>
#include "engine/core.hpp"
#include "engine/errors.hpp"
#include "engine/join.hpp"
#include "engine/post_answer.hpp"
#include "engine/requests.hpp"
#include "engine/shown.hpp"
#include "store/desk.hpp"
#include "store/reads.hpp"

namespace holdfast::engine {
namespace {

using domain::IntentState;
using domain::NamedTx;
using domain::Resolution;
using domain::ruling::Refused;

constexpr std::size_t most_consumers = 16;

domain::Now now_of(const Core& core, Unit* unit) {
  domain::Now now;
  now.wall_ms = core.wall_ms();
  now.chain_s = unit == nullptr ? 0 : unit->view.latest_time_s();
  return now;
}

std::string note_of(Resolution as, const store::Event& step) {
  switch (as) {
    case Resolution::confirming:
      return "it is confirming on that transaction, and settles when it is final";
    case Resolution::settled: return "it is settled on that transaction";
    case Resolution::failed: return "it has failed: it was proved that it can never move";
    case Resolution::retry: return "nothing was ever signed: it is settled afresh";
    case Resolution::rebroadcast: return step.reason;
  }
  return "";
}

/// One resolution on its way: facts, reads, ruling, write.
class Resolving {
 public:
  Resolving(Core& core, Caller who, domain::IntentId id, Resolve wanted)
      : core_(core),
        who_(std::move(who)),
        request_(request_of(who_, "resolve/" + domain::text(id))),
        id_(id),
        wanted_(std::move(wanted)) {}

  Awaitable<Result<Resolved>> run();

 private:
  bool needs_chain() const;
  Result<void> check_wish() const;
  Awaitable<domain::ReviewSeen> read();
  Awaitable<NamedTx> look(domain::TxHash hash);
  Awaitable<domain::NumberSeen> look_at(domain::Slot slot);
  Awaitable<Result<void>> carry_out(domain::Ruling ruling);
  Awaitable<Result<void>> move(domain::ruling::Move ruled);
  Awaitable<Result<void>> post(domain::AttemptId id);
  Awaitable<Result<std::optional<Resolved>>> answered(bool replayed);
  Result<std::vector<store::Candidate>> candidates() const;

  Core& core_;
  Caller who_;
  store::Request request_;
  domain::IntentId id_;
  Resolve wanted_;
  domain::Facts facts_;
  domain::ReviewSeen seen_;
  Unit* unit_ = nullptr;
  ports::Method* method_ = nullptr;
};

Awaitable<Result<Resolved>> Resolving::run() {
  if (const auto good = check_wish(); !good) co_return good.error();
  // No delivery of this payment runs meanwhile; the listener may move it, and then the version
  // tells.
  const auto turn = co_await core_.turns.turn(id_);
  auto before = co_await answered(true);
  if (!before) co_return before.error();
  if (*before) co_return **std::move(before);

  auto facts = co_await core_.parts.store.read(
      [id = id_](store::Txn& txn) { return store::find_facts(txn, id); });
  if (!facts) co_return refuse(EngineError::not_found, "no such payment intent");
  facts_ = std::move(*facts);
  unit_ = core_.unit(facts_.intent.terms.chain);
  method_ = core_.method(facts_.intent.terms);
  if (needs_chain()) {
    if (unit_ == nullptr || method_ == nullptr || !unit_->usable) {
      const std::string why =
          unit_ == nullptr || method_ == nullptr ? "not configured" : unit_->why;
      co_return refuse(EngineError::try_again, "the chain " + facts_.intent.terms.chain.value +
                                                   " cannot be asked now: " + why);
    }
    if (!unit_->halted.empty()) {
      co_return refuse(EngineError::wrong_state,
                       "the chain is halted: " + unit_->halted + "; acknowledge that first");
    }
    seen_ = co_await read();
  }
  domain::Ruling ruling = domain::rule_on(facts_, wanted_.as, seen_, now_of(core_, unit_));
  if (std::holds_alternative<domain::ruling::Nothing>(ruling)) {
    co_return Resolved{facts_.intent, "it is there already; nothing was changed", false};
  }
  if (auto done = co_await carry_out(std::move(ruling)); !done) co_return done.error();
  auto answer = co_await answered(false);
  if (!answer) co_return answer.error();
  if (*answer) co_return **std::move(answer);
  // While the chain was asked, somebody else moved it to where it was wanted: a replay, which
  // writes nothing.
  const auto now = co_await core_.parts.store.read(
      [id = id_](store::Txn& txn) { return store::find_intent(txn, id); });
  if (!now) co_return refuse(EngineError::not_found, "no such payment intent");
  co_return Resolved{*now, "it is there already; nothing was changed", false};
}

Result<void> Resolving::check_wish() const {
  if (wanted_.reason.empty() || wanted_.reason.size() > longest_reason) {
    return refuse(EngineError::bad_terms, "reason: 1 to 200 bytes are needed");
  }
  const bool by_hash = wanted_.as == Resolution::confirming || wanted_.as == Resolution::settled;
  if (wanted_.tx_hash && !by_hash) {
    return refuse(EngineError::bad_terms, "tx_hash: only confirming and settled take one");
  }
  if (by_hash && !wanted_.tx_hash) {
    return refuse(EngineError::bad_terms,
                  "tx_hash: the transaction that moved the payment must be named");
  }
  if (!wanted_.consumers.empty() && wanted_.as != Resolution::failed) {
    return refuse(EngineError::bad_terms, "consumers: only failed takes them");
  }
  if (wanted_.consumers.size() > most_consumers) {
    return refuse(EngineError::bad_terms, "consumers: at most 16 are read");
  }
  return {};
}

// What was settled, failed or canceled is told without a read; what was never signed needs none.
bool Resolving::needs_chain() const {
  if (wanted_.as == Resolution::rebroadcast) return !domain::is_terminal(facts_.intent.state);
  if (facts_.intent.state != IntentState::needs_review) return false;
  return wanted_.as != Resolution::failed || facts_.intent.bearer || !facts_.attempts.empty();
}

Awaitable<NamedTx> Resolving::look(domain::TxHash hash) {
  NamedTx out;
  out.hash = hash;
  auto answer = co_await unit_->chain.find(hash);
  ports::Whereabouts* const found = answer.ok();
  if (found == nullptr) co_return out;
  switch (found->place) {
    case ports::Whereabouts::Place::not_found: out.place = NamedTx::Place::not_found; co_return out;
    case ports::Whereabouts::Place::pending: out.place = NamedTx::Place::pending; co_return out;
    case ports::Whereabouts::Place::mined: break;
  }
  // Whether its block is canonical is asked apart: a node may tell of a block it gave up.
  const auto canonical =
      found->tx
          ? co_await unit_->chain.block_hash(found->tx->block.height)
          : ports::Outcome<std::optional<domain::BlockHash>>(ports::Unknown{"no receipt", false});
  const auto says = wanted_.as == Resolution::failed ? ports::Says::unpaid : ports::Says::paid;
  if (canonical.ok() == nullptr || !co_await vouched(core_, *unit_, *found->tx, says) ||
      !co_await unit_->noted_stands(found->tx->block.height)) {
    co_return out;
  }
  out.place = NamedTx::Place::mined;
  out.tx = std::move(found->tx);
  const domain::Inclusion at{out.tx->block, out.tx->succeeded};
  out.verdict =
      domain::verdict(at, *canonical.ok(), unit_->view.heights(), unit_->chain.info().finality);
  const bool own = domain::own_pay(facts_.attempts, hash) != nullptr;
  out.evidence = method_->evidence(facts_.intent, *out.tx, own);
  co_return out;
}

Awaitable<domain::NumberSeen> Resolving::look_at(domain::Slot slot) {
  domain::NumberSeen out;
  out.slot = slot.id;
  auto answer = co_await unit_->chain.consumer(slot.account, slot.sequence);
  auto* const tx = answer.ok();
  if (tx != nullptr && (!*tx || co_await unit_->noted_stands((*tx)->block.height))) {
    out.readable = true;
    out.tx = std::move(*tx);
  }
  co_return out;
}

Awaitable<domain::ReviewSeen> Resolving::read() {
  domain::ReviewSeen seen;
  if (wanted_.tx_hash) seen.named = co_await look(*wanted_.tx_hash);
  if (wanted_.as != Resolution::failed) co_return seen;
  if (facts_.intent.bearer) {
    seen.authorization = co_await method_->read_authorization(facts_.intent);
    co_return seen;
  }
  std::vector<Awaitable<NamedTx>> named;
  named.reserve(wanted_.consumers.size());
  for (const domain::TxHash& hash : wanted_.consumers) named.push_back(look(hash));
  seen.consumers = co_await join_all(std::move(named));
  const std::vector<domain::Slot> to_read = domain::numbers_to_read(facts_);
  std::vector<Awaitable<domain::NumberSeen>> numbers;
  numbers.reserve(to_read.size());
  for (const domain::Slot& slot : to_read) numbers.push_back(look_at(slot));
  seen.numbers = co_await join_all(std::move(numbers));
  co_return seen;
}

Awaitable<Result<void>> Resolving::carry_out(domain::Ruling ruling) {
  if (const auto* no = std::get_if<Refused>(&ruling)) {
    switch (no->why) {
      case Refused::Why::state: co_return refuse(EngineError::wrong_state, no->sentence);
      case Refused::Why::proof: co_return refuse(EngineError::unproven, no->sentence);
      case Refused::Why::unreadable: co_return refuse(EngineError::try_again, no->sentence);
    }
  }
  if (const auto* stored = std::get_if<domain::ruling::Post>(&ruling)) {
    co_return co_await post(stored->attempt);
  }
  co_return co_await move(std::get<domain::ruling::Move>(std::move(ruling)));
}

Result<std::vector<store::Candidate>> Resolving::candidates() const {
  auto out = unit_->candidates(facts_.intent);
  if (!out.empty() || !unit_->chain.info().ordered) return out;
  std::string why = "none is configured";
  for (const AccountState& account : unit_->accounts) {
    if (!facts_.intent.bearer && account.address != facts_.intent.terms.payer) continue;
    why = account.blocked.empty() ? "the node has not told its number yet" : account.blocked;
  }
  return refuse(EngineError::try_again, "no account can send this payment now: " + why);
}

Awaitable<Result<void>> Resolving::move(domain::ruling::Move ruled) {
  store::Move wanted;
  wanted.id = id_;
  wanted.to = ruled.to;
  wanted.actor = domain::Actor::operator_;
  wanted.who = who_.id.value;
  wanted.reason = wanted_.reason;
  wanted.version = facts_.intent.version;
  wanted.queue_ms = core_.queue_ms();
  wanted.request = request_;
  wanted.tx_hash = ruled.tx_hash;
  wanted.final_tx = ruled.final_tx;
  wanted.arrived = ruled.arrived;
  wanted.proof = std::move(ruled.proof);
  if (ruled.to == IntentState::settling) {
    auto from = candidates();
    if (!from) co_return from.error();
    wanted.candidates = std::move(*from);
    wanted.max_unconsumed = unit_->chain.info().max_unconsumed;
  }
  bool own = false;
  for (const domain::Attempt& one : facts_.attempts) {
    if (!ruled.tx_hash || one.hash != ruled.tx_hash) continue;
    own = true;
    if (ruled.to == IntentState::confirming) wanted.accepted = one.id;
  }
  auto moved = co_await core_.move(std::move(wanted));
  if (!moved) {
    const bool full = moved.error().code == store::StoreError::account_full ||
                      moved.error().code == store::StoreError::stale_epoch;
    if (full) co_return refuse(EngineError::try_again, moved.error().detail);
    co_return at_the_face(moved.error());
  }
  log::info("resolved", {{"intent", domain::text(id_)},
                         {"ref", facts_.intent.ref.hex()},
                         {"as", domain::to_text(wanted_.as)},
                         {"who", who_.id.value}});
  if (ruled.to == IntentState::confirming && ruled.tx_hash) {
    Watched* const watched = unit_->watch.find(id_);
    if (watched != nullptr) unit_->watch.include(*watched, *seen_.named->tx, own);
  }
  core_.wake();
  co_return Result<void>{};
}

// The stored bytes, in the account's order; nothing is signed.
Awaitable<Result<void>> Resolving::post(domain::AttemptId id) {
  const auto stored = std::find_if(facts_.attempts.begin(), facts_.attempts.end(),
                                   [id](const domain::Attempt& each) { return each.id == id; });
  ensure(stored != facts_.attempts.end() && stored->hash && facts_.slot,
         "only stored bytes are posted");
  const auto answer = co_await unit_->broadcaster.post(*facts_.slot, stored->bytes, *stored->hash,
                                                       facts_.intent.publish_before_s);
  store::Rebroadcast done;
  done.id = id_;
  done.post = post_record(core_, id, note_post(core_, *unit_, id_, answer));
  done.who = who_.id.value;
  done.reason = wanted_.reason;
  done.request = request_;
  auto facts = co_await core_.parts.store.write(
      [done](store::Txn& txn) { return store::record_rebroadcast(txn, done); });
  if (!facts) co_return at_the_face(facts.error());
  core_.changed(*facts);
  co_return Result<void>{};
}

// The answer is always read from the history, so that a repetition is the same byte for byte.
Awaitable<Result<std::optional<Resolved>>> Resolving::answered(bool replayed) {
  auto found = co_await core_.parts.store.read([id = id_, request = request_](store::Txn& txn) {
    return store::earlier_answer(txn, id, request);
  });
  if (!found) co_return at_the_face(found.error());
  if (!*found) co_return std::optional<Resolved>{};
  std::string note = note_of(wanted_.as, (*found)->step);
  co_return std::optional(Resolved{std::move((*found)->intent), std::move(note), replayed});
}

}  // namespace

Awaitable<Result<Resolved>> Engine::resolve(Caller who, domain::IntentId id, Resolve wanted) {
  const auto core = core_;
  if (core->draining || core->broken) {
    co_return refuse(EngineError::draining, "the engine is stopping and takes nothing new");
  }
  Resolving resolving(*core, std::move(who), id, std::move(wanted));
  co_return co_await resolving.run();
}

Awaitable<Result<Review>> Engine::review(domain::IntentId id) {
  const auto core = core_;
  auto detail = co_await this->detail(std::nullopt, id);
  if (!detail) co_return detail.error();
  const domain::Intent& intent = detail->intent;
  if (intent.state != IntentState::needs_review) {
    co_return refuse(
        EngineError::wrong_state,
        "the payment is " + std::string(domain::to_text(intent.state)) + ", not in review");
  }
  Review out;
  Unit* const unit = core->unit(intent.terms.chain);
  const Watched* const watched = unit == nullptr ? nullptr : unit->watch.find(id);
  ports::Method* const method = core->method(intent.terms);
  if (watched != nullptr && watched->inclusion && method != nullptr) {
    const Inclusion& seen = *watched->inclusion;
    const domain::Evidence evidence = method->evidence(intent, seen.tx, seen.own_hash);
    out.found = Found{seen.tx.hash,
                      seen.tx.block,
                      seen.own_hash,
                      seen.tx.succeeded,
                      evidence.moved,
                      evidence.arrived,
                      unit->verdict(seen.tx, unit->chain.info().finality)};
  }
  domain::Facts facts;
  facts.intent = intent;
  facts.slot = detail->slot;
  facts.attempts = detail->attempts;
  facts.earlier_slots = detail->earlier_slots;
  out.possible = possible_resolutions(facts, now_of(*core, unit));
  out.detail = std::move(*detail);
  co_return out;
}

}  // namespace holdfast::engine

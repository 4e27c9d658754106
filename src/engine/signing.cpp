// Owns: from a reserved slot to posted bytes: build, sign, check, store, post.
// Must never: post what was not stored first, or keep bytes whose storing was refused.
#include <holdfast/domain/fees.hpp>
#include "base/kill_point.hpp"
#include "base/teeth.hpp"
#include "engine/post_answer.hpp"
#include "engine/sealing.hpp"
#include "engine/settle.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {

// Fees for the call; empty when the delivery has been told why not (in Seen).
Awaitable<std::optional<domain::Fees>> Delivery::fees() {
  using Result = domain::SimulationSeen::Result;
  const auto quoted = co_await unit_.chain.quote(gas_.value_or(0));
  if (const domain::Fees* fees = quoted.ok()) {
    co_return domain::first_offer(*fees, domain::pay_ceiling(unit_.chain.info().fee_ceiling));
  }
  domain::SimulationSeen seen;
  seen.result = Result::unknown;
  seen.reason = quoted.text();
  if (const auto* no = quoted.refused(); no != nullptr && no->kind == ports::RefusalKind::gas) {
    seen.result = Result::over_gas_cap;
  }
  seen_.simulation = std::move(seen);
  co_return std::nullopt;
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::SignAndStore) {
  // Another delivery simulated: this one asks for itself, and decide hears a refusal first.
  if (!gas_) co_await on(domain::step::Simulate{});
  if (!gas_) co_return Flow::again;
  const auto quoted = co_await fees();
  if (!quoted) co_return Flow::again;
  co_return co_await seal_and_store(*quoted);
}

// Another attempt at the same sequence. A dearer one runs the same call, so its gas is known; one
// that was refused for its gas or type is simulated anew.
Awaitable<Delivery::Flow> Delivery::on(domain::step::Replace step) {
  ensure(facts_.slot.has_value(), "a replacement stands at a sequence");
  const auto old = domain::dearest_at(facts_.attempts, facts_.slot->id);
  ensure(old.has_value(), "a replacement replaces something");
  if (!step.dearer) {
    if (!gas_) co_await on(domain::step::Simulate{});
    if (!gas_) co_return Flow::again;
  }
  const auto market = co_await fees();
  if (!market) co_return Flow::again;
  auto dearer = domain::bump(*old, *market, domain::pay_ceiling(unit_.chain.info().fee_ceiling));
  if (!dearer) {
    core_.alarm("fee_ceiling", {{"intent", domain::text(facts_.intent.id)},
                                {"account", facts_.slot->account.value},
                                {"sequence", facts_.slot->sequence.value}});
    seen_.sign = domain::SignSeen{domain::SignSeen::Result::at_ceiling};
    co_return Flow::again;
  }
  if (!step.dearer) dearer->gas_limit = market->gas_limit;
  co_return co_await seal_and_store(*dearer);
}

Awaitable<Delivery::Flow> Delivery::seal_and_store(domain::Fees fees) {
  ensure(facts_.slot.has_value(), "an ordered chain signs for a slot");
  const domain::Slot slot = *facts_.slot;
  const AccountState* const account = unit_.account(slot.account);
  const auto call = method_.call(facts_.intent);
  using SignResult = domain::SignSeen::Result;
  if (account == nullptr || !call) {
    // Configured once, not any more: nobody here can sign for it.
    seen_.sign = domain::SignSeen{SignResult::signer_unavailable};
    co_return Flow::again;
  }
  const ports::Order order{slot.account, slot.sequence, *call, fees};
  const Digest digest = unit_.chain.digest(order);
  const auto signature = co_await core_.parts.signer.sign(slot.account, digest);
  if (signature.ok() == nullptr) {
    seen_.sign = domain::SignSeen{SignResult::signer_unavailable};
    co_return Flow::again;
  }
  auto sealed = seal(unit_.chain, core_.parts.signer, order, *signature.ok(), digest);
  if (!sealed) {
    core_.alarm("wrong_bytes",
                {{"intent", domain::text(facts_.intent.id)}, {"why", sealed.error().detail}});
    seen_.sign = domain::SignSeen{SignResult::wrong_bytes};
    co_return Flow::again;
  }

  if (planted(Tooth::post_before_store)) co_await unit_.chain.post(sealed->bytes, sealed->hash);
  auto wanted = std::make_unique<store::AttemptToStore>();
  wanted->id = facts_.intent.id;
  wanted->version = facts_.intent.version;
  wanted->receipt = lease_.receipt;
  wanted->epoch = account->epoch;
  wanted->attempt.intent = facts_.intent.id;
  wanted->attempt.slot = slot.id;
  wanted->attempt.bytes = std::move(sealed->bytes);
  wanted->attempt.hash = sealed->hash;
  const bool notes = !planted(Tooth::fees_unnoted) || facts_.attempts.empty();
  wanted->attempt.fees = notes ? fees : facts_.attempts.back().fees;
  wanted->attempt.stored_ms = core_.wall_ms();
  wanted->now_ms = core_.wall_ms();
  auto facts = co_await core_.parts.store.write(
      [wanted = std::move(wanted)](store::Txn& txn) { return store::store_attempt(txn, *wanted); });
  const bool stored = facts.has_value();
  HOLDFAST_KILL_POINT_IF(stored, "KP2");
  if (stored) {
    ++core_.stats.attempts_stored;
    core_.changed(*facts);  // watched before it is posted: no block can come in between
  }
  const Flow flow = co_await take(std::move(facts));
  if (stored) seen_.stored_now = facts_.attempts.back().id;
  co_return flow;
}

// The one act that no write checks. What was written of the payment since its facts were read is
// told to those that wait in the line, so whoever was still asking questions looks here.
Awaitable<Delivery::Flow> Delivery::on(domain::step::Post step) {
  const Watched* const known = unit_.watch.find(facts_.intent.id);
  if (known == nullptr || known->intent.version > facts_.intent.version) {
    if (co_await read_again() == Flow::done) co_return Flow::done;
    core_.changed(facts_);
    co_return Flow::again;
  }
  const domain::Attempt* const stored = attempt(step.attempt);
  ensure(stored != nullptr && stored->hash && !stored->bytes.empty() && facts_.slot,
         "only stored bytes are posted");
  const auto answer = co_await unit_.broadcaster.post(*facts_.slot, stored->bytes, *stored->hash,
                                                      facts_.intent.publish_before_s);
  HOLDFAST_KILL_POINT("KP5");
  const ports::Refused* const no = answer ? answer->refused() : nullptr;
  const bool unfunded = no != nullptr && no->kind == ports::RefusalKind::unfunded;
  const bool taken = answer && answer->ok() != nullptr;
  if (unfunded || taken) note_funds(facts_.slot->account, unfunded);
  const domain::PostAnswer meaning = note_post(core_, unit_, facts_.intent.id, answer);
  if (meaning != domain::PostAnswer::accepted) {
    log::info("post", {{"intent", domain::text(facts_.intent.id)},
                       {"ref", facts_.intent.ref.hex()},
                       {"answer", domain::to_text(meaning)},
                       {"detail", answer ? answer->text() : "waiting for an earlier number"}});
    co_await record(post_record(core_, step.attempt, meaning));
  }
  seen_.post = domain::PostSeen{meaning, step.attempt, false};
  co_return Flow::again;
}

// The row stands before the call: a crash in between counts as asked.
Awaitable<Delivery::Flow> Delivery::on(domain::step::AskSender) {
  store::AttemptToStore wanted;
  wanted.id = facts_.intent.id;
  wanted.version = facts_.intent.version;
  wanted.receipt = lease_.receipt;
  wanted.attempt.intent = facts_.intent.id;
  wanted.attempt.stored_ms = core_.wall_ms();
  wanted.now_ms = core_.wall_ms();
  auto facts = co_await core_.parts.store.write(
      [wanted = std::move(wanted)](store::Txn& txn) { return store::store_attempt(txn, wanted); });
  const bool stored = facts.has_value();
  if (stored) core_.changed(*facts);
  const Flow flow = co_await take(std::move(facts));
  if (!stored) co_return flow;
  ++core_.stats.attempts_stored;

  const domain::AttemptId id = facts_.attempts.back().id;
  const auto answer = co_await unit_.chain.send_order(facts_.intent.id, facts_.intent.terms);
  ++core_.stats.posts;
  const domain::PostAnswer meaning = sender_answer(answer);
  const std::optional<domain::TxHash> hash =
      answer.ok() != nullptr ? *answer.ok() : std::optional<domain::TxHash>{};
  store::PostRecord told = post_record(core_, id, meaning);
  told.hash = hash;
  co_await record(std::move(told));
  co_return co_await read_again();
}

Awaitable<void> Delivery::record(store::PostRecord wanted) {
  const auto recorded = co_await core_.parts.store.write(
      [wanted](store::Txn& txn) { return store::record_post(txn, wanted); });
  if (!recorded) {
    log::warn("record_refused",
              {{"intent", domain::text(facts_.intent.id)}, {"why", recorded.error().detail}});
  }
  // What was recorded counts as a change: the next write needs the version of now.
  auto facts = co_await core_.parts.store.read(
      [of = facts_.intent.id](store::Txn& txn) { return store::find_facts(txn, of); });
  if (facts) facts_ = std::move(*facts);
}

}  // namespace holdfast::engine

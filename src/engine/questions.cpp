// Owns: the questions of a delivery: each asks the world once and puts the answer into Seen.
#include <holdfast/domain/finality.hpp>
#include "base/teeth.hpp"
#include "engine/funds.hpp"
#include "engine/join.hpp"
#include "engine/settle.hpp"
#include "store/reads.hpp"

namespace holdfast::engine {
namespace {

using HashResult = domain::HashSeen::Result;

HashResult place_of(const domain::MinedTx& tx, bool is_final) {
  if (is_final) return tx.succeeded ? HashResult::final_included : HashResult::final_reverted;
  return tx.succeeded ? HashResult::included : HashResult::reverted;
}

/// A transaction at a number of ours made its payment exactly where it is one of its own.
ports::Says says_of(const domain::MinedTx& tx, const std::vector<domain::Attempt>& own) {
  const bool paid = tx.succeeded && domain::own_pay(own, tx.hash) != nullptr;
  return paid ? ports::Says::paid : ports::Says::unpaid;
}

}  // namespace

Awaitable<Delivery::Flow> Delivery::on(domain::step::TakeSendSlot) {
  using domain::Blocked;
  std::optional<Blocked> blocked;
  const std::vector<store::Candidate> usable = unit_.candidates(facts_.intent);
  if (!unit_.usable) {
    blocked = Blocked::node_down;
  } else if (core_.draining || core_.broken || !unit_.halted.empty() ||
             (usable.empty() && unit_.chain.info().ordered)) {
    blocked = Blocked::paused;
  } else if (!send_slot_) {
    send_slot_ = core_.throttle.try_take();
    if (!send_slot_) blocked = Blocked::throttled;
  }
  seen_.send_slot = domain::SendSlotSeen{blocked};
  co_return Flow::again;
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::Simulate) {
  using Result = domain::SimulationSeen::Result;
  const auto call = method_.call(facts_.intent);
  if (!call) {
    seen_.simulation = domain::SimulationSeen{Result::refused, call.error().detail};
    co_return Flow::again;
  }
  // Asked a moment ago, when its payer brought it.
  const auto known = core_.simulations.take(facts_.intent.id, core_.parts.clock.mono_ms());
  if (known && facts_.attempts.empty()) {
    gas_ = known;
    seen_.simulation = domain::SimulationSeen{Result::passes, {}};
    co_return Flow::again;
  }
  const std::vector<store::Candidate> usable = unit_.candidates(facts_.intent);
  const domain::Address sender = facts_.slot      ? facts_.slot->account
                                 : usable.empty() ? facts_.intent.terms.payer
                                                  : usable.front().account;
  const auto answer = co_await unit_.chain.simulate(sender, *call);
  domain::SimulationSeen seen;
  answer.match(
      [&](const ports::Simulated& simulated) {
        gas_ = simulated.gas;
        seen.result = Result::passes;
      },
      [&](const ports::Refused& no) {
        const bool contract = no.kind == ports::RefusalKind::reverted;
        seen.result = contract ? Result::refused : Result::unknown;
        if (no.kind == ports::RefusalKind::gas) seen.result = Result::over_gas_cap;
        if (no.kind == ports::RefusalKind::unfunded) {
          seen_.send_slot = domain::SendSlotSeen{domain::Blocked::unfunded};
          note_funds(sender, true);
        }
        seen.reason = no.message;
      },
      [&](const ports::NotSent& not_sent) { seen.reason = not_sent.reason; },
      [&](const ports::Unknown& unknown) { seen.reason = unknown.reason; });
  seen_.simulation = std::move(seen);
  co_return Flow::again;
}

// An empty account fails nobody. Some nodes say so only when they are sent a transaction.
void Delivery::note_funds(const domain::Address& sender, bool unfunded) {
  AccountState* const account = unit_.account(sender);
  if (account != nullptr) engine::note_funds(core_, unit_, *account, unfunded);
}

Awaitable<std::vector<domain::HashSeen>> Delivery::search() {
  std::vector<ports::Awaitable<ports::Outcome<ports::Whereabouts>>> asked;
  std::vector<domain::HashSeen> out;
  for (const domain::Attempt& one : facts_.attempts) {
    if (!one.hash) continue;
    if (planted(Tooth::forget_replaced) && &one != &facts_.attempts.back()) continue;
    asked.push_back(unit_.chain.find(*one.hash));
    out.emplace_back().attempt = one.id;
  }
  auto answers = co_await join_all(std::move(asked));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ports::Whereabouts* const found = answers[i].ok();
    if (found == nullptr) continue;  // stays unknown
    switch (found->place) {
      case ports::Whereabouts::Place::not_found: out[i].result = HashResult::not_found; break;
      case ports::Whereabouts::Place::pending: out[i].result = HashResult::pending; break;
      case ports::Whereabouts::Place::mined: {
        if (!found->tx) break;
        const bool is_final = co_await unit_.is_final(*found->tx);
        // What one node shows as final ends nothing, whatever it is one of ours that it shows.
        const auto says = says_of(*found->tx, facts_.attempts);
        if (is_final && !co_await vouched(core_, unit_, *found->tx, says)) break;
        out[i].result = place_of(*found->tx, is_final);
        out[i].tx = std::move(found->tx);
        break;
      }
    }
  }
  // Its noops tell of its numbers, and nothing of the payment.
  for (const domain::HashSeen& one : out) {
    if (one.tx && domain::own_pay(facts_.attempts, one.tx->hash) != nullptr) {
      core_.note_mined(unit_, {facts_.intent.id, true}, *one.tx);
    }
  }
  co_return out;
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::SearchAttempts) {
  seen_.search = co_await search();
  // A revert that is final has used the number up, whatever becomes of the payment.
  for (const domain::HashSeen& one : *seen_.search) {
    const bool used_up = one.result == HashResult::final_reverted && one.tx && facts_.slot &&
                         facts_.slot->state != domain::SlotState::consumed &&
                         facts_.slot->sequence == one.tx->sequence;
    if (used_up && co_await core_.consume_slot(*facts_.slot, *one.tx, "reverted")) {
      co_return co_await read_again();
    }
  }
  co_return Flow::again;
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::LookAgain) {
  seen_.search = co_await search();
  if (seen_.post) seen_.post->looked_again = true;
  co_return Flow::again;
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::ReadFinalSequence) {
  if (!facts_.slot) co_return co_await on(domain::step::Nack{0, "no slot to read"});
  const auto answer = co_await unit_.chain.sequences(facts_.slot->account);
  if (const ports::SequenceCounts* counts = answer.ok()) {
    seen_.final_sequence = planted(Tooth::second_number) ? counts->latest : counts->finalized;
    co_return Flow::again;
  }
  co_return co_await on(domain::step::Nack{
      domain::backoff_ms(core_.config.policy.retry, now().tries, now().jitter), answer.text()});
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::FetchConsumer step) {
  domain::ConsumerSeen seen;
  seen.slot = step.slot;
  const bool current = facts_.slot && facts_.slot->id == step.slot;
  const auto slot =
      current ? facts_.slot : co_await core_.parts.store.read([id = step.slot](store::Txn& txn) {
        return store::find_slot(txn, id);
      });
  if (slot) seen.tx = unit_.final_at(slot->account, slot->sequence);
  // Seen in a block that one node showed.
  if (seen.tx && !co_await vouched(core_, unit_, *seen.tx, says_of(*seen.tx, facts_.attempts))) {
    seen.tx.reset();
  }
  if (slot && !seen.tx) {
    const auto answer = co_await unit_.chain.consumer(slot->account, slot->sequence);
    seen.is_unanswered = answer.ok() == nullptr;
    if (const auto* tx = answer.ok()) seen.tx = *tx;
    if (seen.tx && !co_await unit_.noted_stands(seen.tx->block.height)) {
      seen.tx.reset();
      seen.is_unanswered = true;
    }
  }
  if (current) {
    seen_.consumer = std::move(seen);
  } else {
    seen_.earlier_consumers.push_back(std::move(seen));
  }
  co_return Flow::again;
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::ReadAuthorization) {
  seen_.authorization = co_await method_.read_authorization(facts_.intent);
  co_return Flow::again;
}

Awaitable<Delivery::Flow> Delivery::on(domain::step::ReadRefFound) {
  std::vector<domain::RefSeen> all;
  all.reserve(facts_.ref_found_in.size());
  for (const domain::CarriesRef& one : facts_.ref_found_in) all.push_back(co_await look_at(one));
  seen_.ref_found = domain::nearest_to_paid(all);
  co_return Flow::again;
}

Awaitable<domain::RefSeen> Delivery::look_at(domain::CarriesRef one) {
  domain::RefSeen seen;
  const auto answer = co_await unit_.chain.find(one.hash);
  const ports::Whereabouts* const found = answer.ok();
  seen.is_unanswered = found == nullptr;
  if (found != nullptr) seen.tx = found->tx;
  const auto says = seen.tx && seen.tx->succeeded ? ports::Says::paid : ports::Says::unpaid;
  seen.is_final = seen.tx && co_await unit_.is_final(*seen.tx) &&
                  co_await vouched(core_, unit_, *seen.tx, says);
  const bool is_nowhere = found != nullptr && found->place == ports::Whereabouts::Place::not_found;
  if (!is_nowhere || !unit_.chain.info().ordered || !unit_.halted.empty()) co_return seen;
  // Taken out of its block for good, perhaps: what else used its number?
  const auto consumer = co_await unit_.chain.consumer(one.account, one.sequence);
  const domain::MinedTx* const other =
      consumer.ok() != nullptr && *consumer.ok() ? &**consumer.ok() : nullptr;
  if (other == nullptr || other->hash == one.hash) co_return seen;
  if (other->trailing_ref != facts_.intent.ref) {
    seen.is_replaced = true;
    co_return seen;
  }
  co_await note_refs_found(core_, unit_, *other);
  co_return domain::RefSeen{*other, false, true, false};
}

}  // namespace holdfast::engine

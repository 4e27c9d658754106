// Owns: a chain that takes back what it called final: how it is noticed, also by the next process,
// and that nothing more is claimed or posted there until an operator has looked.
// Must never: change what was settled: that is for people.
#include <algorithm>

#include "base/teeth.hpp"
#include "engine/core.hpp"
#include "engine/errors.hpp"
#include "engine/join.hpp"
#include "engine/requests.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

constexpr std::size_t most_checked = 200;
constexpr std::int64_t noted_every_ms = 10'000;

using Places = std::vector<ports::Outcome<ports::Whereabouts>>;

// What is not answered is asked again: a node fails once in a hundred calls.
Awaitable<Places> find_consumers(Unit& unit, const std::vector<domain::Slot>& slots) {
  constexpr int most_rounds = 5;
  Places out(slots.size());
  for (int round = 0; round < most_rounds; ++round) {
    std::vector<std::size_t> whose;
    std::vector<Awaitable<ports::Outcome<ports::Whereabouts>>> asked;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (out[i].ok() != nullptr) continue;
      whose.push_back(i);
      asked.push_back(unit.chain.find(slots[i].consumed_by.value_or(domain::TxHash{})));
    }
    if (asked.empty()) break;
    Places answers = co_await join_all(std::move(asked));
    for (std::size_t i = 0; i < answers.size(); ++i) out[whose[i]] = std::move(answers[i]);
  }
  co_return out;
}

struct Looked {
  bool any_gone = false;
  bool all_answered = true;
};

// Numbers that were consumed by transactions which are gone: kept apart, their payments unchanged.
// Once the chain is acknowledged, also those whose transaction is not final any more; and what one
// cost that was mined again at another price is put right.
Awaitable<Looked> look_again_at(Core& core, Unit& unit, std::vector<domain::Slot> slots) {
  Looked out;
  const Places answers = co_await find_consumers(unit, slots);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const ports::Whereabouts* const found = answers[i].ok();
    const AccountState* const account = unit.account(slots[i].account);
    out.all_answered = out.all_answered && found != nullptr;
    if (found == nullptr || account == nullptr) continue;
    if (found->tx && !unit.halted.empty()) continue;  // its word is not taken until a person looked
    const bool stands = found->tx && co_await unit.is_final(*found->tx) &&
                        co_await vouched(core, unit, *found->tx, ports::Says::paid);
    if (stands) {
      co_await core.consume_slot(slots[i], *found->tx, "mined again");
      continue;
    }
    out.any_gone = true;
    if (planted(Tooth::gone_kept)) continue;
    const store::SlotMove move{slots[i].id,
                               account->epoch,
                               slots[i].state,
                               domain::SlotState::reconciliation_required,
                               {},
                               "the chain took back what it called final",
                               core.wall_ms()};
    const auto moved = co_await core.parts.store.write(
        [move](store::Txn& txn) { return store::move_slot(txn, move); });
    if (!moved) core.refused(moved.error());
  }
  co_return out;
}

// The newest first, page after page until one stands as it was: those before it are deeper still.
/// False: a node did not answer for some.
Awaitable<bool> look_again_at_consumed(Core& core, Unit& unit) {
  std::optional<domain::SlotId> before;
  bool all_answered = true;
  for (;;) {
    auto slots = co_await core.parts.store.read([id = unit.id(), before](store::Txn& txn) {
      return store::newest_consumed(txn, id, before, most_checked);
    });
    if (slots.empty()) break;
    before = slots.back().id;
    const Looked page = co_await look_again_at(core, unit, std::move(slots));
    all_answered = all_answered && page.all_answered;
    if (!page.any_gone) break;
  }
  unit.consumed_looked_ms = core.parts.clock.mono_ms();
  unit.consumed_unread = !all_answered;
  co_return all_answered;
}

}  // namespace

Awaitable<void> halt(Core& core, Unit& unit, std::string why) {
  if (planted(Tooth::finality_unwatched)) co_return;
  // In memory at once, on record as soon as the store takes it: a caller whose write failed asks
  // again.
  if (unit.halted.empty()) {
    unit.halted = why;
    unit.broadcaster.stop(true);
    core.alarm("finality_violated", {{"chain", unit.id().value}, {"why", why}});
  }
  co_await core.parts.store.write([id = unit.id(), why, now_ms = core.wall_ms()](store::Txn& txn) {
    return store::halt_chain(txn, id, why, now_ms);
  });
  co_await look_again_at_consumed(core, unit);
}

Awaitable<void> halt_if_restored(Core& core, Unit& unit) {
  const auto& restored = core.parts.store.restored();
  if (!restored || unit.chain.info().ordered || !unit.halted.empty()) co_return;
  if (unit.answered_for) co_return;
  unit.halted = *restored + "; what was sent on " + unit.id().value +
                " since cannot be told from numbers: acknowledge the chain when that is understood";
  core.alarm("chain_halted", {{"chain", unit.id().value}, {"why", unit.halted}});
  co_await core.parts.store.write(
      [id = unit.id(), why = unit.halted, now_ms = core.wall_ms()](store::Txn& txn) {
        return store::halt_chain(txn, id, why, now_ms);
      });
}

Awaitable<bool> is_same_chain(Core& core, Unit& unit) {
  const store::ChainRecord record = co_await core.parts.store.read(
      [id = unit.id()](store::Txn& txn) { return store::chain_record(txn, id); });
  // Halted while the store took no writes: nobody else asks again.
  if (!unit.halted.empty() && record.halted.empty()) {
    co_await halt(core, unit, unit.halted);
    co_return true;
  }
  // Cut short by a crash, perhaps; it finds nothing to do the second time. Without a final block on
  // record the chain was acknowledged, or is new here.
  if (!unit.halted.empty() || !record.final_block || unit.consumed_unread) {
    const bool all_answered = co_await look_again_at_consumed(core, unit);
    // With the first final block on record, nobody would look again after a crash.
    if (!all_answered && unit.halted.empty()) {
      unit.why = "the node does not answer for all numbers that were used before";
      co_return false;
    }
  }
  std::optional<domain::BlockRef> known = record.final_block;
  const std::uint64_t noted = known ? known->height : 0;
  if (unit.called_final && unit.called_final->height > noted) known = unit.called_final;
  if (!known || !unit.halted.empty()) co_return true;
  const auto answer = co_await unit.chain.block_hash(known->height);
  if (answer.ok() == nullptr) {
    unit.why = answer.text();
    co_return false;
  }
  const std::string height = std::to_string(known->height);
  if (!*answer.ok()) {
    unit.why = "the node does not have block " + height + ", which was final when it was seen";
    co_return false;
  }
  if (**answer.ok() != known->hash) {
    co_await halt(core, unit,
                  "block " + height + " was final as " + known->hash.hex() + " and is another now");
  } else if (record.final_block) {
    // What this process alone has called final is on record with the next note, and not before.
    unit.note_called_final(*record.final_block);
  }
  co_return true;
}

Awaitable<bool> vouched(Core& core, Unit& unit, domain::MinedTx tx, ports::Says says) {
  constexpr std::int64_t told_every_ms = 60'000;
  constexpr std::int64_t shown_for_ms = 600'000;
  const domain::TxHash of = tx.hash;
  const auto answer = co_await unit.chain.vouch(std::move(tx), says);
  const std::int64_t now_ms = core.parts.clock.mono_ms();
  if (answer.ok() != nullptr || planted(Tooth::unvouched)) {
    if (now_ms - unit.unvouched_ms > shown_for_ms) unit.unvouched.clear();
    co_return true;
  }
  const std::string hash = of.hex();
  unit.unvouched =
      "transaction " + hash + " is not vouched for, and ends nothing: " + answer.text();
  unit.unvouched_ms = now_ms;
  if (!unit.unvouched_told_ms || now_ms - *unit.unvouched_told_ms >= told_every_ms) {
    unit.unvouched_told_ms = now_ms;
    log::warn("not_vouched_for",
              {{"chain", unit.id().value}, {"tx", hash}, {"why", answer.text()}});
  }
  co_return false;
}

namespace {

// Another engine has all of its accounts: what that one read when it started is all it knows of
// final blocks noted before, and what is noted behind its back it would never compare.
bool is_superseded(store::Txn& txn, const domain::ChainId& chain,
                   const std::vector<Unit::Held>& accounts) {
  return !accounts.empty() && std::ranges::all_of(accounts, [&](const Unit::Held& one) {
    const auto row = store::find_account(txn, chain, one.address);
    return row && row->epoch != one.epoch;
  });
}

}  // namespace

Awaitable<void> note_finality(Core& core, Unit& unit) {
  const domain::BlockRef block = unit.view.final_block();
  const std::int64_t now_ms = core.parts.clock.mono_ms();
  if (unit.consumed_unread && now_ms - unit.consumed_looked_ms >= noted_every_ms) {
    co_await look_again_at_consumed(core, unit);
  }
  if (block.height <= unit.final_noted.height || !unit.halted.empty()) co_return;
  if (unit.final_noted.height > 0 && now_ms - unit.final_noted_ms < noted_every_ms) co_return;
  unit.final_noted_ms = now_ms;
  const bool is_noted = co_await core.parts.store.write(
      [id = unit.id(), block, accounts = unit.accounts_held()](store::Txn& txn) {
        if (is_superseded(txn, id, accounts)) return false;
        store::note_final_block(txn, id, block);
        return true;
      });
  if (is_noted) unit.note_called_final(block);
}

Awaitable<Result<bool>> Engine::acknowledge(Caller who, domain::ChainId chain, std::string reason) {
  const auto core = core_;
  Unit* const unit = core->unit(chain);
  if (unit == nullptr)
    co_return refuse(EngineError::unknown_chain, "no such chain: " + chain.value);
  const store::Signature by{who.id.value, std::move(reason),
                            request_of_key(who, "acknowledge/" + chain.value), core->wall_ms(), 0};
  // Halted in memory alone, its write has failed so far: what is acknowledged is on record, too.
  const auto done =
      co_await core->parts.store.write([chain, by, halted = unit->halted](store::Txn& txn) {
        if (!halted.empty()) store::halt_chain(txn, chain, halted, by.now_ms);
        return store::acknowledge_chain(txn, chain, by);
      });
  if (done && *done) co_return true;
  if (!done) {
    const bool calm = done.error().code == store::StoreError::not_found;
    co_return calm ? refuse(EngineError::wrong_state, chain.value + " is not halted")
                   : at_the_face(done.error());
  }
  unit->answered_for = true;
  co_await answer_for_restored(*core, by.who);
  unit->halted.clear();
  unit->consumed_unread = true;  // whatever is noted as final before they are looked at
  unit->broadcaster.stop(false);
  unit->view.forget_finality();
  unit->called_final.reset();
  unit->was_usable = false;
  unit->final_noted = {};
  unit->final_followed = 0;
  unit->usable = false;  // looked at afresh, as after a start
  unit->why = "acknowledged, and looked at afresh";
  core->wake();
  co_return false;
}

}  // namespace holdfast::engine

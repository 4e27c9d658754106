// Owns: the state every coroutine of one engine shares, and the door all its moves go through:
// `move`. One executor, no mutex: state is checked again after each co_await.
// Must never: change a payment in memory before its commit.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <holdfast/base/log.hpp>
#include <holdfast/engine/engine.hpp>
#include <holdfast/engine/keyed_queue.hpp>
#include "engine/signal.hpp"
#include "engine/simulations.hpp"
#include "engine/task_group.hpp"
#include "engine/throttle.hpp"
#include "engine/unit.hpp"
#include "engine/waiters.hpp"
#include "store/model.hpp"

namespace holdfast::engine {

class Engine::Core {
 public:
  Core(boost::asio::any_io_executor executor, Config settings, Parts from);

  /// A move of the transition table. On success everybody in memory knows of it.
  Awaitable<Result<domain::Facts>> move(store::Move wanted) {
    return move(std::make_unique<store::Move>(std::move(wanted)));
  }
  /// The same, held once: it is a kilobyte, and would stand in every frame and operation on its
  /// way.
  Awaitable<Result<domain::Facts>> move(std::unique_ptr<store::Move> wanted);
  /// Several in one write, each for itself: what was refused stands in its place.
  Awaitable<std::vector<Result<domain::Facts>>> move_all(std::vector<store::Move> wanted);
  /// Tells watch, broadcaster and waiters what the facts now are. Call it after every write that
  /// returns facts, and with facts read for a delivery.
  void changed(const domain::Facts& facts);
  /// Counts a payment that was ended or set aside, and logs it with its reason.
  void count_move(const domain::Intent& intent);
  /// A final transaction that was read has used this number up: its gas is journalled, once. False
  /// when the store refused it (logged as an alarm) or the account is not ours to move.
  Awaitable<bool> consume_slot(domain::Slot slot, domain::MinedTx tx, std::string why);

  /// A mined transaction that concerns this payment. Somebody else's counts only when it moved this
  /// payment: any other use of the authorization says nothing about our own bytes. True: noted.
  bool note_mined(Unit& unit, const Watch::Match& match, const domain::MinedTx& tx);

  /// Something a person must look at: logged and counted.
  void alarm(std::string_view event, log::Fields fields);
  /// The store is in doubt, or a promise to ourselves is broken: nothing new is started.
  void break_off(std::string_view why);
  /// A write was refused. Where another engine has taken over an account of ours, this one ends its
  /// work on the store.
  void refused(const Error& error);
  /// A coroutine of ours threw what nobody expected: the engine stops rather than go on without it.
  void task_ended_badly(const std::exception_ptr& error);

  Unit* unit(const domain::ChainId& id);
  ports::Method* method(const domain::Terms& terms);
  domain::Policy policy_for(const Unit& unit) const;

  /// The queue's time: wall time at the start plus monotonic time since, so that no jump of the
  /// clock ends a lease.
  std::int64_t queue_ms() const { return queue_start_ms + parts.clock.mono_ms(); }
  std::int64_t wall_ms() const { return parts.clock.wall_ms(); }
  /// The store was put back from a backup, and nobody has answered for all of it yet.
  bool is_restored() const { return parts.store.restored() && !restored_answered; }

  boost::asio::any_io_executor executor;
  Config config;
  Parts parts;
  domain::InstanceId instance;
  std::int64_t queue_start_ms = 0;
  bool restored_answered = false;

  std::vector<std::unique_ptr<Unit>> units;
  KeyedQueue<domain::IntentId> turns;
  Throttle throttle;
  Waiters waiters;
  Simulations simulations;
  std::unordered_map<domain::IntentId, int> told;  ///< successes on their way out, by payment
  /// A job may be ready, or there is room for one: the dispatcher looks again.
  void wake();
  std::uint64_t wakes = 0;  ///< so that a wake while the dispatcher leases is not lost
  Signal work;
  std::unordered_set<domain::Receipt> held;  ///< of the deliveries that run now
  std::int64_t leases_kept_ms = 0;  ///< monotonic: when those held were last extended
  TaskGroup deliveries;
  TaskGroup loops;  ///< dispatcher, lease keeper, sweeper, account keepers
  TaskGroup listeners;  ///< one per chain; they outlive the deliveries in a drain
  Stats stats;
  bool started = false;
  bool leasing = false;  ///< the dispatcher's loop runs
  bool draining = false;
  bool broken = false;

 private:
  void prepare(store::Move& wanted) const;
  void moved(const Result<domain::Facts>& facts, domain::IntentState to,
             const std::vector<domain::BlockRef>& ended_by);
};

using Core = Engine::Core;

// Each in the file of its name.
Awaitable<void> recover(Core& core);  // recovery.cpp
/// Checks the chain, reads its accounts, looks for everybody watched; false (and `why`) if it
/// cannot.
Awaitable<bool> bring_up(Core& core, Unit& unit);  // recovery.cpp
Awaitable<bool> read_accounts(Core& core, Unit& unit);  // recovery.cpp
/// Where the transactions of these payments are now. False: the node did not answer for each.
Awaitable<bool> look_for(Core& core, Unit& unit,
                         std::vector<domain::IntentId> ids);  // recovery.cpp
/// A head was read: the view sees it, and a chain that has stood still for long is told of, once.
void see_head(Core& core, Unit& unit, const ports::Head& head);  // recovery.cpp
/// The block that was called final last is still there. False: the node is behind it, or does not
/// answer; when another stands in its place the chain is halted, and this says true.
Awaitable<bool> is_same_chain(Core& core, Unit& unit);  // halting.cpp
/// Remembers the newest final block, now and then.
Awaitable<void> note_finality(Core& core, Unit& unit);  // halting.cpp
/// A chain took back what it called final: nothing is claimed or posted there until an operator has
/// looked.
Awaitable<void> halt(Core& core, Unit& unit, std::string why);  // halting.cpp
/// The store was put back from a backup, and on a chain without numbers nothing tells what was sent
/// since: halted as above, until it is acknowledged.
Awaitable<void> halt_if_restored(Core& core, Unit& unit);  // halting.cpp
/// Once every account, and every chain without numbers, is answered for, the restored store is.
Awaitable<void> answer_for_restored(Core& core, std::string who);  // reconcile.cpp
Awaitable<void> dispatch(Core& core);  // dispatcher.cpp
Awaitable<void> keep_leases(Core& core);  // dispatcher.cpp
Awaitable<void> sweep(Core& core);  // sweep.cpp
Awaitable<void> deliver(Core& core, std::unique_ptr<store::Leased> leased);  // settle.cpp
Awaitable<void> listen(Core& core, Unit& unit);  // listener.cpp
/// Do all nodes in use say the same of it (Chain::vouch)? Asked before a payment or a number ends
/// by a transaction that one of them showed. A chain whose nodes go on disagreeing is told of.
Awaitable<bool> vouched(Core& core, Unit& unit, domain::MinedTx tx,
                        ports::Says says);  // halting.cpp
/// Remembers the refs in a transaction of ours that the store knows nothing of, and whose they are.
Awaitable<void> note_refs_found(Core& core, Unit& unit, domain::MinedTx tx);  // used_numbers.cpp
/// Tends the sending accounts of a chain, round after round.
Awaitable<void> keep_accounts(Core& core, Unit& unit);  // keeper.cpp

}  // namespace holdfast::engine

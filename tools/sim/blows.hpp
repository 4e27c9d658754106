// Owns: the blows: what each of them does, how long it lasts, and how often each has struck.
// Must never: strike in a way that domain.md says nothing can survive, without telling the watch.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "machine.hpp"
#include "people.hpp"
#include "setting.hpp"
#include "story.hpp"
#include "tally.hpp"

namespace holdfast::campaign {

class Blows {
 public:
  Blows(Machine& machine, Clients& clients, Operators& operators, Story& story);

  void strike(const Stroke& stroke);
  /// Ends what was to last for a while and is over.
  void expire();
  /// Ends everything that lasts.
  void calm();

  /// The process has ended: nothing starts before its time.
  void ended();
  /// A process has begun to start.
  void booted();
  bool may_boot() const;
  void boot_later();
  /// The moment that a blow chose for the process's end, in items of the executor, has come.
  bool dies_now() const;
  void die_now();

  void count(Tally& tally);

 private:
  void strike_machine(Blow blow, sim::Chance& chance);
  void strike_chain(Blow blow, sim::Chance& chance);
  void strike_people(Blow blow, sim::Chance& chance);
  void die_soon(Blow blow, Machine::End end, sim::Chance& chance);
  void freeze_in_write(Blow blow, Machine::End end, sim::Chance& chance);
  void reorg(Blow blow, sim::Chance& chance);
  void use_key(sim::Chance& chance);
  void use_number(sim::Chance& chance);
  void use_authorization(bool by_payer, sim::Chance& chance);
  void last(std::int64_t ms, std::function<void()> end);
  void told(Blow blow);
  /// It has had its effect: what was only meant to strike is told, and counts for nothing.
  void counted(Blow blow);
  void struck(Blow blow);  ///< both at once

  Machine& machine_;
  Clients& clients_;
  Operators& operators_;
  Story& story_;
  std::multimap<std::int64_t, std::function<void()>> lasting_;
  std::array<std::uint64_t, blow_count> struck_{};
  std::uint64_t dies_at_step_ = 0;  ///< zero: no death is due
  Machine::End dies_by_ = Machine::End::process;
  Blow dies_of_ = Blow::process_killed;
  Blow in_write_ = Blow::killed_in_write;
  std::int64_t boot_ms_ = 0;
  std::uint64_t ends_ = 0;  ///< of processes, however they came
  std::uint64_t backups_ = 0;
  int nodes_down_ = 0;  ///< one after the other is over, and the last lifts it
  int pauses_ = 0;
  bool restores_ = false;
  std::optional<std::uint64_t> again_after_;  ///< so many items after its start it dies again
  int spikes_ = 0;
  int inventions_ = 0;
};

}  // namespace holdfast::campaign

// Owns: the blows: what each of them does, how long it lasts, and how often each has struck.
// Must never: strike in a way that domain.md says nothing can survive, without telling the watch.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>

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
  bool may_boot() const;
  void boot_later();
  /// The moment that a blow chose for the process's end, in items of the executor, has come.
  bool dies_now() const;
  void die_now();

  std::uint64_t crashes() const { return crashes_; }
  void count(Tally& tally) const;

 private:
  void strike_machine(Blow blow, sim::Chance& chance);
  void strike_chain(Blow blow, sim::Chance& chance);
  void strike_people(Blow blow, sim::Chance& chance);
  void die_soon(Machine::End end, sim::Chance& chance);
  void freeze_in_write(Machine::End end, sim::Chance& chance);
  void reorg(Blow blow, sim::Chance& chance);
  void use_key(sim::Chance& chance);
  void use_number(sim::Chance& chance);
  void use_authorization(bool by_payer, sim::Chance& chance);
  void last(std::int64_t ms, std::function<void()> end);
  void struck(Blow blow);

  Machine& machine_;
  Clients& clients_;
  Operators& operators_;
  Story& story_;
  std::multimap<std::int64_t, std::function<void()>> lasting_;
  std::array<std::uint64_t, blow_count> struck_{};
  std::uint64_t dies_at_step_ = 0;  ///< zero: no death is due
  Machine::End dies_by_ = Machine::End::process;
  std::int64_t boot_ms_ = 0;
  std::uint64_t crashes_ = 0;
  bool restores_ = false;
};

}  // namespace holdfast::campaign

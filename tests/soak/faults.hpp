// Owns: the plan's ills as faults of the proxy, how often each came, and whether they come at all.
// Must never: lie about what is final: a node that does is not what the engine is built for.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include <boost/json/object.hpp>

#include "plan.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::cases {
class Rig;
}

namespace holdfast::soak {

class Faults {
 public:
  /// The proxy of the rig follows the plan from now on. Outlives the proxy's use of it.
  Faults(const Settings& settings, cases::Rig& rig);
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  /// Until it is taken back: every call is cut.
  void set_outage(bool on) { outage_ = on; }
  /// From now on every call passes.
  void heal();

  std::uint64_t count(Ill ill) const { return counts_.at(static_cast<std::size_t>(ill)); }
  /// Without those that passed.
  std::uint64_t count_all() const;
  boost::json::object as_json() const;

 private:
  test::Fault next(const std::string& method, std::uint64_t call);
  test::Fault fault_of(PickedIll picked) const;

  Settings settings_;
  cases::Rig& rig_;
  std::atomic<bool> outage_ = false;
  std::array<std::atomic<std::uint64_t>, ill_count> counts_{};
  std::atomic<std::uint64_t> cut_by_outage_ = 0;
};

}  // namespace holdfast::soak

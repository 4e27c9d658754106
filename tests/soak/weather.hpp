// Owns: the blows that fall on the engine's process and on the chain, at their times.
// Must never: take back a block that is final: only the newest one is ever replaced.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/json/object.hpp>

#include "cases/rig.hpp"
#include "faults.hpp"
#include "plan.hpp"

namespace holdfast::soak {

class Weather {
 public:
  Weather(const Settings& settings, cases::Rig& rig, Faults& faults);
  ~Weather();
  Weather(const Weather&) = delete;
  Weather& operator=(const Weather&) = delete;

  /// Time runs from here.
  void start();
  /// No more blows; the engine runs when this returns.
  void stop();

  std::uint64_t count(Blow blow) const { return counts_.at(static_cast<std::size_t>(blow)); }
  boost::json::object as_json() const;
  /// What the engine's process did that nobody asked for.
  std::vector<std::string> complaints() const;

 private:
  void run(const std::vector<BlowAt>& blows, bool of_engine);
  /// False when nothing could be done: no transaction waits, another block came.
  bool strike(const BlowAt& what);
  void restart(std::int64_t after_ms);
  void revive();
  bool drop_newest();
  bool reorg(bool keep);
  void complain(const std::string& what);

  cases::Rig& rig_;
  Faults& faults_;
  std::vector<BlowAt> on_engine_;
  std::vector<BlowAt> on_chain_;
  std::int64_t began_ms_ = 0;
  std::array<std::atomic<std::uint64_t>, blow_count> counts_{};
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> ending_ = false;
  std::atomic<int> running_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> complaints_;
  std::vector<std::thread> threads_;
};

}  // namespace holdfast::soak

// Owns: a rig whose machine can be made to go wrong: its disk and its wall clock.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "rig.hpp"

namespace holdfast::cases {

/// A rig whose machine can be made to go wrong.
class Machine {
 public:
  explicit Machine(Options options = {}) : rig(with_switches(std::move(options))) {
    rig.options.environment.push_back("HOLDFAST_FAULTS_IN=" + rig.folder() + "/pay.db");
  }
  void set(const std::string& name, const std::string& content = "") const {
    // Whole at once: it is being looked at.
    std::ofstream(switches_ / (name + ".part")) << content;
    std::filesystem::rename(switches_ / (name + ".part"), switches_ / name);
  }
  void unset(const std::string& name) const { std::filesystem::remove(switches_ / name); }

 private:
  Options with_switches(Options options) const {
    options.environment = {"LD_PRELOAD=" HOLDFAST_SYSTEM_FAULTS,
                           "HOLDFAST_FAULTS=" + switches_.path().string()};
    return options;
  }
  test::TempFolder switches_;

 public:
  Rig rig;
};

}  // namespace holdfast::cases

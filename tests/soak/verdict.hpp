// Owns: what is right at the end: each payment by itself, read from the chain and from the engine's
// answers, and what holds for all of them.
// Must never: take the engine's word for what moved.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "cases/rig.hpp"
#include "traffic.hpp"

namespace holdfast::soak {

struct Check {
  std::string name;
  bool good = false;
  std::string detail;  ///< what is wrong, or what was counted
};

struct Verdict {
  std::vector<Check> checks;
  /// What is wrong with a payment, by its id, or its key where it got none.
  std::map<std::string, std::string> wrong;
  std::map<std::string, std::size_t> states;
  std::map<std::string, std::size_t> reasons;  ///< "state: reason", where there is one
  std::size_t payments = 0;
  std::size_t transfers = 0;

  std::size_t failed() const;
  std::size_t passed() const { return payments + checks.size() - failed(); }
  boost::json::object as_json() const;
};

/// Asks the engine and the node about every payment. Everything is healed, and the engine runs.
void judge_payments(cases::Rig& rig, const std::vector<Asked>& asked, Verdict& verdict);
/// The verbs, and the checks of the cases; stops the engine.
void judge_store(cases::Rig& rig, const std::vector<Asked>& asked, Verdict& verdict);

/// Counts what the rig itself insists on, outside of any test case, and keeps its words.
void listen_to_asserts();
std::vector<std::string> failed_asserts();

}  // namespace holdfast::soak

// Owns: one chain as the running engine holds it: the port, its methods, its sending accounts, what
// was read of it last, and who is watched on it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/engine/config.hpp>
#include <holdfast/ports/method.hpp>
#include "engine/broadcaster.hpp"
#include "engine/chain_view.hpp"
#include "engine/watch.hpp"

namespace holdfast::engine {

struct AccountState {
  domain::Address address;
  std::optional<domain::Sequence> adopt;
  std::uint64_t epoch = 0;
  std::optional<ports::SequenceCounts> counts;  ///< as read last; empty: never
  std::string blocked;  ///< why it takes no claims; empty: it does
};

struct Unit {
  Unit(ports::Chain& on, ports::Clock& clock) : chain(on), broadcaster(on, clock) {}

  ports::Chain& chain;
  std::map<std::string, ports::Method*> methods;
  std::vector<AccountState> accounts;
  ChainView view;
  Watch watch;
  Broadcaster broadcaster;
  bool usable = false;
  std::string why = "not asked yet";  ///< a sentence while it is not usable
  std::string halted;  ///< why nothing is claimed or posted until a person says so; empty: all well
  Signal handed_over;  ///< a number was given to its account

  const domain::ChainId& id() const { return chain.info().id; }
  /// Everything below it is mined: it is the next of its account. The store alone would say so only
  /// once what is below is final.
  bool is_next(const domain::Slot& slot) {
    const AccountState* const state = account(slot.account);
    return state != nullptr && state->counts && slot.sequence <= state->counts->latest;
  }
  AccountState* account(const domain::Address& address) {
    for (AccountState& state : accounts) {
      if (state.address == address) return &state;
    }
    return nullptr;
  }
};

}  // namespace holdfast::engine

// Owns: the configured accounts' keys: opened, and named as their chains name them.
// Must never: say more of a key than which file or variable it is in.
#pragma once

#include <memory>
#include <vector>

#include <holdfast/engine/config.hpp>
#include <holdfast/ports/entropy.hpp>
#include <holdfast/ports/signer.hpp>

#include "app/config.hpp"

namespace holdfast::app {

struct Signers {
  std::unique_ptr<ports::Signer> signer;
  std::vector<engine::Account> accounts;
};

/// A sentence for each key that a start would refuse: no file there, no file of ours, not for us
/// alone, no key in it or in the variable. Nothing of what they hold is kept or told. A variable
/// that is not set is none: `unset_variables` names it.
std::vector<std::string> key_problems(const std::vector<ChainConfig>& chains);

/// The environment variables that a start needs and that are not set here, each once: where a
/// configuration is checked need not be where it is served.
std::vector<std::string> unset_variables(const std::vector<ChainConfig>& chains);

/// Errors name the file or variable and what is wrong with it. A key may serve several chains.
Result<Signers> open_signers(const std::vector<ChainConfig>& chains, ports::Entropy& entropy);

}  // namespace holdfast::app

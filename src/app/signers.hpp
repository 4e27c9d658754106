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

/// A sentence for each key file that a start would refuse: none there, no file of ours, not for us
/// alone, no key in it. Nothing of what it holds is kept or told.
std::vector<std::string> key_file_problems(const std::vector<ChainConfig>& chains);

/// Errors name the file or variable and what is wrong with it. A key may serve several chains.
Result<Signers> open_signers(const std::vector<ChainConfig>& chains, ports::Entropy& entropy);

}  // namespace holdfast::app

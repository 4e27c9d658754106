// Owns: the sending accounts of a run: keys made from its seed, in the real local signer.
// Must never: be used with money: whoever knows the seed has the keys.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <holdfast/domain/ids.hpp>

#include "signer/local_signer.hpp"

namespace holdfast::load {

struct Keys {
  std::unique_ptr<signer::LocalSigner> signer;
  std::vector<domain::Address> accounts;
};

/// The same seed gives the same accounts. Before other threads start: keys go to the signer by way
/// of an environment variable, which it wipes.
Keys make_keys(std::uint64_t seed, std::uint64_t count);

}  // namespace holdfast::load

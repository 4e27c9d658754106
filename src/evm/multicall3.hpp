// Owns: Multicall3's aggregate3: several calls in one transaction of ours.
// Must never: carry a call whose target was not chosen by us.
#pragma once

#include <vector>

#include "evm/abi.hpp"
#include "evm/address.hpp"

namespace holdfast::evm {

/// The same on every chain that has it (https://www.multicall3.com).
inline const Address20 multicall3_address =
    *Address20::from_text("0xcA11bde05977b3631167028862bE2a173976CA11");

namespace selectors {
inline constexpr abi::Selector aggregate3{0x82, 0xad, 0x56, 0xcb};
}  // namespace selectors

struct BundledCall {
  Address20 target;
  bool may_fail = false;
  Bytes payload;
};

/// aggregate3((address target, bool allowFailure, bytes callData)[]).
Bytes encode_aggregate3(const std::vector<BundledCall>& calls);

}  // namespace holdfast::evm

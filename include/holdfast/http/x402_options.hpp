// Owns: what can be set about the x402 facilitator, with the values it has when nothing is said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/base/uint256.hpp>

namespace holdfast::http {

struct X402Options {
  bool enabled = false;
  std::string base = "/x402";  ///< the path before /supported, /verify and /settle; may be empty
  /// False: whoever brings no key may verify and settle, too. All of them are one caller then.
  bool require_key = true;
  /// The longest a settle waits for its payment, at most 75 s: callers hang up after 90.
  std::int64_t budget_ms = 75'000;
  /// Addresses that may be paid with, and paid to, in any case; empty: every one.
  std::vector<std::string> assets = {};
  std::vector<std::string> payees = {};
  /// Names of version 1 beside the known ones: {"my-net", "eip155:31337"}.
  std::vector<std::pair<std::string, std::string>> networks = {};
  /// Each caller's /verify and /settle: so many a second, and so many at once; 0: no limit.
  std::uint32_t requests_per_s = 0;
  std::uint32_t burst = 20;
  /// What each caller's new payments may cost in gas, per chain and day (UTC), base units of the
  /// chain's own asset: the most that their signed transactions offer. Counted in memory.
  std::optional<U256> gas_per_day = {};
};

}  // namespace holdfast::http

// Owns: what names of accounts and tokens look like on the simulated chains.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/result.hpp>
#include <holdfast/domain/ids.hpp>

namespace holdfast::sim {

/// Letters, digits, ':', '_' and '-', 1 to 64 of them; upper case is lowered.
Result<domain::Address> parse_address(std::string_view text);
/// The same, or `native`.
Result<domain::AssetId> parse_asset(std::string_view text);

}  // namespace holdfast::sim

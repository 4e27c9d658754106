// Owns: the 20-byte account address and its text with the EIP-55 checksum.
#pragma once

#include <string>
#include <string_view>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/result.hpp>

namespace holdfast::evm {

using Address20 = FixedBytes<20, struct Address20Tag>;

/// "0x" and 40 hex digits whose case carries the checksum (EIP-55).
std::string to_checksum(const Address20& address);

/// Reads "0x" and 40 hex digits: all lower case, all upper case, or the exact EIP-55 form. The zero
/// address is read like any other; a caller for whom it is wrong says so itself.
/// Errors: bad_address (never echoes the text), bad_checksum (names the address).
Result<Address20> parse_address(std::string_view text);

}  // namespace holdfast::evm

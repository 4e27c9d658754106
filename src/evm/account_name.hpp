// Owns: the account that a public key owns, in this wing's canonical text. A signer is given this
// function, since it knows no chain.
#pragma once

#include <holdfast/base/bytes.hpp>
#include <holdfast/domain/ids.hpp>

namespace holdfast::evm {

/// The EIP-55 text of the account of an uncompressed public key: 65 bytes, 0x04, x, y (the last 20
/// bytes of the Keccak-256 of x and y; Ethereum's yellow paper, appendix F).
domain::Address account_of_public_key(ByteView public_key);

}  // namespace holdfast::evm

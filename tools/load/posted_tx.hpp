// Owns: what posted bytes say, read without asking who signed them.
#pragma once

#include <cstdint>
#include <optional>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/uint256.hpp>
#include <holdfast/domain/ids.hpp>

#include "evm/address.hpp"
#include "token.hpp"

namespace holdfast::load {

struct PostedTx {
  std::uint64_t nonce = 0;
  U256 max_fee;
  /// Empty: the chain's own money.
  std::optional<evm::Address20> token;
  evm::Address20 payee;
  U256 amount;  ///< zero: it moves nothing (a noop)
  /// Behind a payout's call; of an authorization its nonce, which we proposed.
  std::optional<domain::Ref> ref;
  std::uint64_t signed_by = 0;  ///< what SignerNotes knows its signature by
  /// Whose tokens move, where their owner signed for it.
  std::optional<AuthorizationKey> authorization;
};

/// Empty: no EIP-1559 transaction, or a call that is no transfer.
std::optional<PostedTx> read_posted(ByteView bytes);

}  // namespace holdfast::load

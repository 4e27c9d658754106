// Owns: a mined transaction as the domain sees it, whatever the chain: what moved, what was used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/domain/ids.hpp>

namespace holdfast::domain {

struct Transfer {
  AssetId asset;
  Address from;
  Address to;
  Amount amount;
  std::uint32_t index = 0;  ///< place among the transaction's events, for order
};

/// A bearer authorization was used, or canceled by its signer.
struct AuthorizationEvent {
  AssetId asset;
  Address authorizer;
  Nonce nonce;
  bool canceled = false;
  std::uint32_t index = 0;
  /// Whose authorization: two methods may know the same nonce of one payer, and each is used by its
  /// own. Empty on a chain with one such method.
  MethodName method{};
};

/// One transaction in a block. Everything here was read from a node, nothing is inferred.
struct MinedTx {
  TxHash hash;
  BlockRef block;
  std::int64_t block_time_s = 0;
  bool succeeded = false;
  Address sender;
  Sequence sequence;  ///< the sender's; zero on chains without sequences
  Amount fee_paid;  ///< native base units
  std::vector<Transfer> transfers;
  std::vector<AuthorizationEvent> authorizations;
  std::optional<Ref> trailing_ref;  ///< the last 32 bytes of its calldata
};

}  // namespace holdfast::domain

// Owns: the strong types of the domain's words: ids, hashes, addresses, sequences.
// Must never: give one kind's value to another kind without a named conversion.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/uint256.hpp>

namespace holdfast::domain {

/// Sixteen bytes derived from the caller and their key, see refs.hpp. Text: "pi_" + 32 hex digits.
using IntentId = FixedBytes<16, struct IntentIdTag>;
/// The 32-byte commitment to an intent's terms; the only key of ours that goes on a chain.
using Ref = FixedBytes<32, struct RefTag>;
using TxHash = FixedBytes<32, struct TxHashTag>;
using BlockHash = FixedBytes<32, struct BlockHashTag>;
/// The number inside a bearer authorization that lets it run once.
using Nonce = FixedBytes<32, struct NonceTag>;
/// Proves which hand-out of a job one holds; new at each lease.
using Receipt = FixedBytes<16, struct ReceiptTag>;
/// One engine's life, from start to stop.
using InstanceId = FixedBytes<16, struct InstanceIdTag>;

std::string text(const IntentId& id);
/// From "pi_" + 32 lower-case hex digits; empty otherwise.
std::optional<IntentId> intent_id_from(std::string_view text);

/// A name that means one thing. Compared by its bytes: make it canonical before it gets in here.
template <class Tag>
struct Name {
  std::string value;
  auto operator<=>(const Name&) const = default;
  bool operator==(const Name&) const = default;
};

/// CAIP-2: "eip155:8453".
using ChainId = Name<struct ChainIdTag>;
/// The chain's canonical text of a token (an EIP-55 address), or `native_asset`.
using AssetId = Name<struct AssetIdTag>;
/// The chain's canonical text of an account.
using Address = Name<struct AddressTag>;
/// Who asks: the name of an API key, or of an embedder.
using CallerId = Name<struct CallerIdTag>;
using MethodName = Name<struct MethodNameTag>;

/// The asset that pays for transactions on its own chain.
inline const AssetId native_asset{"native"};

using Amount = U256;  ///< base units of one asset

/// A place in an account's sequence.
struct Sequence {
  std::uint64_t value = 0;
  Sequence next() const { return {value + 1}; }
  auto operator<=>(const Sequence&) const = default;
};

/// A row of the store; zero is "not stored yet".
template <class Tag>
struct RowId {
  std::int64_t value = 0;
  auto operator<=>(const RowId&) const = default;
};
using SlotId = RowId<struct SlotIdTag>;
using AttemptId = RowId<struct AttemptIdTag>;

/// A block, told apart by hash: a height alone may be another block after a reorg.
struct BlockRef {
  std::uint64_t height = 0;
  BlockHash hash;
  bool operator==(const BlockRef&) const = default;
};

}  // namespace holdfast::domain

template <class Tag>
struct std::hash<holdfast::domain::Name<Tag>> {
  std::size_t operator()(const holdfast::domain::Name<Tag>& name) const noexcept {
    return std::hash<std::string>{}(name.value);
  }
};

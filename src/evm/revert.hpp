// Owns: what a contract said when it refused a call, made fit for people.
// Must never: pass on control characters or unbounded text: a contract's author chose every byte.
#pragma once

#include <cstdint>
#include <string>

#include <holdfast/base/bytes.hpp>

namespace holdfast::evm {

enum class RevertKind {
  empty,   ///< no data: a bare revert, out of gas, or no such function
  error,   ///< Error(string): require and revert with a text
  panic,   ///< Panic(uint256): an assertion of the compiler's
  custom,  ///< the contract's own error, or anything else
};

struct Revert {
  RevertKind kind = RevertKind::empty;
  /// error: the contract's text, printable and at most 256 bytes. panic: "panic 0x11: arithmetic
  /// overflow or underflow". custom: "custom error 0x" and the selector (the data itself when it is
  /// shorter than one). empty: "reverted without a reason".
  std::string text;

  bool operator==(const Revert&) const = default;
};

/// Total: any bytes have a reading.
Revert decode_revert(ByteView data);

/// Printable UTF-8 of at most `limit` bytes: control characters and what is no UTF-8 become '?',
/// the rest is cut between characters and ends in "…".
std::string printable(ByteView text, std::size_t limit);

}  // namespace holdfast::evm

// Owns: SHA-256 (OpenSSL's), and the length-prefixed way fields are put into a digest.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include <holdfast/base/bytes.hpp>

namespace holdfast {

using Digest = std::array<Byte, 32>;

Digest sha256(ByteView bytes);

/// Collects fields so that no two different lists give the same digest: every field is preceded by
/// its length as eight big-endian bytes.
class FieldHash {
 public:
  /// `tag` names the kind and version of what is hashed ("holdfast/ref/1").
  explicit FieldHash(std::string_view tag);

  FieldHash& add(ByteView field);
  FieldHash& add(std::string_view field) { return add(as_bytes(field)); }
  FieldHash& add(std::uint64_t number);

  Digest finish() const;

 private:
  Bytes buffer_;
};

}  // namespace holdfast

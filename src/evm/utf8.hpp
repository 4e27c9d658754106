// Owns: telling UTF-8 from what is not, in texts that contracts hand us (RFC 3629).
#pragma once

#include <cstddef>
#include <cstdint>

#include <holdfast/base/bytes.hpp>

namespace holdfast::evm {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 0;  ///< in bytes; 0 when no well-formed character begins here
};

/// The first character of `text`: shortest form only, no surrogates, at most U+10FFFF.
CodePoint first_code_point(ByteView text);

bool is_utf8(ByteView text);

}  // namespace holdfast::evm

// Owns: base64 text (RFC 4648, section 4: with padding) of bytes, and back.
// Must never: read what it would not write: a foreign character, a missing pad, or bits that belong
// to no byte are a refusal, so that two texts never mean the same bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/bytes.hpp>

namespace holdfast {

std::string to_base64(ByteView bytes);
/// Empty when the text is not exactly what `to_base64` writes, or stands for more than `most`
/// bytes. (OpenSSL's EVP_DecodeBlock skips blanks and counts pads as zeros, and Beast's is not
/// public.)
std::optional<Bytes> from_base64(std::string_view text, std::size_t most);

}  // namespace holdfast

// Owns: how the targets of this folder take their input apart, and what they ask of every text that
// we made and somebody else reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/bytes.hpp>
#include <holdfast/base/ensure.hpp>

#include "evm/utf8.hpp"

/// What libFuzzer calls; each target defines it and returns 0. `ensure` is how it says no.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace holdfast::fuzz {

inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// Everything up to the next `mark`, which is taken off `rest` too; all of it when there is none.
inline std::string_view next_part(std::string_view& rest, std::string_view mark) {
  const std::size_t at = rest.find(mark);
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at == rest.npos ? rest.size() : at + mark.size());
  return part;
}

inline std::vector<std::string_view> parts_of(std::string_view text, std::string_view mark,
                                              std::size_t most) {
  std::vector<std::string_view> out;
  while (!text.empty() && out.size() < most) out.push_back(next_part(text, mark));
  return out;
}

/// A sentence for people: there, bounded, UTF-8 and without control characters.
inline void check_sentence(std::string_view text, std::size_t longest = 600) {
  ensure(!text.empty() && text.size() <= longest, "a sentence is there, and bounded");
  ensure(evm::is_utf8(as_bytes(text)), "a sentence is UTF-8");
  ensure(std::ranges::none_of(
             text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }),
         "a sentence has no control characters");
}

}  // namespace holdfast::fuzz

// Owns: reading the golden files of tests/domain/golden.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace holdfast::test {

/// The whole file, or an empty string when it is not there (no golden file is empty).
inline std::string golden(std::string_view name) {
  std::ifstream file(std::string(HOLDFAST_SOURCE_DIR "/tests/domain/golden/").append(name),
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace holdfast::test

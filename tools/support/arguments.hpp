// Owns: the command line of a tool: options with a value, and flags.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::tools {

/// What the command line got wrong, as a sentence.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Wherever it stands: whoever asks in the middle of a command wants no run.
bool asks_for_help(std::span<const char* const> words);

/// Options are taken one by one; finish() refuses whatever nobody asked for.
class Arguments {
 public:
  explicit Arguments(std::span<const char* const> words) : words_(words.begin(), words.end()) {}

  bool flag(std::string_view name);
  std::string text(std::string_view name, std::string fallback);
  /// A whole number from `least` to `most`.
  std::uint64_t number(std::string_view name, std::uint64_t fallback, std::uint64_t least,
                       std::uint64_t most);
  /// A decimal number (digits with at most one point) from `least` to `most`.
  double decimal(std::string_view name, double fallback, double least, double most);
  void finish() const;

 private:
  std::vector<std::string> words_;
};

}  // namespace holdfast::tools

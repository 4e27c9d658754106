#include "arguments.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace holdfast::tools {

bool asks_for_help(std::span<const char* const> words) {
  return std::ranges::any_of(
      words, [](std::string_view word) { return word == "--help" || word == "-h"; });
}

bool Arguments::flag(std::string_view name) {
  const auto at = std::ranges::find(words_, name);
  if (at == words_.end()) return false;
  words_.erase(at);
  return true;
}

std::string Arguments::text(std::string_view name, std::string fallback) {
  const auto at = std::ranges::find(words_, name);
  if (at == words_.end()) return fallback;
  if (at + 1 == words_.end()) throw UsageError(std::string(name) + " needs a value");
  std::string value = *(at + 1);
  words_.erase(at, at + 2);
  return value;
}

std::uint64_t Arguments::number(std::string_view name, std::uint64_t fallback, std::uint64_t least,
                                std::uint64_t most) {
  const std::string value = text(name, std::to_string(fallback));
  std::uint64_t out = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), out);
  const bool whole = read.ec == std::errc{} && read.ptr == value.data() + value.size();
  if (!whole || out < least || out > most) {
    throw UsageError(std::string(name) + " is a whole number from " + std::to_string(least) +
                     " to " + std::to_string(most) + ", not '" + value + "'");
  }
  return out;
}

double Arguments::decimal(std::string_view name, double fallback, double least, double most) {
  const auto shown = [](double value) {
    std::ostringstream text;
    text << value;
    return text.str();
  };
  const std::string value = text(name, shown(fallback));
  const bool plain = value.find_first_not_of("0123456789.") == std::string::npos;
  double out = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), out);
  const bool whole = read.ec == std::errc{} && read.ptr == value.data() + value.size();
  if (!plain || !whole || out < least || out > most) {
    throw UsageError(std::string(name) + " is a number from " + shown(least) + " to " +
                     shown(most) + ", not '" + value + "'");
  }
  return out;
}

void Arguments::finish() const {
  if (!words_.empty()) throw UsageError("unknown option '" + words_.front() + "'");
}

}  // namespace holdfast::tools

// Owns: the assertion that stays on in release builds.
// Must never: be used on input from outside; it is for what our own code promised.
#pragma once

#include <source_location>
#include <string_view>

namespace holdfast {

/// Writes `what` and the place to stderr and aborts: a stopped process recovers from its store, a
/// process that goes on with a broken promise may move money.
[[noreturn]] void ensure_failed(std::string_view what, std::source_location at);

inline void ensure(bool holds, std::string_view what,
                   std::source_location at = std::source_location::current()) {
  if (!holds) [[unlikely]]
    ensure_failed(what, at);
}

}  // namespace holdfast

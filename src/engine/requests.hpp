// Owns: how a caller's request is remembered in the store.
#pragma once

#include <string_view>

#include <holdfast/engine/engine.hpp>
#include "store/model.hpp"

namespace holdfast::engine {

/// `route` parts the same key on different routes, which are different requests.
store::Request request_of(const Caller& caller, std::string_view route);

/// None for a caller who gives no key: an embedder's own call, which is never a repetition.
std::optional<store::Request> request_of_key(const Caller& caller, std::string_view route);

inline constexpr std::size_t longest_reason = 200;  ///< bytes of what a person gives as a reason

}  // namespace holdfast::engine

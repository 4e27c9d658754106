// Owns: how a caller's request is remembered in the store.
#pragma once

#include <string_view>

#include <holdfast/engine/engine.hpp>
#include "engine/core.hpp"
#include "store/model.hpp"

namespace holdfast::engine {

/// `route` parts the same key on different routes, which are different requests.
store::Request request_of(const Caller& caller, std::string_view route);

/// None for a caller who gives no key: an embedder's own call, which is never a repetition.
std::optional<store::Request> request_of_key(const Caller& caller, std::string_view route);

// What create and submit share (requests.cpp).
Result<Answer> answer_of(Result<store::Answered> stored);
Error drained();
ports::Moment moment(const Core& core, const Unit& unit);
/// Both doors know a request by its key. Who submits without one is known by what is redeemed.
store::NewIntent new_intent(const Core& core, const Caller& caller, domain::Intent intent);
/// Refused today, because the configuration is another one perhaps: what was answered before is
/// answered again.
Awaitable<Result<Answer>> as_answered_before(Core& core, Caller caller, Error refusal);
Awaitable<Result<Answer>> store_new(Core& core, store::NewIntent wanted);

inline constexpr std::size_t longest_reason = 200;  ///< bytes of what a person gives as a reason

}  // namespace holdfast::engine

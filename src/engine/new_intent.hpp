// Owns: from a request's words to an intent: names looked up, texts made canonical, limits checked.
// Pure: asks nobody, writes nothing.
#pragma once

#include "engine/core.hpp"

namespace holdfast::engine {

/// Where terms lead: the chain they name, the method on it, and the terms in canonical form.
struct Route {
  Unit* unit = nullptr;
  ports::Method* method = nullptr;
  domain::Terms terms;
};

/// `chooser` picks a sending account where the caller named none.
Result<Route> route(Core& core, const NewPayment& wanted, std::uint64_t chooser);

/// An intent of the API: its id from caller and key. `created`, or `authorized` when nobody signs.
Result<domain::Intent> intent_of_request(Core& core, const Caller& caller,
                                         const NewPayment& wanted);

/// An intent whose payer brought a nonce: its id from what is redeemed. `authorized`.
Result<domain::Intent> intent_of_authorization(Core& core, const domain::CallerId& caller,
                                               const NewPayment& wanted,
                                               const domain::Authorization& authorization,
                                               std::uint64_t earlier_ended);

}  // namespace holdfast::engine

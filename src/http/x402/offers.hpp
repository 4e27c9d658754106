// Owns: what a seller offers, as JSON of both versions, and a buyer's header put together with it
// into the body that /settle takes.
// Must never: read a payment but by wire.hpp, or compare it with a price but by rules.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <holdfast/http/x402_options.hpp>
#include <holdfast/http/x402_shop.hpp>

#include "http/x402/networks.hpp"
#include "http/x402/reasons.hpp"
#include "http/x402/wire.hpp"

namespace holdfast::http::x402 {

Demand demand_of(const Offer& offer, std::string_view error, const X402Options& options);

/// A payment header with the price it is meant for.
struct Opened {
  Reason reason = Reason::none;  ///< none: `body` is there
  std::string message;
  Echo echo;               ///< with the version that the buyer speaks
  std::string body;        ///< of /verify and /settle
  std::string payment_id;  ///< of the extension payment-identifier; empty: none
};
/// The first price of which all rules hold, else one on the same network, else the first: the body
/// then says itself what is wrong.
Opened open_payment(const Offer& offer, std::string_view header, const X402Options& options,
                    std::span<const Network> networks);

}  // namespace holdfast::http::x402

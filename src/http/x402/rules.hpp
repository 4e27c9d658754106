// Owns: what must hold between what a seller asks for, what the payer signed, and what this
// facilitator settles. Pure, and asked on every call, also of a payment that is known.
// Must never: ask a node, or pass what it cannot name a rule for.
#pragma once

#include <span>
#include <string>

#include <holdfast/engine/engine.hpp>
#include <holdfast/http/x402_options.hpp>

#include "http/x402/networks.hpp"
#include "http/x402/reasons.hpp"
#include "http/x402/wire.hpp"

namespace holdfast::http::x402 {

/// The published contract that runs an exact payment by Permit2, on every chain
/// (https://github.com/coinbase/x402, scheme exact on EVM).
inline constexpr std::string_view permit2_proxy = "0x402085c248eea27d92e8b30b2c58ed07f9e20001";

struct Verdict {
  Reason reason = Reason::none;  ///< none: all below is set
  std::string message;
  const Network* network = nullptr;
  engine::NewPayment payment;
};
/// The first rule that does not hold, in the order of @x402/evm's facilitator as far as no node is
/// needed. `networks` outlive the verdict.
Verdict judge(const Request& request, const X402Options& options,
              std::span<const Network> networks);

/// What makes two settle requests the same payment, however their bodies are spelled.
Digest fingerprint_of(const engine::NewPayment& payment,
                      const domain::Authorization& authorization);

}  // namespace holdfast::http::x402

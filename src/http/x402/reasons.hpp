// Owns: every reason an x402 client is told, as the npm packages @x402/evm and @x402/core spell
// them, and which of them a refusal of the engine is. http and nobody else knows these words.
// Must never: carry a text that came from a node, a contract or a client.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/domain/intent.hpp>
#include <holdfast/engine/engine.hpp>

namespace holdfast::http::x402 {

/// How the payer let the money go.
enum class Transfer : std::uint8_t { eip3009, permit2 };

/// Spelled as they go out, but for those of to_text's table that have a longer prefix there.
enum class Reason : std::uint8_t {
  none,  ///< of a success
  // the request's shape
  invalid_payload,
  invalid_payment_requirements,
  invalid_x402_version,
  // what it asks for
  scheme,
  unsupported_payload_type,
  network_mismatch,
  invalid_network,  ///< not one that this facilitator can settle on now
  missing_eip712_domain,
  // what was signed against what is asked for
  recipient_mismatch,
  value_v1,
  value_mismatch,
  permit2_spender,
  permit2_recipient,
  permit2_amount,
  permit2_token,
  // what was signed
  signature,
  valid_after,
  valid_before,
  permit2_signature,
  permit2_not_yet_valid,
  permit2_deadline,
  // what the chain says
  asset_not_deployed,
  eip3009_not_supported,
  token_name_mismatch,
  token_version_mismatch,
  nonce_already_used,
  insufficient_balance,
  simulation_failed,
  factory_not_allowed,
  wallet_deployment_failed,
  permit2_proxy_not_deployed,
  permit2_nonce,
  permit2_balance,
  permit2_allowance,
  permit2_simulation,
  // how a settlement stands
  settlement_pending,
  transaction_failed,
  transaction_state,
  // nothing is wrong with the payment
  unexpected_verify_error,
  unexpected_settle_error,
  // who asks, and how often; the packages have no words for these
  unauthorized,
  forbidden,
  rate_limited,
  gas_budget_spent,
  idempotency_conflict,
};
inline constexpr int reason_count = static_cast<int>(Reason::idempotency_conflict) + 1;

/// As it goes out; empty for none.
std::string_view to_text(Reason reason);

/// Of an authorization that pays for nothing more, in the words of its kind.
Reason used(Transfer transfer);

/// Which route is answered.
enum class Asked : std::uint8_t { verify, settle };

/// Why the engine did not take a payment, and how that is answered.
struct Refusal {
  Reason reason = Reason::none;
  unsigned status = 200;
};
/// `node_trouble` and what else says nothing about the payment: 503. An error of no known kind: the
/// same words with 500.
Refusal refusal_of(const Error& error, Transfer transfer, Asked asked);

/// What a client may read of it beside the reason: the engine's own sentence on a field, never what
/// a node or a contract said. Empty for everything else.
std::string message_of(const Error& error);

/// The reason in the record of a payment whose caller could not wait for its first signature.
inline constexpr std::string_view given_up = "caller_time_over";

/// Why a payment ended without moving money: from its state and the reason in its record.
Reason reason_of_end(const domain::Intent& intent, Transfer transfer);

}  // namespace holdfast::http::x402

#include "http/x402/reasons.hpp"

#include <array>

#include <holdfast/ports/method.hpp>

namespace holdfast::http::x402 {
namespace {

using engine::EngineError;
using ports::VerifyError;

struct MethodRow {
  VerifyError error;
  Reason eip3009;
  Reason permit2;
};

// What the packages would have said of the same payment.
constexpr std::array<MethodRow, 18> of_method = {{
    {VerifyError::bad_terms, Reason::invalid_payment_requirements,
     Reason::invalid_payment_requirements},
    {VerifyError::bad_signature, Reason::signature, Reason::permit2_signature},
    {VerifyError::wrong_signer, Reason::signature, Reason::permit2_signature},
    {VerifyError::wrong_nonce, Reason::invalid_payload, Reason::permit2_nonce},
    {VerifyError::not_yet_valid, Reason::valid_after, Reason::permit2_not_yet_valid},
    {VerifyError::expired, Reason::valid_before, Reason::permit2_deadline},
    {VerifyError::already_used, Reason::nonce_already_used, Reason::permit2_nonce},
    {VerifyError::canceled, Reason::nonce_already_used, Reason::permit2_nonce},
    {VerifyError::insufficient_funds, Reason::insufficient_balance, Reason::permit2_balance},
    {VerifyError::simulation_failed, Reason::simulation_failed, Reason::permit2_simulation},
    {VerifyError::not_a_contract, Reason::asset_not_deployed, Reason::asset_not_deployed},
    {VerifyError::not_supported, Reason::eip3009_not_supported, Reason::permit2_proxy_not_deployed},
    {VerifyError::name_mismatch, Reason::token_name_mismatch, Reason::token_name_mismatch},
    {VerifyError::version_mismatch, Reason::token_version_mismatch, Reason::token_version_mismatch},
    {VerifyError::allowance_missing, Reason::simulation_failed, Reason::permit2_allowance},
    {VerifyError::spender_mismatch, Reason::simulation_failed, Reason::permit2_spender},
    {VerifyError::factory_not_allowed, Reason::factory_not_allowed, Reason::factory_not_allowed},
    {VerifyError::deployment_failed, Reason::wallet_deployment_failed,
     Reason::wallet_deployment_failed},
}};

Reason unexpected(Asked asked) {
  return asked == Asked::verify ? Reason::unexpected_verify_error : Reason::unexpected_settle_error;
}

Refusal of_engine(EngineError error, Transfer transfer, Asked asked) {
  switch (error) {
    case EngineError::unknown_chain: return {Reason::invalid_network};
    case EngineError::unknown_method: return {Reason::unsupported_payload_type};
    case EngineError::bad_terms:
    case EngineError::bad_validity: return {Reason::invalid_payment_requirements};
    case EngineError::bad_authorization: return {Reason::invalid_payload};
    case EngineError::key_reused: return {Reason::idempotency_conflict, 409};
    // Another caller brought this very authorization.
    case EngineError::already_authorized:
    case EngineError::redemption_taken:
    case EngineError::not_found: return {used(transfer)};
    case EngineError::draining:
    case EngineError::try_again: return {unexpected(asked), 503};
    case EngineError::too_late:
    case EngineError::name_taken:
    case EngineError::wrong_state:
    case EngineError::unproven: break;
  }
  return {unexpected(asked), 500};
}

}  // namespace

Reason used(Transfer transfer) {
  return transfer == Transfer::permit2 ? Reason::permit2_nonce : Reason::nonce_already_used;
}

Refusal refusal_of(const Error& error, Transfer transfer, Asked asked) {
  if (error.code == VerifyError::node_trouble) return {unexpected(asked), 503};
  for (const MethodRow& row : of_method) {
    if (error.code == row.error) {
      return {transfer == Transfer::permit2 ? row.permit2 : row.eip3009};
    }
  }
  if (error.code.category() == make_error_code(EngineError::not_found).category()) {
    return of_engine(static_cast<EngineError>(error.code.value()), transfer, asked);
  }
  return {unexpected(asked), 500};
}

std::string message_of(const Error& error) {
  const bool is_own = error.code == EngineError::bad_terms || error.code == VerifyError::expired ||
                      error.code == VerifyError::not_yet_valid;
  return is_own ? error.detail : std::string();
}

Reason reason_of_end(const domain::Intent& intent, Transfer transfer) {
  const std::string_view why = intent.reason;
  if (why == "expired") {
    return transfer == Transfer::permit2 ? Reason::permit2_deadline : Reason::valid_before;
  }
  if (why == "authorization_canceled" || why == "authorization_used_otherwise") {
    return used(transfer);
  }
  // Nobody found anything wrong with it: nothing was sent, and the same request may try again.
  if (why == given_up || why == "cancel_asked" || why == "budget_spent") {
    return Reason::unexpected_settle_error;
  }
  if (intent.tx_hash) return Reason::transaction_failed;
  return transfer == Transfer::permit2 ? Reason::permit2_simulation : Reason::simulation_failed;
}

std::string_view to_text(Reason reason) {
  switch (reason) {
    case Reason::none: return "";
    case Reason::invalid_payload: return "invalid_payload";
    case Reason::invalid_payment_requirements: return "invalid_payment_requirements";
    case Reason::invalid_x402_version: return "invalid_x402_version";
    case Reason::scheme: return "invalid_exact_evm_scheme";
    case Reason::unsupported_payload_type: return "unsupported_payload_type";
    case Reason::network_mismatch: return "invalid_exact_evm_network_mismatch";
    case Reason::invalid_network: return "invalid_network";
    case Reason::missing_eip712_domain: return "invalid_exact_evm_missing_eip712_domain";
    case Reason::recipient_mismatch: return "invalid_exact_evm_recipient_mismatch";
    case Reason::value_v1: return "invalid_exact_evm_authorization_value";
    case Reason::value_mismatch: return "invalid_exact_evm_payload_authorization_value_mismatch";
    case Reason::permit2_spender: return "invalid_permit2_spender";
    case Reason::permit2_recipient: return "invalid_permit2_recipient_mismatch";
    case Reason::permit2_amount: return "permit2_amount_mismatch";
    case Reason::permit2_token: return "permit2_token_mismatch";
    case Reason::signature: return "invalid_exact_evm_signature";
    case Reason::valid_after: return "invalid_exact_evm_payload_authorization_valid_after";
    case Reason::valid_before: return "invalid_exact_evm_payload_authorization_valid_before";
    case Reason::permit2_signature: return "invalid_permit2_signature";
    case Reason::permit2_not_yet_valid: return "permit2_not_yet_valid";
    case Reason::permit2_deadline: return "permit2_deadline_expired";
    case Reason::asset_not_deployed: return "asset_not_deployed_contract";
    case Reason::eip3009_not_supported: return "invalid_exact_evm_eip3009_not_supported";
    case Reason::token_name_mismatch: return "invalid_exact_evm_token_name_mismatch";
    case Reason::token_version_mismatch: return "invalid_exact_evm_token_version_mismatch";
    case Reason::nonce_already_used: return "invalid_exact_evm_nonce_already_used";
    case Reason::insufficient_balance: return "invalid_exact_evm_insufficient_balance";
    case Reason::simulation_failed: return "invalid_exact_evm_transaction_simulation_failed";
    case Reason::factory_not_allowed: return "eip6492_factory_not_allowed";
    case Reason::wallet_deployment_failed: return "smart_wallet_deployment_failed";
    case Reason::permit2_proxy_not_deployed: return "permit2_proxy_not_deployed";
    case Reason::permit2_nonce: return "permit2_invalid_nonce";
    case Reason::permit2_balance: return "permit2_insufficient_balance";
    case Reason::permit2_allowance: return "permit2_allowance_required";
    case Reason::permit2_simulation: return "permit2_simulation_failed";
    case Reason::settlement_pending: return "settlement_pending";
    case Reason::transaction_failed: return "invalid_exact_evm_transaction_failed";
    case Reason::transaction_state: return "invalid_transaction_state";
    case Reason::unexpected_verify_error: return "unexpected_verify_error";
    case Reason::unexpected_settle_error: return "unexpected_settle_error";
    case Reason::unauthorized: return "unauthorized";
    case Reason::forbidden: return "forbidden";
    case Reason::rate_limited: return "rate_limited";
    case Reason::gas_budget_spent: return "gas_budget_spent";
    case Reason::idempotency_conflict: return "idempotency_conflict";
  }
  return "";
}

}  // namespace holdfast::http::x402

// Owns: the error categories of the ports: short texts for logs; the sentence for people is in
// Error::detail.
#include <holdfast/ports/chain.hpp>
#include <holdfast/ports/method.hpp>

#include "domain/enum_text.hpp"
#include "domain/error_category.hpp"

namespace holdfast::ports {
namespace {

constexpr domain::EnumText<ChainError> chain_texts[] = {
    {ChainError::bad_address, "not an account of this chain"},
    {ChainError::bad_asset, "not an asset of this chain"},
    {ChainError::wrong_bytes, "signed bytes that differ from the record"},
};

constexpr domain::EnumText<VerifyError> verify_texts[] = {
    {VerifyError::bad_terms, "terms this method cannot pay"},
    {VerifyError::bad_signature, "not a signature"},
    {VerifyError::wrong_signer, "signed by somebody else, or over other terms"},
    {VerifyError::wrong_nonce, "signed with another nonce"},
    {VerifyError::not_yet_valid, "not valid yet"},
    {VerifyError::expired, "expired, or too close to its end"},
    {VerifyError::already_used, "used already"},
    {VerifyError::canceled, "canceled by its signer"},
    {VerifyError::insufficient_funds, "the payer has too little"},
    {VerifyError::simulation_failed, "the contract refuses it"},
    {VerifyError::node_trouble, "no readable answer from the node"},
    {VerifyError::not_a_contract, "no contract at the asset's address"},
    {VerifyError::not_supported, "the asset does not support this method"},
    {VerifyError::name_mismatch, "the asset has another name"},
    {VerifyError::version_mismatch, "the asset has another version"},
    {VerifyError::allowance_missing, "the payer allows too little"},
    {VerifyError::spender_mismatch, "signed for another spender"},
    {VerifyError::factory_not_allowed, "a wallet factory that is not allowed"},
    {VerifyError::deployment_failed, "the payer's wallet cannot be made"},
};

}  // namespace

boost::system::error_code make_error_code(ChainError error) {
  static const domain::TextCategory category("holdfast.chain", chain_texts);
  return {static_cast<int>(error), category};
}

boost::system::error_code make_error_code(VerifyError error) {
  static const domain::TextCategory category("holdfast.verify", verify_texts);
  return {static_cast<int>(error), category};
}

}  // namespace holdfast::ports

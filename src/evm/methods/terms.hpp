// Owns: what both methods ask of a payment's terms, and the sentences when it is not so.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <holdfast/base/result.hpp>
#include <holdfast/domain/intent.hpp>
#include <holdfast/ports/method.hpp>

#include "evm/address.hpp"

namespace holdfast::evm {

/// Terms as this wing needs them. `token` is zero for the native asset.
struct EvmTerms {
  Address20 payer;
  Address20 payee;
  Address20 token;
};

/// Chain and method are the expected ones, the asset is on the list, the amount is at least 1,
/// payer and payee are canonical addresses, neither zero, and not the same.
/// Errors: bad_terms, naming the field. A retry is useless.
Result<EvmTerms> read_terms(const domain::Terms& terms, const domain::ChainId& chain,
                            const domain::MethodName& method,
                            std::span<const domain::AssetId> assets);

/// An asset of a configuration: ensures that it is canonical, as EvmChain::parse_asset gives it.
Address20 configured_token(const domain::AssetId& asset);

inline Error bad_terms(std::string sentence) {
  return refuse(ports::VerifyError::bad_terms, std::move(sentence));
}

}  // namespace holdfast::evm

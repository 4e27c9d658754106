#include "evm/methods/terms.hpp"

#include <algorithm>

#include <holdfast/base/ensure.hpp>

namespace holdfast::evm {
namespace {

/// Two spellings of one account would be two accounts to the core, which compares text.
Result<Address20> canonical(std::string_view field, const std::string& text) {
  const Result<Address20> parsed = parse_address(text);
  if (!parsed) return bad_terms(std::string(field) + ": " + parsed.error().detail);
  if (to_checksum(*parsed) != text) {
    return bad_terms(std::string(field) + ": the address is not in its EIP-55 form");
  }
  if (parsed->is_zero()) return bad_terms(std::string(field) + ": the zero address cannot be used");
  return *parsed;
}

}  // namespace

Result<EvmTerms> read_terms(const domain::Terms& terms, const domain::ChainId& chain,
                            const domain::MethodName& method,
                            std::span<const domain::AssetId> assets) {
  if (terms.chain != chain) return bad_terms("chain: this method serves " + chain.value + " only");
  if (terms.method != method) return bad_terms("method: this is " + method.value);
  if (std::ranges::find(assets, terms.asset) == assets.end()) {
    return bad_terms("asset: not among the assets configured for " + method.value + " on " +
                     chain.value);
  }
  if (terms.amount.is_zero()) return bad_terms("amount: must be at least 1 base unit");
  const Result<Address20> payer = canonical("payer", terms.payer.value);
  if (!payer) return payer.error();
  const Result<Address20> payee = canonical("payee", terms.payee.value);
  if (!payee) return payee.error();
  if (*payer == *payee) return bad_terms("payee: must not be the payer");
  EvmTerms out{.payer = *payer, .payee = *payee, .token = {}};
  if (terms.asset != domain::native_asset) out.token = configured_token(terms.asset);
  return out;
}

Address20 configured_token(const domain::AssetId& asset) {
  const Result<Address20> token = parse_address(asset.value);
  ensure(token.has_value() && to_checksum(*token) == asset.value,
         "a configured asset is not a canonical address");
  return *token;
}

}  // namespace holdfast::evm

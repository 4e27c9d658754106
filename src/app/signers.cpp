#include "app/signers.hpp"

#include "evm/account_name.hpp"
#include "signer/local_signer.hpp"

namespace holdfast::app {

Result<Signers> open_signers(const std::vector<ChainConfig>& chains, ports::Entropy& entropy) {
  auto signer = std::make_unique<signer::LocalSigner>(evm::account_of_public_key);
  std::array<Byte, 32> chance{};
  entropy.fill(chance);
  signer->blind(chance);
  Signers out;
  for (const ChainConfig& chain : chains) {
    for (const AccountConfig& account : chain.accounts) {
      auto address = account.key_file.empty() ? signer->add_key_variable(account.key_env)
                                              : signer->add_key_file(account.key_file);
      if (!address) return address.error();
      out.accounts.push_back({chain.evm.id, std::move(*address), account.adopt});
    }
  }
  out.signer = std::move(signer);
  return out;
}

}  // namespace holdfast::app

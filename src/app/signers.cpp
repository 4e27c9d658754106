#include "app/signers.hpp"

#include <algorithm>
#include <cstdlib>

#include "evm/account_name.hpp"
#include "signer/local_signer.hpp"

namespace holdfast::app {

namespace {

bool is_set(const std::string& variable) {
  const char* const value = std::getenv(variable.c_str());  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr && *value != '\0';
}

}  // namespace

std::vector<std::string> key_problems(const std::vector<ChainConfig>& chains) {
  signer::LocalSigner trial(evm::account_of_public_key);
  std::vector<std::string> out;
  for (const ChainConfig& chain : chains) {
    for (const AccountConfig& account : chain.accounts) {
      const bool in_file = !account.key_file.empty();
      if (!in_file && !is_set(account.key_env)) continue;
      const auto address =
          in_file ? trial.add_key_file(account.key_file) : trial.add_key_variable(account.key_env);
      if (!address) out.push_back(chain.evm.id.value + ": " + address.error().detail);
    }
  }
  return out;
}

std::vector<std::string> unset_variables(const std::vector<ChainConfig>& chains) {
  std::vector<std::string> out;
  const auto look_at = [&](const std::string& name) {
    const bool known = std::ranges::find(out, name) != out.end();
    if (!name.empty() && !known && !is_set(name)) out.push_back(name);
  };
  for (const ChainConfig& chain : chains) {
    for (const EndpointConfig& endpoint : chain.endpoints) look_at(endpoint.url_env);
    for (const AccountConfig& account : chain.accounts) look_at(account.key_env);
  }
  return out;
}

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
      const auto same = [&](const engine::Account& one) {
        return one.chain == chain.evm.id && one.address == *address;
      };
      if (std::any_of(out.accounts.begin(), out.accounts.end(), same)) {
        return refuse(ConfigError::unreadable, chain.evm.id.value + ": the account " +
                                                   address->value +
                                                   " is configured twice, by two keys' places");
      }
      out.accounts.push_back({chain.evm.id, std::move(*address), account.adopt});
    }
  }
  out.signer = std::move(signer);
  return out;
}

}  // namespace holdfast::app

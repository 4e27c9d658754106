#include "keys.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "evm/account_name.hpp"

namespace holdfast::load {

Keys make_keys(std::uint64_t seed, std::uint64_t count) {
  Keys out;
  out.signer = std::make_unique<signer::LocalSigner>(evm::account_of_public_key);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name = "HOLDFAST_LOAD_KEY_" + std::to_string(i);
    const Digest key = FieldHash("holdfast-load/key/1").add(seed).add(i).finish();
    ::setenv(name.c_str(), to_hex(key).c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
    auto account = out.signer->add_key_variable(name);
    if (!account) throw std::runtime_error(account.error().detail);
    out.accounts.push_back(std::move(*account));
  }
  return out;
}

}  // namespace holdfast::load

// The configured accounts: which keys are taken together, and which are not.
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "app/signers.hpp"
#include "app/system_entropy.hpp"
#include "support/temp_folder.hpp"

using namespace holdfast;

namespace {

// Anvil's second account, which everybody knows.
const std::string key = "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

app::AccountConfig account_in(const std::string& file, const std::string& text) {
  std::ofstream(file) << text << "\n";
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  app::AccountConfig out;
  out.key_file = file;
  return out;
}

}  // namespace

TEST_CASE("signers: one account by two keys' places is refused, naming chain and account") {
  const test::TempFolder folder;
  app::SystemEntropy entropy;
  app::ChainConfig chain;
  chain.evm.id = {"eip155:31337"};
  chain.accounts = {account_in(folder / "one.key", key),
                    account_in(folder / "two.key", "0x" + key)};
  const auto refused = app::open_signers({chain}, entropy);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().detail.find("eip155:31337") != std::string::npos);
  CHECK(refused.error().detail.find("0x70997970C51812dc3A010C7d01b50e0d17dc79C8") !=
        std::string::npos);
  CHECK(refused.error().detail.find(key) == std::string::npos);
}

TEST_CASE("signers: one key serves several chains") {
  const test::TempFolder folder;
  app::SystemEntropy entropy;
  app::ChainConfig one;
  one.evm.id = {"eip155:31337"};
  one.accounts = {account_in(folder / "one.key", key)};
  app::ChainConfig two = one;
  two.evm.id = {"eip155:1"};
  const auto opened = app::open_signers({one, two}, entropy);
  REQUIRE(opened.has_value());
  CHECK(opened->accounts.size() == 2);
}

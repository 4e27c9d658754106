// A real EVM node for tests: starts anvil on a free port, stops it, deploys and mints our token.
// Speaks JSON-RPC of its own, blocking and without the client under test. For tests/interop and the
// like: links what has Boost.JSON (the floors evm, http, app).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

namespace holdfast::test {

/// One of anvil's own accounts, each with 10000 native units.
struct DevAccount {
  std::string address;  ///< EIP-55
  std::string key;  ///< 64 hex digits; everybody's
};

class Anvil {
 public:
  /// The binary that tools/setup installs, or HOLDFAST_ANVIL; empty when neither is there.
  static std::string binary();

  /// Chain id 31337, a block every second, `finalized` two blocks behind the newest; `arguments`
  /// come after these. Returns when it answers; throws std::runtime_error with a sentence.
  explicit Anvil(const std::vector<std::string>& arguments = {});
  /// Ends the process it started, and waits for it.
  ~Anvil();
  Anvil(const Anvil&) = delete;
  Anvil& operator=(const Anvil&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::uint16_t port() const { return port_; }
  pid_t pid() const { return pid_; }

  /// The member "result". Throws std::runtime_error: no answer in 10 s, or the node's error.
  boost::json::value call(std::string_view method, const boost::json::array& params = {}) const;
  /// Sends from an account of anvil's own and mines it; the receipt. Throws when it reverted.
  /// `to` is empty for a new contract.
  boost::json::value send(const std::string& from, const std::string& to, const std::string& data,
                          const std::string& value = "0x0") const;
  void mine(unsigned blocks = 1) const;

  /// tools/contracts/HoldfastToken.json, from the first account; the token's address (EIP-55 is up
  /// to the caller: as the node gives it, lower case).
  std::string deploy_token(std::string_view name, std::string_view version) const;
  /// The code of tools/contracts/<contract>.json at an address, as `anvil_setCode` puts it there:
  /// without what a constructor does.
  void place(const std::string& address, std::string_view contract) const;
  /// The same by a transaction; `arguments` are the constructor's, hex without "0x". The address.
  std::string deploy(std::string_view contract, const std::string& arguments = "") const;
  void mint(const std::string& token, const std::string& to, std::uint64_t amount) const;
  /// Units of a token, which must be fewer than 2^64.
  std::uint64_t token_balance(const std::string& token, const std::string& account) const;

 private:
  void start(const std::vector<std::string>& arguments);
  bool answers() const;
  bool ended_within(int ms) const;
  void stop();

  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

/// The first ten of anvil's accounts.
const std::vector<DevAccount>& dev_accounts();

}  // namespace holdfast::test

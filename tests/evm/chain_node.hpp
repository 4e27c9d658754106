// A node made of tables: blocks, transactions and counts in memory, answered as JSON-RPC. Any
// method can be overridden by a test. Every call is written down.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "evm/chain.hpp"
#include "evm/rpc.hpp"
#include "support/alarmless_clock.hpp"

namespace holdfast::evm::test {

namespace json = boost::json;

class FakeClock final : public tests::AlarmlessClock {
 public:
  std::int64_t now_ms = 1'000'000;
  std::int64_t wall_ms() const override { return now_ms; }
  std::int64_t mono_ms() const override { return now_ms; }
  boost::asio::awaitable<void> sleep(std::int64_t) override { co_return; }
};

/// What a test says of a transaction; the rest is made up.
struct MadeTx {
  std::string from;
  std::string to;
  std::uint64_t nonce = 0;
  std::string value = "0x0";
  std::string input = "0x";
  bool succeeded = true;
  std::vector<json::object> logs = {};
};

json::object made_log(const std::string& address, const std::vector<std::string>& topics,
                      const std::string& data);
/// Transfer(from, to, amount) of `token`.
json::object transfer_log(const std::string& token, const std::string& from, const std::string& to,
                          const U256& amount);
/// AuthorizationUsed or AuthorizationCanceled of `token`.
json::object authorization_log(const std::string& token, const std::string& authorizer,
                               const std::string& nonce, bool canceled);

class FakeNode final : public Rpc {
 public:
  using Handler = std::function<Answer(const json::array&)>;

  struct Block {
    std::string hash;
    std::int64_t time_s = 0;
    std::vector<json::object> txs;
    std::vector<json::object> receipts;
  };

  /// Blocks 0 … `top`, empty, one second apart from 1'700'000'000 on.
  explicit FakeNode(std::uint64_t top = 100);

  boost::asio::awaitable<Answer> call(std::string method, json::array params) override;

  /// Puts a transaction into the block at `height`; gives its hash.
  domain::TxHash add(std::uint64_t height, const MadeTx& tx);
  /// Another block at that height: another hash, no transactions.
  void reorganise(std::uint64_t height);
  std::size_t count(std::string_view method) const;

  std::vector<Block> blocks;
  std::uint64_t safe = 95;
  std::uint64_t finalized = 90;
  std::optional<std::uint64_t> base_fee;  ///< of every block; empty: from before EIP-1559
  std::map<std::string, Handler> overrides;
  std::vector<std::pair<std::string, json::array>> asked;

 private:
  Answer answer(const std::string& method, const json::array& params);
  std::optional<std::uint64_t> height_of(const json::value& at) const;
  json::value block_json(std::uint64_t height, bool full) const;
  const json::object* find_in(const json::value& hash, bool receipt) const;
  std::uint64_t nonce_of(std::string_view account, std::uint64_t height) const;

  std::uint64_t made_ = 0;
};

/// "0x" and 64 digits made of a number.
std::string word(std::uint64_t number);
/// The same answer whatever is asked.
FakeNode::Handler always(Answer answer);
FakeNode::Handler always(json::value result);

/// Runs a coroutine to its end on an executor of its own.
template <class T>
T run(boost::asio::awaitable<T> task) {
  boost::asio::io_context context;
  std::optional<T> out;
  std::exception_ptr error;
  boost::asio::co_spawn(context, std::move(task), [&](std::exception_ptr thrown, T value) {
    error = thrown;
    if (!thrown) out.emplace(std::move(value));
  });
  context.run();
  if (error) std::rethrow_exception(error);
  return std::move(*out);
}

// Accounts of everybody's favourite test mnemonic, and a token.
inline const std::string alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
inline const std::string alice_key =
    "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
inline const std::string bob = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
inline const std::string bob_key =
    "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
inline const std::string carol = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
inline const std::string token = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
inline const domain::ChainId chain_id{"eip155:31337"};

/// 65 bytes: r, s, v.
Bytes sign_with(const std::string& key, const Digest& digest);

/// A chain over a fake node.
struct Bench {
  explicit Bench(EvmOptions options = {.id = chain_id}) : chain(std::move(options), node, clock) {}
  FakeNode node;
  FakeClock clock;
  EvmChain chain;
};

}  // namespace holdfast::evm::test

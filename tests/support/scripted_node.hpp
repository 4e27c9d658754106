// Owns: an EVM-like node over HTTP, in this process, for what a real one cannot be made to do: its
// pool keeps geth's rules (ten per cent on both fee fields, no gap unless allowed), transactions
// can be stuck and alive, be refused and kept, and every method can be given another answer by a
// script.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "support/http_face.hpp"
#include "support/scripted_chain.hpp"

namespace holdfast::test {

/// A node's error; `data` as eth_estimateGas gives it with a revert.
struct NodeError {
  int code = -32000;
  std::string message;
  boost::json::value data = nullptr;
};

struct ScriptedNodeOptions {
  std::uint64_t chain_id = 31337;
  std::uint64_t base_fee = 1'000'000'000;
  unsigned replacement_percent = 10;
  bool refuse_gaps = false;  ///< "nonce too high" for what is not next; otherwise it is queued
  std::uint64_t finalized_behind = 2;
  std::int64_t block_ms = 0;  ///< 0: blocks only by mine()
  std::int64_t time_ahead_s = 0;  ///< as set_time_ahead, from the first block on
};

class ScriptedNode {
 public:
  /// What becomes of bytes that arrive. Taken by the pool's rules where the judge says nothing.
  struct Verdict {
    bool keep = false;  ///< into the pool all the same
    NodeError error;
  };
  using Judge = std::function<std::optional<Verdict>(const evm::SignedTransaction& tx)>;
  /// Another answer: a result, or an error; neither: the node's own.
  struct Scripted {
    std::optional<boost::json::value> result = std::nullopt;
    std::optional<NodeError> error = std::nullopt;
  };
  using Script = std::function<Scripted(const boost::json::array& params)>;

  explicit ScriptedNode(ScriptedNodeOptions options = {});
  ~ScriptedNode();
  ScriptedNode(const ScriptedNode&) = delete;
  ScriptedNode& operator=(const ScriptedNode&) = delete;

  std::string url() const { return face_.url(); }
  std::uint16_t port() const { return face_.port(); }

  // --- the world --------------------------------------------------------------------------------
  /// Into the newest state, without a transaction.
  void give_native(const std::string& account, const U256& amount);
  void add_token(const std::string& address, std::string_view name, std::string_view version);
  void give_token(const std::string& token, const std::string& account, const U256& amount);
  std::uint64_t token_balance(const std::string& token, const std::string& account) const;

  /// Takes what can be mined, in the order of numbers.
  void mine(unsigned blocks = 1);
  /// The newest blocks become others without transactions; `back_to_pool`: what was in them waits
  /// again.
  void reorg(unsigned depth, bool back_to_pool);
  /// Bytes from elsewhere, as if they had come over the wire and been taken.
  void push_raw(const std::string& raw);
  void drop(const std::string& hash);
  void drop_all();
  void set_base_fee(std::uint64_t wei);
  /// Seconds by which block times run ahead of the wall clock.
  void set_time_ahead(std::int64_t seconds);
  /// Blocks take nothing of the pool while it is on.
  void hold_pool(bool on);
  /// Delegated accounts (EIP-7702): one transaction in the pool at a time.
  void delegate(const std::string& account);

  // --- the script -------------------------------------------------------------------------------
  void judge(Judge judge);
  void script(const std::string& method, Script script);
  void unscript(const std::string& method);

  // --- what is there ----------------------------------------------------------------------------
  std::vector<std::string> pool() const;  ///< hashes, by account and number
  std::vector<std::string> received()
      const;  ///< raw bytes of every eth_sendRawTransaction, in order
  std::uint64_t height() const;
  bool mined(const std::string& hash) const;
  std::uint64_t account_nonce(const std::string& account) const;
  /// Transfers of the token on the canonical chain from one account to another.
  std::size_t transfers(const std::string& token, const std::string& from,
                        const std::string& to) const;

 private:
  using Params = boost::json::array;
  struct Place {
    const ScriptedBlock* block;
    std::size_t index;
  };

  HttpReply handle(const HttpMessage& request);
  boost::json::object answer(const boost::json::object& request);
  boost::json::value run(const std::string& method, const Params& params);  // throws NodeError
  boost::json::value send_raw(const std::string& raw);
  boost::json::value estimate(const Params& params);
  boost::json::value call(const Params& params);
  boost::json::value logs(const boost::json::object& filter);
  boost::json::value block_json(const ScriptedBlock& block, bool full) const;
  boost::json::object tx_json(const ScriptedTx& tx, const ScriptedBlock* block,
                              std::size_t index) const;
  boost::json::object receipt_json(const Place& place) const;
  boost::json::object log_json(const Place& place, std::size_t log, std::size_t offset) const;
  const ScriptedBlock* block_at(const boost::json::value& tag) const;
  std::optional<Place> find(const std::string& hash) const;
  std::optional<NodeError> refusal(const evm::SignedTransaction& tx) const;
  std::uint64_t pending_nonce(const evm::Address20& account) const;
  void enter_pool(evm::SignedTransaction tx, std::string raw);
  void mine_one();
  void tick();
  std::uint64_t final_height() const;

  ScriptedNodeOptions options_;
  mutable std::mutex mutex_;
  std::vector<ScriptedBlock> blocks_;
  std::map<std::pair<evm::Address20, std::uint64_t>, ScriptedTx> pool_;
  std::set<evm::Address20> delegated_;
  std::map<std::string, Script> scripts_;
  Judge judge_;
  std::vector<std::string> received_;
  bool hold_pool_ = false;
  std::uint64_t salt_ = 0;  // makes a block of a reorganisation another one
  std::int64_t time_ahead_s_ = 0;
  bool stopping_ = false;
  HttpFace face_;  // its threads use all the above
  std::thread miner_;
};

}  // namespace holdfast::test

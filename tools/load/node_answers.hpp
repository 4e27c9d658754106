// Owns: what the fake node says to each JSON-RPC call: a text over the ledger.
// Must never: answer more than the engine's own EVM chain asks.
#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "dice.hpp"
#include "ledger.hpp"

namespace holdfast::load {

struct NodeRules {
  std::uint64_t chain_number = 31'337;
  double fault_rate = 0;  ///< of the posts
  std::int64_t block_ms = 0;  ///< at least so long between two blocks
};

class NodeAnswers {
 public:
  /// `ledger` outlives it.
  NodeAnswers(NodeRules rules, std::uint64_t seed, Ledger& ledger)
      : rules_(rules), dice_(seed), ledger_(ledger) {}

  /// The response object for one request object. `now_ms` is monotonic, `now_s` wall time.
  std::string answer(const boost::json::value& request, std::int64_t now_ms, std::int64_t now_s);
  std::uint64_t faults() const { return faults_; }

 private:
  /// A member of the response: "result":… or "error":….
  std::string member(const std::string& method, const boost::json::array& params);
  void note_trial(const boost::json::array& params);
  std::string post(const boost::json::array& params);
  std::string block(const boost::json::array& params);
  std::string receipts(const boost::json::array& params);
  std::string count(const boost::json::array& params);
  std::string view_call(const boost::json::array& params) const;
  std::string logs(const boost::json::array& params) const;
  std::string tx_by_hash(const boost::json::array& params);
  std::string receipt_by_hash(const boost::json::array& params);
  const Ledger::Block* block_at(const boost::json::array& params);
  std::string tx_text(const Ledger::Tx& tx) const;
  std::string receipt_text(const Ledger::Tx& tx) const;
  /// `place`: of its block, as members.
  void add_tx(std::string& out, const Ledger::Tx& tx, const std::string& place) const;
  void add_receipt(std::string& out, const Ledger::Tx& tx, const std::string& place) const;

  NodeRules rules_;
  Dice dice_;
  Ledger& ledger_;
  std::int64_t now_ms_ = 0;
  std::int64_t now_s_ = 0;
  std::int64_t last_block_ms_ = 0;
  std::uint64_t faults_ = 0;
};

}  // namespace holdfast::load

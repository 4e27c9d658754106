// Owns: the state of the scripted node: accounts, tokens, blocks, receipts, and the running of our
// two methods' calls on it. A chain small enough to read: no EVM, only what the engine sends. Must
// never: know HTTP or JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/base/uint256.hpp>

#include "evm/eip712.hpp"
#include "evm/logs.hpp"
#include "evm/transaction.hpp"

namespace holdfast::test {

struct ScriptedToken {
  evm::Domain domain;
  std::map<evm::Address20, U256> balances = {};
  std::map<std::pair<evm::Address20, evm::Bytes32>, bool> ended = {};  ///< used authorizations
};

/// The accounts after a block.
struct ScriptedState {
  std::map<evm::Address20, U256> native = {};
  std::map<evm::Address20, std::uint64_t> nonces = {};
  std::map<evm::Address20, ScriptedToken> tokens = {};

  std::uint64_t nonce(const evm::Address20& of) const;
  U256 balance(const evm::Address20& of) const;
};

struct RunResult {
  bool succeeded = false;
  std::string revert_reason = {};
  std::vector<evm::Log> logs = {};
};

/// A call's effect on tokens and balances, gas and nonce apart. A revert leaves `state` alone.
/// `time_s` is the block's. Reads only calls of our two methods and plain transfers.
RunResult run_call(ScriptedState& state, const evm::Address20& from, const evm::Address20& to,
                   const U256& value, ByteView data, std::int64_t time_s);

struct ScriptedTx {
  evm::SignedTransaction tx;
  std::string raw;
  RunResult result = {};  ///< once mined
};

struct ScriptedBlock {
  std::uint64_t height = 0;
  evm::Hash32 hash;
  evm::Hash32 parent;
  std::int64_t time_s = 0;
  std::vector<ScriptedTx> txs = {};
  ScriptedState after = {};
};

inline constexpr std::uint64_t scripted_gas = 60'000;  ///< what every transaction uses

}  // namespace holdfast::test

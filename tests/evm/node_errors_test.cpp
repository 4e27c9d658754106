// The catalogue of node errors against what clients really say, wording by wording.
#include "evm/node_errors.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include <doctest/doctest.h>

namespace holdfast::evm {
namespace {

using Kind = ports::RefusalKind;

struct Said {
  std::string_view client;
  std::int64_t code;
  std::string_view message;
};
struct Group {
  std::string_view name;
  ErrorMeaning meaning;
  std::vector<Said> said;
};

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

std::vector<Group> accepted_or_taken() {
  return {
      {"already known",
       AlreadyKnown{},
       {{"geth", -32000, "already known"},
        {"erigon", -32000, "existing txn with same hash"},
        {"nethermind, old", -32010, "AlreadyKnown"},
        {"nethermind, new", -32000, "already known"},
        {"besu", -32000, "Known transaction"},
        {"anvil", -32003, "already Imported"},
        {"anvil 1.7", -32003, "transaction already imported"},
        {"zksync", -32602,
         "known transaction. transaction with hash 0xab is already in the system"},
        {"parity", -32010, "Transaction with the same hash was already imported."},
        {"substrate", -32603, "submit transaction to pool failed: Pool(AlreadyImported)"},
        {"gnosis", -32010, "alreadyknown"},
        {"sei", -32000, "tx already exists in cache"},
        {"cometbft", -32000, "tx already exists in tx pool cache"},
        {"cometbft", -32000, "tx already exist in the fetch queue"},
        {"reth", -32000,
         "Transaction 0xab was added to the mempool but wasn't confirmed within 30s."}}},
      {"nonce too low",
       Kind::nonce_too_low,
       {{"geth", -32000, "nonce too low: next nonce 5, tx nonce 4"},
        {"besu", -32001, "Nonce too low"},
        {"nethermind, old", -32010, "OldNonce, Current nonce: 5, nonce of rejected tx: 4"},
        {"nethermind, old", -32010, "OwnNonceAlreadyUsed"},
        {"nethermind, new", -32000, "nonce too low"},
        {"erigon", -32000, "mined"},
        {"nitro", -32000, "nonce too low: address 0xab, tx: 4 state: 5"},
        {"avalanche", -32000, "nonce too low: address 0xab current nonce (5) > tx nonce (4)"},
        {"zksync", 3, "nonce too low. allowed nonce range: 5 - 25, actual: 4"},
        {"arbitrum", -32000, "invalid transaction nonce"},
        {"parity", -32010, "Transaction nonce is too low. Try incrementing the nonce."},
        {"substrate", -32603, "submit transaction to pool failed: Pool(Stale)"},
        {"harmony", -32000, "transaction already finalized"},
        {"hedera", -32001, "Nonce too low. Provided nonce: 4, current nonce: 5"},
        {"eni", -32000, "gas wanted -1, gas fee is insufficient"}}},
      {"occupied",
       Kind::replacement_underpriced,
       {{"geth", -32000, "replacement transaction underpriced: new tx gas fee cap 1 <= 1 queued"},
        {"besu", -32000, "Replacement transaction underpriced"},
        {"anvil", -32003, "replacement transaction underpriced"},
        {"nethermind", -32010, "ReplacementNotAllowed"},
        {"erigon", -32000, "could not replace existing tx"},
        {"erigon", -32000, "replaced by transaction with higher tip"},
        {"anvil", -32003, "insufficient gas price to replace existing transaction"},
        {"klaytn", -32000, "there is another tx which has the same nonce in the tx pool"},
        {"parity", -32010,
         "There is another transaction with same nonce in the queue. Try increasing the fee"},
        {"zksync", -32000, "insertion of another transaction with the same nonce is in progress"}}},
      {"type conflict",
       Kind::type_conflict,
       {{"geth", -32000, "address already reserved"},
        {"geth", -32000, "authority already reserved"},
        {"geth", -32000, "in-flight transaction limit reached for delegated accounts"},
        {"nethermind, old", -32010, "PendingTxsOfConflictingType"},
        {"nethermind, new", -32000, "pending transaction type conflict"},
        {"nethermind", -32010, "DelegatorHasPendingTx"},
        {"erigon", -32000, "can't replace blob-txn with a non-blob-txn"},
        {"erigon", -32000, "EIP-7702 transaction with authority already reserved"},
        {"reth", -32000, "transaction type 2 conflicts with existing transaction for 0xab"}}},
      {"too high",
       Kind::nonce_too_high,
       {{"geth", -32000, "nonce too high: tx nonce 9, gapped nonce 7"},
        {"geth", -32000, "gapped-nonce tx from delegated accounts"},
        {"besu", -32006, "Nonce too high"},
        {"besu", -32006, "Transaction nonce is too distant from current sender nonce"},
        {"besu", -32000, "An invalid transaction with a lower nonce exists"},
        {"nethermind, old", -32010, "NonceGap, Future nonce. Expected nonce: 5"},
        {"nethermind, old", -32010, "NonceTooFarInFuture"},
        {"nethermind, new", -32000, "nonce too far in future"},
        {"nethermind, new", -32000, "delegation nonce gap"},
        {"nethermind", -32010, "NotCurrentNonceForDelegation"},
        {"zksync", 3, "nonce too high. allowed nonce range: 5 - 25, actual: 99"},
        {"nitro", -32000, "nonce too high"},
        {"any", -32000, "tx nonce exceeds next nonce"},
        {"any", -32000, "nonce out of range"},
        {"any", -32000, "tx-nonce-too-high"}}},
  };
}

std::vector<Group> money_and_gas() {
  return {
      {"underpriced",
       Kind::underpriced,
       {{"geth", -32000, "transaction underpriced: gas tip cap 0, minimum needed 1"},
        {"reth", -32000, "underpriced"},
        {"erigon", -32000, "fee too low"},
        {"geth", -32000, "transaction gas price below minimum: gas tip cap 0, minimum needed 1"},
        {"anvil", -32003, "max fee per gas less than block base fee"},
        {"geth", -32000, "max fee per blob gas less than block blob gas fee"},
        {"besu", -32009, "Gas price below configured minimum gas price"},
        {"besu", -32009, "Gas price below current base fee"},
        {"besu", -32000, "blob gas price below current blob base fee"},
        {"nethermind", -32010, "FeeTooLow, EffectivePriorityFeePerGas too low 0 < 1"},
        {"nethermind", -32010, "FeeTooLowToCompete"},
        {"reth", -32000, "transaction priority fee below minimum required priority fee 1"},
        {"metis", -32000, "gas price too low: 1 wei, use at least tx.gasPrice = 2 wei"},
        {"celo", -32000, "gasprice is less than gas price minimum floor"},
        {"hedera", -32009, "Gas price '1' is below configured minimum gas price '2'"},
        {"arbitrum", -32000, "gas price too low"},
        {"sei", -32000, "insufficient fee"},
        {"zksync", -32000, "Fair pubdata price too high"},
        {"astar", -32000, "\"gas price less than block base fee\""},
        {"bor", -32000, "transaction gas price below minimum"}}},
      {"over the cap",
       Kind::over_fee_cap,
       {{"geth", -32000, "tx fee (2.00 ether) exceeds the configured cap (1.00 ether)"},
        {"celo", -32000, "tx fee (2.00 of currency celo) exceeds the configured cap (1.00)"},
        {"besu", -32000, "Transaction fee cap exceeded"}}},
      {"unfunded",
       Kind::unfunded,
       {{"geth", -32000,
         "insufficient funds for gas * price + value: balance 1, tx cost 2, overshot 1"},
        {"geth", -32000, "insufficient funds for transfer"},
        {"reth", -32000, "insufficient funds for gas * price + value: have 1 want 2"},
        {"besu", -32004, "Upfront cost exceeds account balance"},
        {"nethermind", -32010, "InsufficientFunds, Account balance: 0, cumulative cost: 1"},
        {"arbitrum", -32000, "not enough funds for gas"},
        {"zksync", -32000, "insufficient funds for gas + value. balance: 0, fee: 1, value: 0"},
        {"zksync", -32000, "not enough balance to cover the fee. balance: 0, max cost: 1"},
        {"zksync", -32000, "Failed to pay the fee to the operator"},
        {"zksync", -32000, "insufficient balance for transfer"},
        {"celo", -32000, "insufficient funds for gas * price + value + gatewayFee"},
        {"hedera", -32000, "INSUFFICIENT_PAYER_BALANCE"},
        {"monad", -32603, "Signer had insufficient balance"}}},
      {"gas",
       Kind::gas,
       {{"geth", -32000, "intrinsic gas too low: gas 20000, minimum needed 21000"},
        {"geth", -32000, "insufficient gas for floor data gas cost: gas 1, minimum needed 2"},
        {"geth", -32000, "exceeds block gas limit"},
        {"geth", -32000, "transaction gas limit too high (cap: 16777216, tx: 30000000)"},
        {"geth", -32000, "gas uint64 overflow"},
        {"geth", -32000, "gas required exceeds allowance (30000000)"},
        {"besu", -32003, "Intrinsic gas exceeds gas limit"},
        {"besu", -32005, "Transaction gas limit exceeds block gas limit"},
        {"besu", -32005, "Transaction gas limit must be at most 16777216"},
        {"erigon", -32000, "IntrinsicGas"},
        {"erigon", -32000, "GasUintOverflow"},
        {"erigon", -32000, "gas limit is too high"},
        {"reth", -32000, "exceeds max transaction gas limit"},
        {"reth", -32000, "intrinsic gas too high"},
        {"nethermind, old", -32010, "GasLimitExceeded"},
        {"nethermind, new", -32000, "gas limit reached"},
        {"monad", -32603, "Gas limit too low"},
        {"anvil", -32003, "Transaction gas limit is greater than the block gas limit"},
        {"sei", -32000, "out of gas"}}},
      {"type",
       Kind::tx_type,
       {{"geth", -32000, "transaction type not supported"},
        {"geth", -32000, "type 2 rejected, pool not yet in London"},
        {"besu", -32602, "Invalid transaction type"},
        {"nethermind, old", -32010, "NotSupportedTxType"},
        {"nethermind, new", -32000, "unsupported transaction type"},
        {"erigon", -32000, "fork supporting this transaction type is not activated yet"},
        {"anvil", -32602,
         "EIP-1559 style fee params (maxFeePerGas or maxPriorityFeePerGas) received but they are "
         "not supported by the current hardfork."}}},
  };
}

std::vector<Group> malformed_by_client() {
  return {
      {"malformed, geth and reth",
       Kind::malformed,
       {{"geth", -32000, "invalid sender"},
        {"geth", -32000, "sender not an eoa: address 0xab, len(code): 3"},
        {"geth", -32000, "negative value"},
        {"geth", -32000, "oversized data: transaction size 200000, limit 131072"},
        {"geth", -32000, "max initcode size exceeded: code size 50000, limit 49152"},
        {"geth", -32000, "initcode too large"},
        {"geth", -32000, "max priority fee per gas higher than max fee per gas: 2 > 1"},
        {"geth", -32000, "max fee per gas higher than 2^256-1"},
        {"geth", -32000, "max priority fee per gas higher than 2^256-1"},
        {"geth", -32000, "nonce has max value"},
        {"geth", -32000, "only replay-protected (EIP-155) transactions allowed over RPC"},
        {"geth", -32000, "invalid chain id for signer: have 5 want 1"},
        {"anvil", -32003, "invalid chain id for signer"},
        {"geth", -32000, "blob transaction missing blob hashes"},
        {"geth", -32000, "blob transaction has too many blobs (have 9, max 6)"},
        {"geth", -32000, "blob transaction of type create"},
        {"geth", -32000, "EIP-7702 transaction with empty auth list"},
        {"geth", -32000, "set code tx must have at least one authorization tuple"},
        {"geth", -32000, "EIP-7702 transaction cannot be used to create contract"},
        {"geth", -32000, "KZG verification error: invalid proof"},
        {"geth", -32000, "Wrong sidecar format"},
        {"reth", -32000, "invalid chain ID"},
        {"reth", -32602, "empty transaction data"},
        {"anvil", -32602, "Failed to decode transaction"},
        {"reth", -32602, "failed to decode signed transaction"}}},
      {"malformed, besu and nethermind",
       Kind::malformed,
       {{"besu", -32000, "Wrong chainId"},
        {"besu", -32002, "Invalid signature"},
        {"besu", -32007, "Sender account not authorized to send transactions"},
        {"besu", -32000, "ChainId not supported"},
        {"besu", -32000, "ChainId is required"},
        {"besu", -32000, "Total blob gas too high"},
        {"besu", -32000, "Max priority fee per gas exceeds max fee per gas"},
        {"nethermind, old", -32010, "SenderIsContract"},
        {"nethermind, old", -32010, "FailedToResolveSender"},
        {"nethermind, old", -32010, "MaxTxSizeExceeded"},
        {"nethermind, old", -32010, "Int256Overflow"},
        {"nethermind, old", -32010, "Invalid"},
        {"nethermind, old", -32010, "Invalid, InvalidTxSignature: Signature is invalid."},
        {"nethermind, new", -32000, "transaction invalid"},
        {"nethermind, new", -32000, "transaction cost overflow"},
        {"nethermind, new", -32000, "failed to recover sender"},
        {"nethermind, new", -32000, "transaction too large"}}},
      {"malformed, others",
       Kind::malformed,
       {{"erigon", -32000, "RLPTooLong"},
        {"erigon", -32000, "spammer"},
        {"erigon", -32000, "max number of blobs exceeded"},
        {"zksync", 3, "invalid sender. can't start a transaction from a non-account"},
        {"zksync", 3, "failed to validate the transaction. reason: nonce too low"},
        {"zksync", 3, "Not enough gas for transaction validation"},
        {"zksync", 3, "oversized data. max: 1; actual: 2"},
        {"zksync", 3, "contract deployer address 0xab is not in the allow list"},
        {"arbitrum", -32000, "forbidden sender address"},
        {"arbitrum", -32000, "transaction sender is not on the whitelist"},
        {"arbitrum", -32000, "invalid message format"},
        {"parity", -32010, "Sender is banned in local queue."},
        {"parity", -32010, "Recipient is banned in local queue."},
        {"parity", -32010, "Code is banned in local queue."},
        {"harmony", -32000, "invalid shard"},
        {"hedera", -32000, "INVALID_SIGNATURE"},
        {"hedera", -32201, "Oversized data: transaction size 9, transaction limit 8"},
        {"treasure", -32000, "invalid chain id for signer"},
        {"sei", -32000, "Tx too large. Max size is 1, but got 2"}}},
  };
}

std::vector<Group> pools_and_the_rest() {
  return {
      {"full",
       Kind::pool_full,
       {{"geth", -32000, "txpool is full"},
        {"geth", -32000, "account limit exceeded: pooled 16 txs"},
        {"geth", -32000, "future transaction tries to replace pending"},
        {"geth", -32000, "transaction blob limit exceeded"},
        {"erigon", -32000, "pending sub-pool is full"},
        {"erigon", -32000, "baseFee sub-pool is full"},
        {"erigon", -32000, "queued sub-pool is full"},
        {"erigon", -32000, "blobs limit in txpool is full"},
        {"parity", -32010,
         "There are too many transactions in the queue. Your transaction was "
         "dropped due to limit. Try increasing the fee."}}},
      {"rate limits",
       RateLimited{},
       {{"alchemy", 429, "Your app has exceeded its compute units per second capacity."},
        {"quicknode", 429, "over your plan"},
        {"infura", -32005, "daily request count exceeded, request rate limited"},
        {"EIP-1474", -32005, "Limit exceeded"},
        {"provider", -32007, "50/second is your limit"},
        {"provider", -32011, "network error"},
        {"any", -32000, "Too Many Requests"}}},
      {"stuck",
       Kind::stuck_for_good,
       {{"polygon zkEVM", -32000, "not enough keccak counters to continue the execution"},
        {"xlayer", -32000, "out of counters at node level (ooc)"}}},
      {"policy",
       Kind::other,
       {{"besu", -32000, "Plugin has marked the transaction as invalid"},
        {"besu", -32000, "transaction is not acceptable by the transaction pool"},
        {"reth", -32000, "rejected due to 0xab being identified as a spammer"},
        {"infura", -32005, "query returned more than 10000 results"}}},
      {"the wrong node",
       Kind::no_such_method,
       {{"geth", -32601, "the method eth_getBlockReceipts does not exist/is not available"},
        {"any", -32601, "no"},
        {"anvil", -32601, "Method not found"},
        {"alchemy", -32600, "Unsupported method: eth_getBlockReceipts on ETH_MAINNET"},
        {"besu", -32000,
         "Transaction pool not enabled. (Either txpool explicitly disabled, or not "
         "yet in sync)."},
        {"nitro", -32000, "publishing transactions not supported by this endpoint"}}},
      {"busy or broken",
       Unclear{},
       {{"nitro", -32000, "sequencer temporarily not available"},
        {"nitro", -32000, "sequencer internal error"},
        {"nitro", -32000, "failed to publish transaction to any of the forwarding targets"},
        {"nitro", -32000, "currently not accepting transactions due to expected surplus being low"},
        {"arbitrum", -32000, "queue full"},
        {"arbitrum", -32000, "sequencer pending tx pool full, please try again"},
        {"besu", -32000, "Initial sync is still in progress"},
        {"besu", -32603, "Internal error"},
        {"besu", -32603, "Timeout expired"},
        {"nethermind, old", -32010, "Syncing"},
        {"nethermind, new", -32000, "node is syncing"},
        {"zksync", -32000, "server shutting down"},
        {"zksync", 3, "failed to include transaction in the system. reason: nonce too low"},
        {"zksync", 3, "virtual machine entered unexpected state. please contact developers"},
        {"hedera", -32603, "Transaction execution returns a null value for transaction 0xab"},
        {"any", -32000, "EOF"},
        {"any", -32000, "dial tcp: i/o timeout"},
        {"any", -32000, "network is unreachable"},
        {"any", -32000, "context deadline exceeded"},
        {"any", -32000, "unknown transaction"},
        {"any", -32000, "the transaction was not mined in time"},
        {"any", 4, "a code only the synchronous send has"},
        {"any", -32003, "response too large"},
        {"any", -32001, "a code besu and EIP-1474 read differently"},
        {"any", 0, ""}}},
  };
}

void check(const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    for (const Said& said : group.said) {
      CAPTURE(group.name);
      CAPTURE(said.client);
      CAPTURE(said.message);
      CHECK(classify(said.code, said.message, "") == group.meaning);
      CHECK(classify(said.code, upper(said.message), "") == group.meaning);
    }
  }
}

}  // namespace

TEST_CASE("node errors: every client's wording of what happened to the bytes") {
  check(accepted_or_taken());
}
TEST_CASE("node errors: every client's wording about fees, funds and gas") {
  check(money_and_gas());
}
TEST_CASE("node errors: every client's wording for bytes that will never do") {
  check(malformed_by_client());
}
TEST_CASE("node errors: full pools, rate limits, policies, busy nodes, and the unknown") {
  check(pools_and_the_rest());
}

TEST_CASE("node errors: no row of the catalogue is hidden by one before it") {
  for (const ErrorRow& row : error_rows()) {
    CAPTURE(row.client);
    CAPTURE(row.text);
    CHECK(classify(-32000, row.text, "") == row.meaning);
    if (row.match == TextMatch::whole) continue;
    CHECK(classify(-32000, std::string(row.text) + ": and a suffix 12", "") == row.meaning);
  }
}

TEST_CASE("node errors: a contract's words are never taken for the node's") {
  for (const std::string_view words :
       {"already known", "nonce too low", "insufficient funds", "txpool is full", "rate limit"}) {
    CAPTURE(words);
    const std::string tail(words);
    for (const std::string& message :
         {"execution reverted: " + tail, "err: execution reverted: " + tail + " (supplied gas 9)",
          "Error: VM Exception while processing transaction: reverted with reason '" + tail + "'",
          "VM execution error: " + tail}) {
      CAPTURE(message);
      CHECK(classify(-32000, message, "") == ErrorMeaning(Kind::reverted));
    }
    CHECK(classify(-32000, "transaction failed", tail) == ErrorMeaning(Unclear{}));
  }
}

}  // namespace holdfast::evm

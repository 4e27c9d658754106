// Owns: the rows of the node-error catalogue. Data only; node_errors.cpp reads it.
#include "evm/node_errors.hpp"

namespace holdfast::evm {
namespace {

using Kind = ports::RefusalKind;
using enum TextMatch;

constexpr AlreadyKnown known{};
constexpr RateLimited limited{};
constexpr Unclear unclear{};

constexpr ErrorRow rows[] = {
    // Wrappers: what follows may be a contract's words, so they are asked before everything else.
    {Kind::reverted, within, "geth", "execution reverted"},
    {Kind::reverted, within, "nethermind", "vm execution error"},
    {Kind::reverted, within, "hardhat", "vm exception while processing transaction"},
    {Kind::reverted, start, "parity", "reverted 0x"},
    {Kind::malformed, within, "zksync", "failed to validate the transaction. reason:"},
    {unclear, within, "zksync", "failed to include transaction in the system. reason:"},
    {unclear, within, "zksync", "virtual machine entered unexpected state"},

    // Accepted.
    {known, within, "geth", "already known"},
    {known, within, "erigon", "existing txn with same hash"},
    {known, start, "nethermind", "AlreadyKnown"},
    {known, within, "besu", "known transaction"},
    {known, within, "anvil", "already imported"},
    {known, within, "substrate", "Pool(AlreadyImported)"},
    {known, within, "sei", "tx already exists in cache"},
    {known, within, "cometbft", "tx already exists in tx pool cache"},
    {known, within, "cometbft", "tx already exist in the fetch queue"},
    {known, within, "reth", "was added to the mempool but wasn't confirmed within"},

    // Rate limits that come as words.
    {limited, within, "any", "too many requests"},
    {limited, within, "any", "rate limit"},
    {limited, within, "infura", "daily request count exceeded"},
    {limited, within, "alchemy", "exceeded its compute units"},
    {limited, within, "quicknode", "request limit reached"},

    // Nonce too low.
    {Kind::nonce_too_low, within, "geth", "nonce too low"},
    {Kind::nonce_too_low, start, "nethermind", "OldNonce"},
    {Kind::nonce_too_low, start, "nethermind", "OwnNonceAlreadyUsed"},
    {Kind::nonce_too_low, whole, "erigon", "mined"},
    {Kind::nonce_too_low, within, "arbitrum", "invalid transaction nonce"},
    {Kind::nonce_too_low, within, "parity", "transaction nonce is too low"},
    {Kind::nonce_too_low, within, "substrate", "Pool(Stale)"},
    {Kind::nonce_too_low, within, "harmony", "transaction already finalized"},
    {Kind::nonce_too_low, within, "ethermint", "gas wanted -1, gas fee is insufficient"},

    // Delegated accounts and pools of one type only.
    {Kind::type_conflict, within, "geth", "address already reserved"},
    {Kind::type_conflict, within, "geth", "authority already reserved"},
    {Kind::type_conflict, within, "geth",
     "in-flight transaction limit reached for delegated accounts"},
    {Kind::type_conflict, start, "nethermind", "PendingTxsOfConflictingType"},
    {Kind::type_conflict, within, "nethermind", "pending transaction type conflict"},
    {Kind::type_conflict, start, "nethermind", "DelegatorHasPendingTx"},
    {Kind::type_conflict, within, "erigon", "can't replace blob-txn with a non-blob-txn"},
    {Kind::type_conflict, within, "erigon", "transaction with authority already reserved"},
    {Kind::type_conflict, within, "reth", "conflicts with existing transaction"},

    // A gap.
    {Kind::nonce_too_high, within, "geth", "nonce too high"},
    {Kind::nonce_too_high, within, "geth", "gapped nonce"},
    {Kind::nonce_too_high, within, "geth", "gapped-nonce tx from delegated accounts"},
    {Kind::nonce_too_high, within, "besu", "transaction nonce is too distant"},
    {Kind::nonce_too_high, within, "besu", "an invalid transaction with a lower nonce exists"},
    {Kind::nonce_too_high, start, "nethermind", "NonceGap"},
    {Kind::nonce_too_high, start, "nethermind", "NonceTooFarInFuture"},
    {Kind::nonce_too_high, within, "nethermind", "nonce too far in future"},
    {Kind::nonce_too_high, within, "nethermind", "delegation nonce gap"},
    {Kind::nonce_too_high, start, "nethermind", "NotCurrentNonceForDelegation"},
    {Kind::nonce_too_high, within, "any", "exceeds next nonce"},
    {Kind::nonce_too_high, within, "any", "nonce out of range"},
    {Kind::nonce_too_high, within, "any", "tx-nonce-too-high"},

    // The slot is occupied.
    {Kind::replacement_underpriced, within, "geth", "replacement transaction underpriced"},
    {Kind::replacement_underpriced, start, "nethermind", "ReplacementNotAllowed"},
    {Kind::replacement_underpriced, within, "erigon", "could not replace existing tx"},
    {Kind::replacement_underpriced, within, "erigon", "replaced by transaction with higher tip"},
    {Kind::replacement_underpriced, within, "anvil",
     "insufficient gas price to replace existing transaction"},
    {Kind::replacement_underpriced, within, "klaytn",
     "there is another tx which has the same nonce in the tx pool"},
    {Kind::replacement_underpriced, within, "parity",
     "there is another transaction with same nonce in the queue"},
    {Kind::replacement_underpriced, within, "zksync",
     "insertion of another transaction with the same nonce is in progress"},

    // The node's own ceiling.
    {Kind::over_fee_cap, within, "geth", "exceeds the configured cap"},
    {Kind::over_fee_cap, within, "besu", "transaction fee cap exceeded"},

    // Fees too low.
    {Kind::underpriced, within, "geth", "underpriced"},
    {Kind::underpriced, within, "geth", "fee too low"},
    {Kind::underpriced, within, "geth", "transaction gas price below minimum"},
    {Kind::underpriced, within, "geth", "max fee per gas less than block base fee"},
    {Kind::underpriced, within, "geth", "max fee per blob gas less than block blob gas fee"},
    {Kind::underpriced, within, "besu", "below configured minimum"},
    {Kind::underpriced, within, "besu", "below current base fee"},
    {Kind::underpriced, within, "besu", "below current blob base fee"},
    {Kind::underpriced, start, "nethermind", "FeeTooLow"},
    {Kind::underpriced, within, "reth", "transaction priority fee below minimum required"},
    {Kind::underpriced, within, "arbitrum", "gas price too low"},
    {Kind::underpriced, within, "celo", "gasprice is less than gas price minimum floor"},
    {Kind::underpriced, within, "mantle", "gas price less than block base fee"},
    {Kind::underpriced, within, "sei", "insufficient fee"},
    {Kind::underpriced, within, "zksync", "fair pubdata price too high"},

    // Money for gas.
    {Kind::unfunded, within, "geth", "insufficient funds"},
    {Kind::unfunded, within, "besu", "upfront cost exceeds account balance"},
    {Kind::unfunded, start, "nethermind", "InsufficientFunds"},
    {Kind::unfunded, within, "arbitrum", "not enough funds for gas"},
    {Kind::unfunded, within, "zksync", "not enough balance to cover the fee"},
    {Kind::unfunded, within, "zksync", "failed to pay the fee to the operator"},
    {Kind::unfunded, within, "zksync", "insufficient balance for transfer"},
    {Kind::unfunded, within, "hedera", "INSUFFICIENT_PAYER_BALANCE"},
    {Kind::unfunded, within, "monad", "signer had insufficient balance"},

    // Gas limits.
    {Kind::gas, within, "geth", "intrinsic gas too low"},
    {Kind::gas, within, "geth", "insufficient gas for floor data gas cost"},
    {Kind::gas, within, "geth", "exceeds block gas limit"},
    {Kind::gas, within, "geth", "transaction gas limit too high"},
    {Kind::gas, within, "geth", "gas uint64 overflow"},
    {Kind::gas, within, "geth", "gas required exceeds allowance"},
    {Kind::gas, within, "besu", "intrinsic gas exceeds gas limit"},
    {Kind::gas, start, "erigon", "IntrinsicGas"},
    {Kind::gas, start, "erigon", "GasUintOverflow"},
    {Kind::gas, within, "erigon", "gas limit is too high"},
    {Kind::gas, within, "reth", "exceeds max transaction gas limit"},
    {Kind::gas, within, "reth", "intrinsic gas too high"},
    {Kind::gas, start, "nethermind", "GasLimitExceeded"},
    {Kind::gas, within, "nethermind", "gas limit reached"},
    {Kind::gas, within, "monad", "gas limit too low"},
    {Kind::gas, within, "anvil", "gas limit is greater than the block gas limit"},
    {Kind::gas, within, "sei", "out of gas"},

    // The type of transaction.
    {Kind::tx_type, within, "geth", "transaction type not supported"},
    {Kind::tx_type, within, "geth", "rejected, pool not yet in"},
    {Kind::tx_type, within, "besu", "invalid transaction type"},
    {Kind::tx_type, start, "nethermind", "NotSupportedTxType"},
    {Kind::tx_type, within, "nethermind", "unsupported transaction type"},
    {Kind::tx_type, within, "erigon", "fork supporting this transaction type is not activated"},
    {Kind::tx_type, within, "anvil", "EIP-1559 style fee params"},

    // A node's policy. Before the malformed: reth and erigon share the word spammer.
    {Kind::other, within, "besu", "plugin has marked the transaction as invalid"},
    {Kind::other, within, "besu", "not acceptable by the transaction pool"},
    {Kind::other, within, "reth", "identified as a spammer"},
    // A question this node answers no larger.
    {Kind::other, within, "infura", "query returned more than"},

    // No such bytes will ever do.
    {Kind::malformed, within, "geth", "invalid sender"},
    {Kind::malformed, within, "geth", "sender not an eoa"},
    {Kind::malformed, within, "geth", "negative value"},
    {Kind::malformed, within, "geth", "oversized data"},
    {Kind::malformed, within, "geth", "max initcode size exceeded"},
    {Kind::malformed, within, "geth", "initcode too large"},
    {Kind::malformed, within, "geth", "max priority fee per gas higher than max fee per gas"},
    {Kind::malformed, within, "geth", "max fee per gas higher than 2^256-1"},
    {Kind::malformed, within, "geth", "max priority fee per gas higher than 2^256-1"},
    {Kind::malformed, within, "geth", "nonce has max value"},
    {Kind::malformed, within, "geth", "only replay-protected (EIP-155) transactions"},
    {Kind::malformed, within, "geth", "invalid chain id"},
    {Kind::malformed, within, "geth", "blob transaction missing blob hashes"},
    {Kind::malformed, within, "geth", "blob transaction has too many blobs"},
    {Kind::malformed, within, "geth", "blob transaction of type create"},
    {Kind::malformed, within, "geth", "EIP-7702 transaction with empty auth list"},
    {Kind::malformed, within, "geth", "set code tx must have at least one authorization tuple"},
    {Kind::malformed, within, "geth", "EIP-7702 transaction cannot be used to create contract"},
    {Kind::malformed, within, "geth", "KZG verification error"},
    {Kind::malformed, within, "geth", "wrong sidecar format"},
    {Kind::malformed, within, "besu", "wrong chainId"},
    {Kind::malformed, within, "besu", "invalid signature"},
    {Kind::malformed, within, "besu", "sender account not authorized"},
    {Kind::malformed, within, "besu", "chainId not supported"},
    {Kind::malformed, within, "besu", "chainId is required"},
    {Kind::malformed, within, "besu", "total blob gas too high"},
    {Kind::malformed, within, "besu", "max priority fee per gas exceeds max fee per gas"},
    {Kind::malformed, start, "nethermind", "SenderIsContract"},
    {Kind::malformed, start, "nethermind", "FailedToResolveSender"},
    {Kind::malformed, start, "nethermind", "MaxTxSizeExceeded"},
    {Kind::malformed, start, "nethermind", "Int256Overflow"},
    {Kind::malformed, whole, "nethermind", "Invalid"},
    {Kind::malformed, start, "nethermind", "Invalid,"},
    {Kind::malformed, start, "nethermind", "transaction invalid"},
    {Kind::malformed, within, "nethermind", "transaction cost overflow"},
    {Kind::malformed, within, "nethermind", "failed to recover sender"},
    {Kind::malformed, within, "nethermind", "transaction too large"},
    {Kind::malformed, start, "erigon", "RLPTooLong"},
    {Kind::malformed, whole, "erigon", "spammer"},
    {Kind::malformed, within, "erigon", "max number of blobs exceeded"},
    {Kind::malformed, within, "reth", "failed to decode signed transaction"},
    {Kind::malformed, within, "reth", "empty transaction data"},
    {Kind::malformed, within, "anvil", "failed to decode transaction"},
    {Kind::malformed, within, "zksync", "not enough gas for transaction validation"},
    {Kind::malformed, within, "zksync", "is not in the allow list"},
    {Kind::malformed, within, "arbitrum", "forbidden sender address"},
    {Kind::malformed, within, "arbitrum", "transaction sender is not on the whitelist"},
    {Kind::malformed, within, "arbitrum", "invalid message format"},
    {Kind::malformed, within, "parity", "banned in local queue"},
    {Kind::malformed, within, "harmony", "invalid shard"},
    {Kind::malformed, start, "hedera", "INVALID_SIGNATURE"},
    {Kind::malformed, start, "sei", "tx too large"},

    // No room.
    {Kind::pool_full, within, "geth", "txpool is full"},
    {Kind::pool_full, within, "geth", "account limit exceeded"},
    {Kind::pool_full, within, "geth", "future transaction tries to replace pending"},
    {Kind::pool_full, within, "geth", "transaction blob limit exceeded"},
    {Kind::pool_full, within, "erigon", "sub-pool is full"},
    {Kind::pool_full, within, "erigon", "blobs limit in txpool is full"},
    {Kind::pool_full, within, "parity", "there are too many transactions in the queue"},

    // Never includable.
    {Kind::stuck_for_good, within, "polygon-zkevm", "counters to continue the execution"},
    {Kind::stuck_for_good, within, "polygon-zkevm", "out of counters at node level"},

    // The wrong node for this question.
    {Kind::no_such_method, within, "geth", "does not exist/is not available"},
    {Kind::no_such_method, within, "any", "method not found"},
    {Kind::no_such_method, within, "any", "method not supported"},
    {Kind::no_such_method, within, "any", "unsupported method"},
    {Kind::no_such_method, within, "any", "method is not whitelisted"},
    {Kind::no_such_method, within, "besu", "transaction pool not enabled"},
    {Kind::no_such_method, within, "nitro",
     "publishing transactions not supported by this endpoint"},

    // Busy, out of sync, broken: named so that a code can not make more of them.
    {unclear, within, "nitro", "sequencer temporarily not available"},
    {unclear, within, "nitro", "sequencer internal error"},
    {unclear, within, "nitro", "failed to publish transaction to any of the forwarding targets"},
    {unclear, within, "nitro", "currently not accepting transactions"},
    {unclear, within, "arbitrum", "queue full"},
    {unclear, within, "arbitrum", "sequencer pending tx pool full"},
    {unclear, within, "besu", "initial sync is still in progress"},
    {unclear, within, "besu", "timeout expired"},
    {unclear, start, "nethermind", "syncing"},
    {unclear, within, "nethermind", "node is syncing"},
    {unclear, within, "zksync", "server shutting down"},
    {unclear, within, "hedera", "transaction execution returns a null value for transaction"},
    {unclear, within, "any", "internal error"},
    {unclear, within, "any", "network is unreachable"},
    {unclear, within, "any", "i/o timeout"},
    {unclear, within, "any", "context deadline exceeded"},
};

}  // namespace

std::span<const ErrorRow> error_rows() { return rows; }

}  // namespace holdfast::evm

// Owns: the state of a chain that takes every good transaction: its pool, its blocks (each final at
// once), its books. The null chain and the fake node are two doors to it.
// Must never: know a payment as anything but posted bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include <holdfast/domain/mined_tx.hpp>
#include <holdfast/ports/chain.hpp>

#include "books.hpp"
#include "posted_tx.hpp"
#include "signer_notes.hpp"

namespace holdfast::load {

inline constexpr std::uint64_t gas_price = 1'000'000'000;  ///< wei: the base fee and the rest
inline constexpr std::uint64_t gas_of_a_transfer = 60'000;

/// Remembers the newest 120,000 transactions.
class Ledger {
 public:
  struct Tx {
    PostedTx says;
    domain::TxHash hash;
    std::uint32_t account = 0;
    std::int64_t posted_us = 0;
    std::uint64_t height = 0;  ///< 0: it waits
    bool succeeded = true;  ///< once mined
  };
  struct Block {
    domain::BlockRef ref;
    domain::BlockHash parent;
    std::int64_t time_s = 0;
    std::uint64_t first = 0;  ///< place of its first transaction
    std::uint64_t count = 0;
  };
  struct Counts {
    std::uint64_t mined = 0;
    std::uint64_t pending = 0;  ///< and those that wait in an unbroken line behind them
  };

  /// `first`: the block that it goes on from, where it is not the chain's first.
  /// `notes`: who signed what, where that is known; else the key is recovered from the bytes.
  explicit Ledger(std::int64_t now_s, SignerNotes* notes = nullptr,
                  const std::optional<domain::BlockRef>& first = {});

  /// Whose call was tried, by its last 32 bytes: of the transaction that then carries them no key
  /// is recovered, which is dearer than the rest of what is done with it, but for one in
  /// sixty-four. Of an account whose key was recovered once; of others nothing is kept.
  void note_trial(const domain::Ref& tail, const domain::Address& from);
  /// As a node answers: the kinds and texts are those of the catalogue.
  ports::Outcome<ports::Posted> take(ByteView bytes);
  /// A block of all that waits in an unbroken line of numbers, if there is any; at most `most`.
  void mine(std::int64_t now_s, std::size_t most = 50'000);

  const Block& newest() const { return blocks_.back(); }
  const Block* block(std::uint64_t height) const;  ///< null: none yet
  /// Null: forgotten.
  const Tx* at(std::uint64_t place) const;
  bool is_waiting(const domain::TxHash& hash) const { return waiting_.contains(hash); }
  std::size_t waiting() const { return waiting_.size(); }
  const Tx* mined(const domain::TxHash& hash) const;
  /// Mined or waiting; null: neither.
  const Tx* known(const domain::TxHash& hash) const;
  const Tx* mined(const domain::Address& account, std::uint64_t number) const;
  Counts counts(const domain::Address& account) const;
  const domain::Address& sender(const Tx& tx) const { return accounts_[tx.account].name; }
  /// The transaction that used this authorization; null: none, or one that is forgotten.
  const Tx* use(const AuthorizationKey& key) const;
  std::vector<Moved>& books() { return books_; }

 private:
  struct Account {
    domain::Address name;
    std::uint64_t count = 0;  ///< mined
    std::map<std::uint64_t, Tx> pool;  ///< by number, from `count` on
    std::unordered_map<std::uint64_t, std::uint64_t> mined;  ///< number to place, see at()
  };

  std::uint32_t account_of(const domain::Address& name);
  std::optional<std::uint32_t> sender_of(const PostedTx& says, ByteView bytes);
  void mine_tx(Block& block, Account& account, Tx tx);
  void forget_old();

  std::vector<Account> accounts_;
  std::unordered_map<domain::Address, std::uint32_t> account_places_;
  SignerNotes* notes_;
  std::unordered_map<Head, std::uint32_t> tried_;  ///< whose call it was
  std::uint64_t believed_ = 0;
  std::deque<Tx> mined_;  ///< by place, from `forgotten_` on
  std::uint64_t forgotten_ = 0;
  std::unordered_map<domain::TxHash, std::uint64_t> places_;
  std::unordered_map<domain::TxHash, std::uint32_t> waiting_;  ///< whose pool it is in
  std::unordered_map<AuthorizationKey, std::uint64_t, AuthorizationKeyHash> uses_;  ///< place
  std::vector<Block> blocks_;  ///< by height, from the first on
  std::vector<Moved> books_;
};

}  // namespace holdfast::load

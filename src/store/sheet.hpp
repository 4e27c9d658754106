// Owns: what all steps of one commit add to: the journal's tip and the balances, as the transaction
// under way leaves them. Read once, and the balances written once, before the commit.
// Must never: outlive its transaction, or be written after a step of it was taken back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include <holdfast/base/sha256.hpp>
#include <holdfast/domain/journal.hpp>
#include <holdfast/store/store.hpp>

namespace holdfast::store {

using Balances = std::map<domain::BalanceKey, domain::Balance>;

/// Fills in what is stored of these; the others stay as they are.
void read_balances(Txn& txn, Balances& into);
void write_balances(Txn& txn, const Balances& balances);

class Sheet {
 public:
  struct Tip {
    std::uint64_t sequence = 0;
    Digest hash{};
  };

  /// A transaction begins.
  void clear();
  /// As they are in this transaction, by whichever step.
  void read(Txn& txn, Balances& into);
  void keep(const Balances& balances);
  /// The statements that were put off: right before the commit.
  void write(Txn& txn);

  const std::optional<Tip>& tip() const { return tip_; }
  void keep_tip(const Tip& tip) { tip_ = tip; }

 private:
  Balances known_;
  Balances changed_;
  std::optional<Tip> tip_;
};

}  // namespace holdfast::store

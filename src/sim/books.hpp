// Owns: the state of the simulated chain at its head: counts, balances, used authorizations; what
// running a transaction does to it, and taking that back in a reorg.
// Must never: look at anything of the engine's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/domain/mined_tx.hpp>

#include "sim/wire.hpp"

namespace holdfast::sim {

/// How a token's contract behaves. Balances here are what is true, whatever it says.
enum class TokenKind {
  honest,
  takes_fee,      ///< a hundredth of what is sent, and at least 1, goes to the contract
  returns_false,  ///< moves nothing, and the transaction succeeds
  reverts,        ///< paused
  silent,         ///< moves, and no event says so
};

class Books {
 public:
  struct Ran {
    bool succeeded = false;
    std::string why;  ///< as a node would decode it, when it reverted
    std::vector<domain::Transfer> transfers;
    std::vector<domain::AuthorizationEvent> authorizations;
  };
  enum class Authorized { unused, used, canceled };

  /// Runs `call` for `sender` at chain time `time_s`. Changes balances only when it succeeds; the
  /// sender's count is the caller's to raise.
  Ran run(const domain::Address& sender, const ports::Call& call, std::int64_t time_s);

  /// Takes back what one mined transaction did. Newest first, or balances may not suffice.
  void undo(const domain::MinedTx& tx);
  /// The same for a run that no block holds: a simulation.
  void undo(const Ran& ran);

  domain::Amount balance(const domain::Address& owner, const domain::AssetId& asset) const;
  void give(const domain::Address& owner, const domain::AssetId& asset,
            const domain::Amount& amount);
  /// False, and nothing taken, when there is less.
  bool take(const domain::Address& owner, const domain::AssetId& asset,
            const domain::Amount& amount);

  void set_token(const domain::AssetId& asset, TokenKind kind) { tokens_[asset] = kind; }
  TokenKind token(const domain::AssetId& asset) const;

  std::uint64_t count(const domain::Address& account) const;
  void raise_count(const domain::Address& account) { ++counts_[account]; }

  Authorized authorization(const domain::AssetId& asset, const domain::Address& authorizer,
                           const domain::Nonce& nonce) const;

 private:
  void undo(const std::vector<domain::Transfer>& transfers,
            const std::vector<domain::AuthorizationEvent>& authorizations);
  /// What a transfer function does: as the token's kind says.
  bool transfer(Ran& ran, const domain::AssetId& asset, const domain::Address& from,
                const domain::Address& to, const domain::Amount& amount);
  bool move(Ran& ran, const domain::AssetId& asset, const domain::Address& from,
            const domain::Address& to, const domain::Amount& amount);
  void run_authorized(Ran& ran, const SimCall& call, std::int64_t time_s);
  void run_cancel(Ran& ran, const domain::Address& sender, const SimCall& call);

  std::map<domain::Address, std::uint64_t> counts_;  // ordered: a run is a function of its seed
  std::map<std::pair<domain::AssetId, domain::Address>, domain::Amount> balances_;
  std::map<AuthorizationKey, Authorized> authorizations_;
  std::map<domain::AssetId, TokenKind> tokens_;  ///< the others are honest
};

}  // namespace holdfast::sim

// Owns: what following one chain keeps from poll to poll. `listener.cpp` follows the blocks,
// `listener_moves.cpp` does what they mean for payments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/domain/follow.hpp>
#include "engine/core.hpp"
#include "engine/rhythm.hpp"

namespace holdfast::engine {

class Listener {
 public:
  Listener(Core& core, Unit& unit) : core_(core), unit_(unit) {}

  Awaitable<void> run();

 private:
  Awaitable<bool> poll();
  void follow_final();
  Awaitable<bool> final_stands(const ports::Head& head);
  Awaitable<bool> catch_up(const ports::Head& head);
  Awaitable<bool> take_back(domain::BlockRef newest_known);
  void read_block(const ports::Block& block);
  Awaitable<void> act();
  Awaitable<void> tell_used_late();
  Awaitable<void> ask_ended();
  Awaitable<bool> ask_ended(domain::IntentId id);
  Awaitable<void> note_refs();
  Awaitable<bool> act_on(domain::IntentId id);
  std::optional<store::Move> plain_settle(const domain::IntentId& id);
  Awaitable<std::vector<domain::IntentId>> settle_plain(std::vector<domain::IntentId> ids);
  Awaitable<std::vector<domain::IntentId>> settle_page(std::vector<store::Move> moves);
  Awaitable<std::optional<bool>> still_canonical(const Inclusion& inclusion);
  Awaitable<void> look_again(domain::IntentId id, Inclusion shown);
  Awaitable<bool> move(domain::Facts facts, domain::Follow what, Boxed<Inclusion> seen,
                       domain::Evidence evidence);
  void down(std::string why);

  Core& core_;
  Unit& unit_;
  std::vector<domain::MinedTx> refs_seen_;  // from our accounts, of no payment under way
  std::vector<std::pair<domain::IntentId, domain::TxHash>> used_late_;  ///< after the payment's end
  std::vector<domain::IntentId> ended_;  ///< to be asked for: used in a block nobody has read?
  std::int64_t ended_since_s_ = 0;  ///< the time of the newest of those blocks
  std::vector<domain::IntentId> touched_;  // included or taken back by the blocks read in this poll
  int failures_ = 0;
  Rhythm rhythm_{unit_.chain.info().poll_ms};
  std::int64_t accounts_read_ms_ = 0;
  bool noted_in_doubt_ = false;  ///< blocks at or below what a proof called final were taken back
};

}  // namespace holdfast::engine

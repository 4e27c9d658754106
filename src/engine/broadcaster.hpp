// Owns: the order in which accounts post: number n only when every open number below it was posted
// in the same round or before. Numbers are reserved, signed and stored in any order.
// Must never: post what was not handed to it as stored bytes, or hold the account for one of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include <holdfast/domain/job.hpp>
#include <holdfast/ports/chain.hpp>
#include <holdfast/ports/clock.hpp>
#include "engine/chain_view.hpp"
#include "engine/signal.hpp"

namespace holdfast::engine {

class Broadcaster {
 public:
  Broadcaster(ports::Chain& chain, ports::Clock& clock, const ChainView& view)
      : chain_(chain), clock_(clock), view_(view) {}

  /// Where a slot stands now: open (reserved or signed, not posted by us) or out of the way. An
  /// intent without a slot is out of the way too. Bytes of a payment that is canceled, handed over
  /// or ended now leave the line unposted.
  void note(const domain::Facts& facts);

  /// Posts these stored bytes in their turn. Empty when those below did not get out in time;
  /// `not_sent` when the turn came at or after `publish_before_s` (wall or chain seconds), or when
  /// nobody wanted it any more.
  ports::Awaitable<std::optional<ports::Outcome<ports::Posted>>> post(
      domain::Slot slot, Bytes bytes, domain::TxHash hash, std::int64_t publish_before_s);
  /// While stopped nothing is posted, whoever waits in line: `not_sent`.
  void stop(bool stopped) { stopped_ = stopped; }
  void abandon();

 private:
  struct Waiting {
    Bytes bytes;
    domain::TxHash hash;
    std::int64_t publish_before_s = 0;
    bool is_unwanted = false;
    std::optional<ports::Outcome<ports::Posted>> answer;
  };
  struct Place {
    domain::Address account;
    domain::Sequence sequence;
  };
  /// One account's order.
  struct Lane {
    std::map<domain::Sequence, domain::IntentId> open;
    std::map<domain::Sequence, std::shared_ptr<Waiting>> ready;
    bool posting = false;
    Signal changed;
  };

  void withdraw(const domain::Facts& facts);
  /// Why its turn is none; null: it is.
  const char* why_not(const Waiting& waiting) const;
  Lane& lane_of(const domain::Address& account);
  /// The ready numbers that may go now, lowest first: those with no open number below them that is
  /// not ready, and no more than reach the node in order.
  std::vector<domain::Sequence> due(const Lane& lane) const;
  bool is_due(const Lane& lane, domain::Sequence mine) const;
  /// Those of `due` in their order, while `see` says to go on.
  template <class See>
  void each_due(const Lane& lane, See see) const;
  ports::Awaitable<void> post_round(Lane& lane);
  void posted(Lane& lane, domain::Sequence sequence);

  ports::Chain& chain_;
  ports::Clock& clock_;
  const ChainView& view_;
  bool stopped_ = false;
  std::unordered_map<domain::Address, std::unique_ptr<Lane>> lanes_;
  std::unordered_map<domain::IntentId, Place> places_;
};

}  // namespace holdfast::engine

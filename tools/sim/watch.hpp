// Owns: the eye on the store: after each commit it holds what was written against domain.md and
// against the chain's own books, which the engine never sees.
// Must never: write, or take part: it reads on the writing connection between two transactions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/domain/intent.hpp>
#include <holdfast/domain/slot.hpp>
#include <holdfast/ports/sql.hpp>

#include "sim/chain.hpp"
#include "sim/disk.hpp"
#include "tally.hpp"

namespace holdfast::campaign {

/// What one payment is known by, as the store last said.
struct Seen {
  domain::IntentId id;
  domain::IntentState state{};
  std::string reason;
  domain::AssetId asset;
  bool bearer = false;
  std::uint64_t version = 0;
  /// What the chain's books know it by: its ref, or the nonce its payer brought.
  domain::Ref moves_as;
};

/// A rule that was broken: the number of the invariant in domain.md section 7, or 0 for another.
struct Broken {
  int invariant = 0;
  std::string subject;
  std::string sentence;
  std::string text() const;
};

class Watch {
 public:
  Watch(sim::ScriptedChain& chain, std::set<domain::Address> ours, Tally& tally);

  /// A driver whose connection tells this watch of each commit.
  /// Its side record is the disk's.
  std::unique_ptr<sql::Driver> over(std::unique_ptr<sql::Driver> driver, sim::SimDisk& disk);

  // Told by the connection. `db` has no transaction open.
  void opened(sql::Connection& db);
  void committed(sql::Connection& db);
  /// Bytes with this hash leave the engine.
  void posted(const domain::TxHash& hash);
  /// The API answered with this version of an intent: it must never be less.
  void promised(const domain::IntentId& id, std::uint64_t version);

  /// The chain has taken back what it called final: what it says of payments counts no more.
  void finality_was_broken() { chain_counts_ = false; }
  /// The store is an older one: what it had promised is gone.
  void store_went_back();

  /// Everything, once more, now that nothing happens any more.
  void last_look(sql::Connection& db);

  const std::map<std::int64_t, Seen>& payments() const { return payments_; }
  const std::vector<Broken>& broken() const { return broken_; }
  void say(int invariant, std::string subject, std::string sentence);
  bool chain_counts() const { return chain_counts_; }
  /// Moved value for this payment: how many canonical transactions.
  std::size_t moved(const Seen& seen) { return chain_.moved(seen.moves_as); }
  /// Numbers given and neither used nor released.
  std::uint64_t open_numbers() const;
  /// The newest step of history that was seen.
  std::int64_t last_event() const { return last_event_; }
  /// From now on each move and each attempt is told, a line each.
  void tell(std::function<void(std::string)> told) { told_ = std::move(told); }

 private:
  void read_events(sql::Connection& db, std::set<std::int64_t>& touched);
  void read_attempts(sql::Connection& db);
  void read_slots(sql::Connection& db);
  Seen load(sql::Connection& db, std::int64_t row) const;
  void audit(sql::Connection& db, std::int64_t row);
  void check_against_chain(const Seen& seen);
  void check_second_number(sql::Connection& db, std::int64_t intent, std::int64_t slot);
  void forget_store();

  sim::ScriptedChain& chain_;
  std::set<domain::Address> ours_;
  Tally& tally_;
  std::map<std::int64_t, Seen> payments_;  ///< by their row
  std::map<domain::IntentId, std::uint64_t> promised_;
  std::set<domain::TxHash> stored_;
  std::map<std::int64_t, domain::SlotState> slots_;
  std::int64_t last_event_ = 0;
  std::int64_t last_attempt_ = 0;
  bool chain_counts_ = true;
  bool went_back_ = false;
  std::vector<Broken> broken_;
  std::function<void(std::string)> told_;
};

}  // namespace holdfast::campaign

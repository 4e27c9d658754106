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
#include "sim/opaque_chain.hpp"
#include "store/audit.hpp"
#include "tally.hpp"

namespace holdfast::campaign {

/// What one payment is known by, as the store last said.
struct Seen {
  domain::IntentId id;
  domain::IntentState state{};
  std::string reason;
  domain::ChainId chain;
  domain::AssetId asset;
  domain::Address payer;
  domain::Address payee;
  domain::Amount amount;
  std::optional<domain::TxHash> tx_hash;
  std::int64_t publish_before_s = 0;
  std::int64_t auth_before_s = 0;  ///< 0: no payer has signed
  bool cancel_asked = false;
  bool bearer = false;
  bool is_nameless = false;  ///< an outside sender has it, and told of no hash
  std::uint64_t version = 0;
  /// What the chain's books know it by: its ref, or the nonce its payer brought.
  domain::Ref moves_as;
  /// Where it was signed to be paid.
  std::vector<std::pair<domain::Address, std::uint64_t>> numbers;
};

/// A rule that was broken: the invariant's number, see ARCHITECTURE.md.
struct Broken {
  int invariant = 0;
  std::string subject;
  std::string sentence;
  std::string text() const;
};

class Watch {
 public:
  /// `settle_short`: what arrived short is enough, where tokens take a fee.
  Watch(sim::ScriptedChain& chain, std::set<domain::Address> ours, bool settle_short, Tally& tally);

  /// Some payments go by this sender instead of the chain.
  void also_on(const sim::OpaqueChain& sender) { sender_ = &sender; }
  /// A driver whose connection tells this watch of each commit.
  /// Its side record is the disk's.
  std::unique_ptr<sql::Driver> over(std::unique_ptr<sql::Driver> driver, sim::SimDisk& disk);

  // Told by the connection. `db` has no transaction open.
  void opened(sql::Connection& db);
  void closed() { db_ = nullptr; }
  void committed(sql::Connection& db);
  /// Bytes with this hash leave the engine, at this time of its own clock.
  void posted(const domain::TxHash& hash, std::int64_t wall_s);
  /// This engine, by the name it has in the audit trail, signed this.
  void signed_by(const Digest& digest, std::string who);
  /// The API answered with this: its version must never be less, nor another than it was.
  void promised(const domain::Intent& told);
  /// An operator who gave this payment up was told that this is on record.
  void asked_to_stop(const domain::IntentId& id);
  /// An operator was told that something was done, which a step of history of this kind says, in a
  /// reason that begins so.
  void told_of(std::string_view kind, std::string reason);

  /// The chain takes back these transactions, and called some of them final: what it says of
  /// payments that they moved value for, or that were signed at their numbers, counts no more.
  void finality_was_broken(const std::vector<domain::MinedTx>& gone);
  /// The chain takes back its blocks from this height on. Where the store has noted one of them as
  /// final, or the engine that runs has called one so, the chain must be halted.
  void owe_halt(std::uint64_t from, bool is_called_final);
  /// The engine that ran has ended, or another has taken its place: what only it knew is gone.
  void forgive_halt();
  /// Two engines post for the same accounts now, until the old one has noticed.
  void rival_starts() { has_rival_ = true; }
  void rival_ends() { has_rival_ = false; }
  /// An engine has stopped in order, and has said how many of its deliveries it cut short.
  void drained(std::size_t cut_short) { cut_short_ = cut_short; }
  /// An engine has taken back what others had leased before it.
  void started();
  bool is_halt_owed() const { return halt_owed_ || halt_owed_by_process_; }
  /// A commit could not be looked at: the disk froze behind it, and the next opening looks at all.
  void missed(bool disk_is_frozen, const std::string& why);
  /// The store is an older one: what it had promised is gone.
  void store_went_back();

  /// Everything, once more, now that nothing happens any more.
  void last_look(sql::Connection& db);

  const std::map<std::int64_t, Seen>& payments() const { return payments_; }
  const std::vector<Broken>& broken() const { return broken_; }
  void say(int invariant, std::string subject, std::string sentence);
  /// What a line told of a broken rule begins with.
  static constexpr std::string_view broken_mark = "!!! ";
  bool chain_counts(const Seen& seen) const;
  bool went_back() const { return went_back_; }
  /// Moved value for this payment: how many canonical transactions.
  std::size_t moved(const Seen& seen) { return movers(seen).size(); }
  std::vector<domain::MinedTx> movers(const Seen& seen);
  /// Numbers given and neither used nor released; without those that nothing on the chain has used:
  /// what is not there cannot be read, and they are kept apart for ever.
  std::uint64_t open_numbers();
  /// The newest step of history that was seen.
  std::int64_t last_event() const { return last_event_; }
  /// From now on each move and each attempt is told, a line each.
  void tell(std::function<void(std::string)> told) { told_ = std::move(told); }

 private:
  using Owners = std::map<domain::Address, std::string>;
  struct NewAttempt {
    std::int64_t intent = 0;
    std::int64_t slot = 0;
    bool pays = false;
    domain::IntentState state_now{};
    domain::Address account;
    std::uint64_t sequence = 0;
    Digest digest{};
  };

  /// What a commit has added, held against what was there before it.
  void look_at_new(sql::Connection& db);
  void read_events(sql::Connection& db, std::set<std::int64_t>& touched);
  std::vector<NewAttempt> read_attempts(sql::Connection& db);
  void read_slots(sql::Connection& db);
  Seen load(sql::Connection& db, std::int64_t row) const;
  void audit(sql::Connection& db, std::int64_t row);
  /// What the chain took back is a finding for people, and no fault of the engine.
  void say_found(const store::AuditReport& report, const std::string& when);
  /// All of one payment that is not the audit's.
  void check(sql::Connection& db, std::int64_t row, const Seen& seen);
  void check_against_chain(const Seen& seen);
  // Of watch_rules.cpp.
  void read_chain(sql::Connection& db);
  void read_halts(sql::Connection& db);
  void was_halted();
  /// The chain took back what had used this number finally.
  bool is_gone(const domain::Address& account, std::uint64_t number) const;
  void read_note(std::string_view kind, std::string_view who, std::string_view reason);
  void check_new_number(sql::Connection& db, std::int64_t slot);
  void check_room(sql::Connection& db, std::int64_t slot);
  void check_turn(const domain::TxHash& hash);
  void check_signers(const std::vector<NewAttempt>& attempts, const Owners& before);
  void check_second_number(sql::Connection& db, std::int64_t intent, std::int64_t slot);
  void check_state_at_signing(const NewAttempt& one);
  void check_accepted(sql::Connection& db, std::int64_t intent, const Seen& seen);
  void forget_store();
  // Of watch_money.cpp.
  /// What its transactions brought its payee.
  domain::Amount arrived_of(const Seen& seen);
  /// Its hold, its post and its void, leg by leg.
  void check_entries(sql::Connection& db, std::int64_t intent, const Seen& seen);
  void check_gas(sql::Connection& db);
  // Of watch_ends.cpp.
  /// It has just ended: what it was ended by holds on the chain.
  void check_end(const Seen& seen);
  /// It had ended, unsigned by us, and somebody ran it all the same: people hear of that.
  void check_late_uses(sql::Connection& db);
  void check_budget(sql::Connection& db, std::int64_t intent, const Seen& seen);
  void check_settled_by(const Seen& seen);
  /// This number has just been called used, by this.
  void check_used(const domain::Address& account, std::uint64_t number,
                  const std::optional<domain::TxHash>& by);
  void check_noted(const std::string& subject, const domain::TxHash& hash);
  // Of watch_told.cpp.
  void check_asked();
  void check_told(sql::Connection& db);
  void check_promised();
  void check_shown(sql::Connection& db);
  // Of watch_queue.cpp.
  void check_driven(sql::Connection& db);
  void check_changes(sql::Connection& db);
  void read_letter(sql::Connection& db, std::int64_t intent, std::int64_t at_ms,
                   std::string_view reason);
  void check_drained(sql::Connection& db);
  void check_taken_back(sql::Connection& db);
  bool is_final(const domain::TxHash& hash);

  sim::ScriptedChain& chain_;
  const sim::OpaqueChain* sender_ = nullptr;
  std::set<domain::Address> ours_;
  bool settle_short_;
  Tally& tally_;
  sql::Connection* db_ = nullptr;  ///< that writes, while it is open
  std::map<std::int64_t, Seen> payments_;  ///< by their row
  std::map<domain::IntentId, std::uint64_t> promised_;
  std::set<domain::IntentId> asked_to_stop_;
  /// How often that was told, by kind and beginning of the reason.
  std::map<std::pair<std::string, std::string>, std::int64_t> told_of_;
  /// What a version shows of a payment's attempts and numbers, as one number.
  struct Shown {
    std::uint64_t version = 0;
    std::uint64_t print = 0;
  };
  std::map<std::int64_t, Shown> shown_;
  std::map<domain::IntentId, std::int64_t> known_since_s_;
  std::int64_t chain_time_s_ = 0;  ///< the latest time any block had
  std::set<domain::TxHash> stored_;
  struct Number {
    domain::SlotState state{};
    domain::Address account;
    std::uint64_t sequence = 0;
    bool handed_over = false;
    bool is_own = false;  ///< the account's: no payment has it
  };
  std::map<std::int64_t, Number> slots_;
  /// Stored bytes: whose payment's (0: the account's own), and where they stand.
  struct Stored {
    std::int64_t intent = 0;
    std::int64_t slot = 0;
  };
  std::map<domain::TxHash, Stored> bytes_;
  std::set<std::int64_t> posted_;  ///< slots of which any bytes have left
  std::map<domain::TxHash, std::int64_t> windows_;  ///< of pay bytes: their publish deadlines
  std::map<Digest, std::set<std::string>> signers_;  ///< two engines may sign the very same
  Owners owners_;  ///< who took each account over last
  /// The store's newest final block. Empty: it was put back, and nobody has opened it yet.
  std::optional<std::uint64_t> noted_final_ = 0;
  /// From which height on the chain took blocks back while that was so.
  std::optional<std::uint64_t> gone_unread_;
  bool halted_ = false;
  bool halt_owed_ = false;
  bool halt_owed_by_process_ = false;
  std::int64_t last_event_ = 0;
  std::int64_t last_attempt_ = 0;
  // What the chain took back though it was final.
  bool finality_broken_ = false;
  std::set<domain::Ref> gone_refs_;
  struct Range {
    std::uint64_t from = 0;
    std::uint64_t to = 0;  ///< the first behind it
    bool holds(std::uint64_t number) const { return from <= number && number < to; }
  };
  std::map<domain::Address, std::vector<Range>> gone_numbers_;
  bool went_back_ = false;
  bool has_rival_ = false;
  std::optional<std::size_t> cut_short_;  ///< deliveries, by a drain that nobody has opened behind
  bool has_started_ = false;
  bool is_up_ = false;  ///< an engine has started since the store was opened
  std::uint64_t commits_ = 0;
  std::int64_t up_since_s_ = 0;  ///< the engine that runs, by the chain's clock
  std::map<domain::IntentId, std::int64_t> ended_s_;  ///< as this
  /// Changes that came while a job was out: they outlast its lease.
  struct Change {
    Bytes receipt;
    std::int64_t due_ms = 0;
  };
  std::map<std::int64_t, Change> changes_;  ///< by the payment's row
  std::set<std::int64_t> parked_;  ///< by the newest commit, as this
  std::set<Bytes> gone_;  ///< instances that held a lease when the store was opened
  std::vector<Broken> broken_;
  std::function<void(std::string)> told_;
};

}  // namespace holdfast::campaign

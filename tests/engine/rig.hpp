// Owns: one engine in the simulator: chains, store on SQLite (in memory, or on a disk that fails
// when told to), clock and executor from one seed. A `crash` destroys frames first, then the
// engine, and starts another on the same store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/engine/engine.hpp>
#include <holdfast/sqlite/sqlite.hpp>

#include "sim/chain.hpp"
#include "sim/methods.hpp"
#include "sim/opaque_chain.hpp"
#include "sim/signer.hpp"
#include "sim/world.hpp"
#include "store/audit.hpp"
#include "store/reads.hpp"
#include "support/fault_vfs.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::testing {

struct RigOptions {
  std::uint64_t seed = 1;
  std::int64_t block_ms = 1'000;  ///< 0: blocks only by mine()
  std::uint32_t max_unconsumed = 16;
  std::size_t posts_at_once = 100;
  std::size_t accounts = 1;
  bool with_opaque = false;
  std::int64_t latency_ms = 0;  ///< of each call to the chain
  bool on_disk = false;         ///< the store is a file on `Rig::disk`
  bool synced_only = false;     ///< and `Rig::disk` keeps what was synced, from the beginning
  std::size_t max_queued = 20'000;  ///< writes that may wait in the store
  engine::Config config;
};

class Rig {
 public:
  explicit Rig(RigOptions options = {});
  ~Rig();

  void start();
  /// Frames first, then the engine; the store's content stays. Then a new engine.
  void crash();
  void crash_without_restart();
  /// Closes the store, which no engine uses now, and opens it again.
  void reopen_store();

  engine::NewPayment payout(const std::string& amount = "1000000") const;
  engine::NewPayment from_payer(const std::string& amount = "1000000") const;
  domain::Intent create(const std::string& key, const engine::NewPayment& payment);
  /// Created and signed by the payer.
  domain::Intent create_authorized(const std::string& key, const engine::NewPayment& payment);
  domain::Intent find(const domain::IntentId& id);
  domain::IntentState state(const domain::IntentId& id) { return find(id).state; }
  engine::Detail detail(const domain::IntentId& id);
  std::optional<store::JobRow> job(const domain::IntentId& id);
  /// Mines a block a second, so that chain time goes on too.
  void mine_for(int seconds);
  /// Runs until the intent is in this state; false when `limit_ms` passed first.
  bool reaches(const domain::IntentId& id, domain::IntentState wanted, std::int64_t limit_ms);
  store::AuditReport audit();
  domain::SignedAmount pending_hold(const std::string& chain);

  engine::Caller caller(const std::string& key) const;
  /// A request of its own, each time.
  engine::Caller by(const std::string& who);

  template <class T>
  T run(boost::asio::awaitable<T> task) {
    return world.run(std::move(task));
  }
  template <class Read>
  auto read(Read read) {
    return run(store->read(std::move(read)));
  }

  RigOptions options;
  sim::SimWorld world;
  sim::ScriptedChain chain;
  std::unique_ptr<sim::OpaqueChain> opaque;
  sim::ScriptedPayout payouts;
  sim::ScriptedAuthorization authorizations;
  std::unique_ptr<sim::ScriptedPayout> opaque_payouts;
  std::vector<domain::Address> accounts;
  sim::ScriptedSigner signer;
  test::TempFolder folder;
  test::FaultVfs disk{"rig"};
  int requests = 0;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<engine::Engine> engine;
};

/// Settled, and moved once by the chain's own books.
void check_paid_once(Rig& rig, const domain::Intent& intent);
/// The store's audit has no finding.
void check_audit(Rig& rig);

}  // namespace holdfast::testing

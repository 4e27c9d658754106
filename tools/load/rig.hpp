// Owns: one whole engine in this process: store, keys, chain, methods, wired as the server wires
// them, with limits that fit the load.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <holdfast/engine/engine.hpp>
#include <holdfast/store/store.hpp>

#include "app/system_clock.hpp"
#include "app/system_entropy.hpp"
#include "keys.hpp"
#include "options.hpp"
#include "signer_notes.hpp"
#include "world.hpp"

namespace holdfast::load {

class Rig {
 public:
  /// Opens the store at `file`. Throws StoreUnavailable.
  Rig(const Options& options, const std::string& file);
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  boost::asio::io_context& context() { return *context_; }
  engine::Engine& engine() { return *engine_; }
  store::Store& store() { return *store_; }
  World& world() { return *world_; }
  const std::vector<domain::Address>& accounts() const { return keys_.accounts; }
  ports::Clock& clock() { return clock_; }

  /// Runs the context until `work` has ended; throws what it throws.
  void run(boost::asio::awaitable<void> work);
  /// As a crash of the process: engine and store are gone, whatever they were at, and everything
  /// that ran on the context. The chain stays, so it must be one that runs nothing there.
  void crash();
  /// After a crash: the store is opened again, with a new engine, to be started.
  void reopen();

  /// Rows changed so far by the writing connection.
  boost::asio::awaitable<std::uint64_t> row_writes();
  /// Where every payment of this run stands, read beside the engine.
  std::vector<Recorded> records() const;

 private:
  void open();
  std::int64_t newest_row() const;

  Options options_;
  std::string file_;
  std::int64_t others_to_ = 0;  ///< the last row that was there before
  std::unique_ptr<boost::asio::io_context> context_ = std::make_unique<boost::asio::io_context>(1);
  app::SystemClock clock_;
  app::SystemEntropy entropy_;
  Keys keys_;
  SignerNotes notes_;
  NotingSigner signer_{*keys_.signer, notes_};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<World> world_;
  std::vector<std::unique_ptr<ports::Method>> methods_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace holdfast::load

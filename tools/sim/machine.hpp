// Owns: one simulated machine: its disk, its store, the engine on it, and every way it can end.
// Must never: let anything of a process outlive it: frames go first, then what they use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/engine/engine.hpp>
#include <holdfast/store/store.hpp>

#include "sender.hpp"
#include "setting.hpp"
#include "sim/chain.hpp"
#include "sim/disk.hpp"
#include "sim/endpoints.hpp"
#include "sim/methods.hpp"
#include "sim/signer.hpp"
#include "sim/world.hpp"
#include "tally.hpp"
#include "watch.hpp"

namespace holdfast::campaign {

class Machine {
 public:
  Machine(const Setting& setting, Tally& tally);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Opens the store and begins to start the engine. Why it could not be opened now; else empty.
  std::string boot();
  /// Running, and to be asked. Null before it has started and after it has ended.
  engine::Engine* engine() { return up_ ? engine_.get() : nullptr; }
  /// Running, and its store can be read.
  bool is_well() { return engine() != nullptr && !engine_->broken() && !disk.frozen(); }
  /// There is a process, starting, running or stopping.
  bool has_process() const { return store_ != nullptr; }
  enum class End { process, power };
  /// No call returns any more; then all is destroyed, and the disk is what that leaves.
  void die(End end);
  std::uint64_t crashes() const { return crashes_; }
  /// The process that ended last stood in a write, and the disk froze.
  bool has_died_in_write() const { return died_in_write_; }
  /// Looks after what ends by itself: a frozen disk, an engine that stopped, a drain that is done.
  /// True when the process is gone now.
  bool look_after();
  /// When the disk freezes in a write, this is how.
  void set_end_in_write(End end) { end_in_write_ = end; }
  /// Stops in order. False, and nothing done: it is on its way up or down.
  bool drain();
  /// Another engine takes over the store; the first goes on until it notices. False as above, and
  /// while there is one.
  bool start_rival();
  void set_signer_down(bool down) { signer_.set_down(down); }
  void keep_backup();
  /// The disk becomes what it was then. Only without a process. False, and nothing done, where
  /// nobody could tell the difference.
  bool restore_backup();

  /// Reads through the store of the process that runs, between its commits; time goes on meanwhile.
  template <class Read>
  auto read(Read read) {
    return world.run(store_->read(std::move(read)));
  }

  Tally& tally;
  sim::SimWorld world;
  sim::SimDisk::Image first_;  ///< what is on the disk at the start; made before the disk is
  sim::SimDisk disk;
  sim::ChainWeather weather;
  sim::Endpoints endpoints;
  sim::ScriptedChain chain;
  std::vector<domain::Address> accounts;
  Watch watch;
  std::unique_ptr<Sender> sender;  ///< null: there is none

 private:
  std::unique_ptr<engine::Engine> make_engine();
  void spawn_start(engine::Engine& engine);
  void end_frames();
  /// As `die`, and no crash of its own.
  void end_by(End end);

  Setting setting_;
  sim::ScriptedPayout payouts_;
  sim::ScriptedAuthorization authorizations_;
  sim::ScriptedSigner signer_;
  std::vector<std::unique_ptr<ports::Signer>> signers_;  ///< of all engines there were
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::Engine> old_;  ///< that a rival took over from, until it has noticed
  std::vector<std::unique_ptr<engine::Engine>> gone_;  ///< drained: some may still ask them
  struct Backup {
    sim::SimDisk::Image image;
    std::int64_t event = 0;
  };
  Backup backup_;
  End end_in_write_ = End::process;
  bool died_in_write_ = false;
  std::uint64_t crashes_ = 0;
  std::uint64_t life_ = 0;
  std::uint64_t failed_syncs_ = 0;  ///< of the disk, when the process began
  std::uint64_t full_ = 0;  ///< as this
  bool had_rival_ = false;  ///< this process
  bool up_ = false;
  bool failed_ = false;  ///< the start threw
  std::optional<std::size_t> cut_short_;  ///< deliveries, by the drain that is done
  bool stopping_ = false;
  bool stopped_ = false;
  bool old_stopping_ = false;
  bool old_stopped_ = false;
};

}  // namespace holdfast::campaign

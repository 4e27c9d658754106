// Owns: the simulator's executor: a ready queue that takes the next item by chance from a seed.
// Must never: start a thread, sleep or read a clock: a run is a function of its seed. No timer of
// Asio's may be used on it (it would start a thread).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <type_traits>
#include <utility>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>

namespace holdfast::sim {

class SimExecutor;

/// A small, well-mixed generator (splitmix64); the same sequence on every machine.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// 0 … bound − 1; bound > 0.
  std::uint64_t below(std::uint64_t bound);

 private:
  std::uint64_t state_;
};

/// The queue. Seed 0: first in, first out; any other seed: an order of its own.
class SimLoop : public boost::asio::execution_context {
 public:
  explicit SimLoop(std::uint64_t seed);
  /// Drops what is queued.
  ~SimLoop();
  SimLoop(const SimLoop&) = delete;
  SimLoop& operator=(const SimLoop&) = delete;

  SimExecutor get_executor();

  /// Runs one item; false when there is none. What it throws comes out here.
  bool run_one();
  /// Runs until nothing is ready; returns how many items ran.
  std::size_t run_until_idle();
  /// Destroys all queued work without running it, and what that queues in turn: the crash.
  void drop_all();

  std::size_t ready() const { return queue_.size(); }
  /// Items run so far: a run's fingerprint, with `order_hash`.
  std::uint64_t steps() const { return steps_; }
  /// Changes with the order in which items were taken.
  std::uint64_t order_hash() const { return order_hash_; }
  bool running() const { return running_ > 0; }

 private:
  friend class SimExecutor;
  struct Item {
    virtual ~Item() = default;
    virtual void run() = 0;
    std::uint64_t number = 0;
  };
  template <class F>
  struct ItemOf final : Item {
    explicit ItemOf(F f) : function(std::move(f)) {}
    void run() override { std::move(function)(); }
    F function;
  };
  void push(std::unique_ptr<Item> item);

  std::deque<std::unique_ptr<Item>> queue_;
  Chance chance_;
  bool fifo_;
  std::uint64_t pushed_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t order_hash_ = 0;
  int running_ = 0;
};

/// The handle that Asio takes (any_io_executor, co_spawn, post, dispatch). As on an io_context, a
/// dispatch from inside a running item runs at once; everything else is queued.
class SimExecutor {
 public:
  explicit SimExecutor(SimLoop& loop) : loop_(&loop) {}

  SimLoop& query(boost::asio::execution::context_t) const noexcept { return *loop_; }
  boost::asio::execution::blocking_t query(boost::asio::execution::blocking_t) const noexcept {
    if (never_) return boost::asio::execution::blocking.never;
    return boost::asio::execution::blocking.possibly;
  }
  SimExecutor require(boost::asio::execution::blocking_t::never_t) const { return {*loop_, true}; }
  SimExecutor require(boost::asio::execution::blocking_t::possibly_t) const {
    return {*loop_, false};
  }

  template <class F>
  void execute(F&& f) const {
    if (!never_ && loop_->running()) {
      std::decay_t<F> function(std::forward<F>(f));
      std::move(function)();
      return;
    }
    loop_->push(std::make_unique<SimLoop::ItemOf<std::decay_t<F>>>(std::forward<F>(f)));
  }

  bool operator==(const SimExecutor&) const noexcept = default;

 private:
  SimExecutor(SimLoop& loop, bool never) : loop_(&loop), never_(never) {}
  SimLoop* loop_;
  bool never_ = false;
};

}  // namespace holdfast::sim

#include "sim/executor.hpp"

#include <holdfast/base/ensure.hpp>

namespace holdfast::sim {

std::uint64_t Chance::next() {
  // splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t Chance::below(std::uint64_t bound) {
  ensure(bound > 0, "chance needs something to choose from");
  // The bias of a plain remainder is below 2^-40 for the bounds here, and a run stays one draw per
  // choice.
  return next() % bound;
}

SimLoop::SimLoop(std::uint64_t seed) : chance_(seed), fifo_(seed == 0) {}

SimLoop::~SimLoop() {
  drop_all();
  // Services of the context may hold work of their own, which queues when it is destroyed.
  shutdown();
  drop_all();
  destroy();
}

SimExecutor SimLoop::get_executor() { return SimExecutor(*this); }

void SimLoop::push(std::unique_ptr<Item> item) {
  item->number = pushed_++;
  queue_.push_back(std::move(item));
}

bool SimLoop::run_one() {
  if (queue_.empty()) return false;
  if (!fifo_) std::swap(queue_.front(), queue_[chance_.below(queue_.size())]);
  const std::unique_ptr<Item> item = std::move(queue_.front());
  queue_.pop_front();
  ++steps_;
  order_hash_ = Chance(order_hash_ ^ item->number).next();
  struct Running {
    explicit Running(int& count_of) : count(count_of) { ++count; }
    ~Running() { --count; }
    int& count;
  } const running(running_);
  item->run();
  return true;
}

std::size_t SimLoop::run_until_idle() {
  std::size_t ran = 0;
  while (run_one()) ++ran;
  return ran;
}

void SimLoop::drop_all() {
  // Destroying a frame can queue the unwinding of others.
  while (!queue_.empty()) {
    const std::unique_ptr<Item> item = std::move(queue_.front());
    queue_.pop_front();
  }
}

}  // namespace holdfast::sim

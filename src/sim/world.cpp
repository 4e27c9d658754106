#include "sim/world.hpp"

#include <algorithm>

namespace holdfast::sim {

// The executor and the engine's chance draw from seeds of their own: what one does not use up, the
// other does not miss.
SimWorld::SimWorld(std::uint64_t seed)
    : seed_(seed), loop_(seed), entropy_(Chance(seed ^ 0x656e74726f7079ULL).next()) {}

SimWorld::~SimWorld() { crash(); }

boost::asio::any_io_executor SimWorld::executor() { return loop_.get_executor(); }

bool SimWorld::run_until(std::function<bool()> done, std::int64_t limit_ms) {
  const std::int64_t end =
      clock_.mono_ms() + std::min(std::max<std::int64_t>(limit_ms, 0), 1'000 * day_ms);
  const std::uint64_t last_step = loop_.steps() + max_steps;
  for (;;) {
    if (done()) return true;
    if (loop_.steps() >= last_step) throw Stuck("no end after max_steps items: " + where());
    if (loop_.run_one()) continue;
    const auto due = clock_.next_due();
    if (!due || *due > end) {
      clock_.advance_to(end);
      return false;
    }
    clock_.advance_to(*due);
  }
}

void SimWorld::run_for(std::int64_t ms) {
  run_until([] { return false; }, ms);
}

void SimWorld::finish(const bool& ended, std::int64_t limit_ms) {
  if (!run_until([&ended] { return ended; }, limit_ms)) {
    throw Stuck("the task did not end: " + where());
  }
}

std::string SimWorld::where() const {
  return "seed " + std::to_string(seed_) + ", " + std::to_string(clock_.mono_ms()) + " ms, step " +
         std::to_string(loop_.steps()) + ", sleepers " + std::to_string(clock_.sleepers());
}

void SimWorld::crash() {
  clock_.abandon();
  loop_.drop_all();
}

}  // namespace holdfast::sim

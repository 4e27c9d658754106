// Owns: who waits for which intent, and telling them that it changed.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include <holdfast/domain/ids.hpp>
#include <holdfast/ports/clock.hpp>
#include "engine/signal.hpp"

namespace holdfast::engine {

class Waiters {
 public:
  bool any() const { return !signals_.empty(); }

  void changed(const domain::IntentId& id) {
    const auto found = signals_.find(id);
    if (found != signals_.end()) found->second->notify_all();
  }

  /// The engine stops: nobody waits any longer.
  void changed_all() {
    for (const auto& [id, signal] : signals_) signal->notify_all();
  }

  /// False when `ms` passed without a change after which `is_enough` says yes.
  boost::asio::awaitable<bool> wait(domain::IntentId id, ports::Clock& clock, std::int64_t ms,
                                    std::function<bool()> is_enough) {
    auto& entry = signals_[id];
    if (!entry) entry = std::make_shared<Signal>();
    const Held held{*this, id, entry};
    co_return co_await held.signal->wait_for(clock, ms, std::move(is_enough));
  }

  void abandon() {
    for (auto& [id, signal] : signals_) signal->abandon();
  }

 private:
  /// The last one out removes the entry: an idle intent costs nothing.
  struct Held {
    Waiters& waiters;
    domain::IntentId id;
    std::shared_ptr<Signal> signal;
    ~Held() {
      if (signal.use_count() == 2) waiters.signals_.erase(id);
    }
  };

  std::unordered_map<domain::IntentId, std::shared_ptr<Signal>> signals_;
};

}  // namespace holdfast::engine

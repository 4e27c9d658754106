// A clock that a test moves by hand, for tests whose other side is a real socket. Its waiters live
// on an Asio executor; nothing here looks at the real time.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <holdfast/ports/clock.hpp>

namespace holdfast::tests {

class ManualClock final : public ports::Clock {
 public:
  explicit ManualClock(boost::asio::any_io_executor executor);

  std::int64_t wall_ms() const override { return wall_ms_; }
  std::int64_t mono_ms() const override { return mono_ms_; }
  boost::asio::awaitable<void> sleep(std::int64_t ms) override;
  std::unique_ptr<ports::Alarm> alarm(boost::asio::any_io_executor executor, std::int64_t ms,
                                      std::function<void()> ring) override;

  /// Moves both times on and wakes whoever is due. On the executor's thread only.
  void advance(std::int64_t ms);
  /// How many wait; a test waits for this before it moves the time.
  std::size_t sleepers() const { return sleepers_->size() + alarms_->size(); }

 private:
  class SetAlarm;
  struct Sleeper {
    std::int64_t due_ms;
    boost::asio::steady_timer bell;  // never rings by itself
    bool rung = false;
  };

  boost::asio::any_io_executor executor_;
  std::int64_t wall_ms_ = 1'700'000'000'000;
  std::int64_t mono_ms_ = 1'000'000;
  using Sleepers = std::list<Sleeper*>;
  /// Shared with the frames: an io_context unwinds them after everything else is gone.
  std::shared_ptr<Sleepers> sleepers_ = std::make_shared<Sleepers>();
  using Alarms = std::list<SetAlarm*>;
  std::shared_ptr<Alarms> alarms_ = std::make_shared<Alarms>();
};

}  // namespace holdfast::tests

#include "support/manual_clock.hpp"

#include <chrono>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace holdfast::tests {

namespace asio = boost::asio;

ManualClock::ManualClock(asio::any_io_executor executor) : executor_(std::move(executor)) {}

asio::awaitable<void> ManualClock::sleep(std::int64_t ms) {
  if (ms <= 0) {
    co_await asio::post(executor_, asio::use_awaitable);
    co_return;
  }
  struct Entry {
    std::shared_ptr<Sleepers> list;
    Sleeper sleeper;
    Sleepers::iterator at;
    ~Entry() { list->erase(at); }
  };
  Entry entry{sleepers_,
              {mono_ms_ + ms, asio::steady_timer(executor_, asio::steady_timer::time_point::max())},
              {}};
  entry.at = sleepers_->insert(sleepers_->end(), &entry.sleeper);
  boost::system::error_code error;
  co_await entry.sleeper.bell.async_wait(asio::redirect_error(asio::use_awaitable, error));
  if (!entry.sleeper.rung) throw boost::system::system_error(asio::error::operation_aborted);
}

class ManualClock::SetAlarm final : public ports::Alarm {
 public:
  SetAlarm(std::shared_ptr<Alarms> all, std::int64_t due_ms, std::function<void()> ring)
      : all_(std::move(all)), due_ms_(due_ms), ring_(std::make_shared<Ring>(std::move(ring))) {
    all_->push_back(this);
  }
  ~SetAlarm() override { all_->remove(this); }
  SetAlarm(const SetAlarm&) = delete;
  SetAlarm& operator=(const SetAlarm&) = delete;

  void ring_if_due(std::int64_t mono_ms, const asio::any_io_executor& executor) {
    if (rung_ || due_ms_ > mono_ms) return;
    rung_ = true;
    asio::post(executor, [waiting = std::weak_ptr(ring_)] {
      if (const auto ring = waiting.lock()) (*ring)();
    });
  }

 private:
  using Ring = std::function<void()>;
  std::shared_ptr<Alarms> all_;
  std::int64_t due_ms_;
  std::shared_ptr<Ring> ring_;
  bool rung_ = false;
};

std::unique_ptr<ports::Alarm> ManualClock::alarm(asio::any_io_executor, std::int64_t ms,
                                                 std::function<void()> ring) {
  return std::make_unique<SetAlarm>(alarms_, mono_ms_ + ms, std::move(ring));
}

void ManualClock::advance(std::int64_t ms) {
  mono_ms_ += ms;
  wall_ms_ += ms;
  for (Sleeper* sleeper : *sleepers_) {
    if (sleeper->due_ms > mono_ms_) continue;
    sleeper->rung = true;
    sleeper->bell.cancel();
  }
  for (SetAlarm* alarm : *alarms_) alarm->ring_if_due(mono_ms_, executor_);
}

}  // namespace holdfast::tests

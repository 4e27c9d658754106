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

void ManualClock::advance(std::int64_t ms) {
  mono_ms_ += ms;
  wall_ms_ += ms;
  for (Sleeper* sleeper : *sleepers_) {
    if (sleeper->due_ms > mono_ms_) continue;
    sleeper->rung = true;
    sleeper->bell.cancel();
  }
}

}  // namespace holdfast::tests

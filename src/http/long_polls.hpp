// Owns: requests that wait for a payment, so that all of them end when the server stops.
// Must never: let their end change anything about a payment.
#pragma once

#include <cstdint>
#include <list>
#include <optional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <holdfast/engine/engine.hpp>

namespace holdfast::http {

class LongPolls {
 public:
  LongPolls(boost::asio::any_io_executor executor, engine::Engine& engine)
      : executor_(std::move(executor)), engine_(engine) {}

  /// As Engine::wait; ends at once, with the payment as it is, when the server stops.
  boost::asio::awaitable<Result<domain::Intent>> wait(std::optional<domain::CallerId> caller,
                                                      domain::IntentId id, engine::WaitFor level,
                                                      std::int64_t ms);
  void stop();
  bool stopping() const { return stopping_; }

 private:
  boost::asio::any_io_executor executor_;
  engine::Engine& engine_;
  std::list<boost::asio::cancellation_signal*> waits_;
  bool stopping_ = false;
};

}  // namespace holdfast::http

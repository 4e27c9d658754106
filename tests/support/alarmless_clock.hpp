// What a clock of a test builds on whose floor waits by sleeping alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>

#include <holdfast/ports/clock.hpp>

namespace holdfast::tests {

class AlarmlessClock : public ports::Clock {
 public:
  std::unique_ptr<ports::Alarm> alarm(boost::asio::any_io_executor, std::int64_t,
                                      std::function<void()>) override {
    throw std::logic_error("this clock has no alarms");
  }
};

}  // namespace holdfast::tests

#include <holdfast/ports/deadline.hpp>

#include <optional>
#include <stdexcept>
#include <string>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>

#include <doctest/doctest.h>

#include "support/manual_clock.hpp"

namespace holdfast::ports {
namespace {

namespace asio = boost::asio;

struct Scene {
  asio::io_context context;
  tests::ManualClock clock{context.get_executor()};
  asio::steady_timer gate{context, asio::steady_timer::time_point::max()};
  bool operation_ended = false;
  std::optional<std::optional<std::string>> result;
  std::exception_ptr failure;
  asio::cancellation_signal cancel;

  void start(std::int64_t ms, asio::awaitable<std::string> operation) {
    asio::co_spawn(
        context, with_deadline(clock, ms, std::move(operation)),
        asio::bind_cancellation_slot(
            cancel.slot(), [this](std::exception_ptr failed, std::optional<std::string> value) {
              failure = failed;
              if (!failed) result = std::move(value);
            }));
    context.poll();
  }
  void turn() {
    context.restart();
    context.poll();
  }
};

asio::awaitable<std::string> at_once(std::string text) { co_return text; }
asio::awaitable<std::string> fails() {
  throw std::runtime_error("broken");
  co_return "";
}
asio::awaitable<std::string> waits(bool& flag, asio::steady_timer& gate) {
  struct Mark {
    bool& ended;
    ~Mark() { ended = true; }
  } mark{flag};
  co_await gate.async_wait(asio::use_awaitable);
  co_return "opened";
}
/// Ends well although it was cancelled: it had its answer already.
asio::awaitable<std::string> answers_when_cancelled(Scene& scene) {
  try {
    co_await scene.gate.async_wait(asio::use_awaitable);
  } catch (const boost::system::system_error&) {
  }
  co_return "just in time";
}

std::string text_of(std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

bool is_abort(std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    return error.code() == asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

}  // namespace

TEST_CASE("deadline: an operation in time gives its value and leaves no sleeper behind") {
  Scene scene;
  scene.start(1000, at_once("yes"));
  scene.turn();
  REQUIRE(scene.result.has_value());
  CHECK(*scene.result == std::optional<std::string>("yes"));
  CHECK(scene.clock.sleepers() == 0);
}

TEST_CASE("deadline: a fast failure is told at once, not when the time is over") {
  Scene scene;
  scene.start(1000, fails());
  scene.turn();
  REQUIRE(scene.failure != nullptr);
  CHECK(text_of(scene.failure) == "broken");
  CHECK(scene.clock.sleepers() == 0);
}

TEST_CASE("deadline: when the time is over the operation has ended before the answer is given") {
  Scene scene;
  scene.start(1000, waits(scene.operation_ended, scene.gate));
  REQUIRE(scene.clock.sleepers() == 1);
  scene.clock.advance(999);
  scene.turn();
  CHECK_FALSE(scene.result.has_value());
  CHECK_FALSE(scene.operation_ended);
  scene.clock.advance(1);
  scene.turn();
  CHECK(scene.operation_ended);
  REQUIRE(scene.result.has_value());
  CHECK_FALSE(scene.result->has_value());
}

TEST_CASE("deadline: an answer that came with the last tick is not thrown away") {
  Scene scene;
  scene.start(1000, answers_when_cancelled(scene));
  scene.clock.advance(1000);
  scene.turn();
  REQUIRE(scene.result.has_value());
  CHECK(*scene.result == std::optional<std::string>("just in time"));
}

TEST_CASE("deadline: no time at all ends what waits, and nothing else") {
  Scene scene;
  scene.start(0, waits(scene.operation_ended, scene.gate));
  scene.turn();
  REQUIRE(scene.result.has_value());
  CHECK_FALSE(scene.result->has_value());

  Scene other;
  other.start(-5, at_once("still"));
  other.turn();
  REQUIRE(other.result.has_value());
  CHECK(*other.result == std::optional<std::string>("still"));
}

TEST_CASE("deadline: a cancelled caller is aborted, which is not a time-out") {
  Scene scene;
  scene.start(1000, waits(scene.operation_ended, scene.gate));
  scene.cancel.emit(asio::cancellation_type::terminal);
  scene.turn();
  CHECK(scene.operation_ended);
  CHECK_FALSE(scene.result.has_value());
  REQUIRE(scene.failure != nullptr);
  CHECK(is_abort(scene.failure));
  CHECK(scene.clock.sleepers() == 0);
}

TEST_CASE("deadline: frames dropped in mid-wait are unwound and never resumed") {
  bool ended = false;
  bool answered = false;
  {
    Scene scene;
    scene.start(1000, waits(ended, scene.gate));
    CHECK_FALSE(ended);
    answered = scene.result.has_value() || scene.failure != nullptr;
  }
  CHECK(ended);
  CHECK_FALSE(answered);
}

}  // namespace holdfast::ports

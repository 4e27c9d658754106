#include <holdfast/engine/keyed_queue.hpp>

namespace holdfast::engine {

namespace asio = boost::asio;

namespace detail {

// A waiter that knows whether the key is already its own: a frame destroyed between being given the
// key and going on passes it on.
struct TurnDesk::Place : ports::Waiter {
  Place(TurnDesk& desk_of, TurnLine& line_of) : desk(desk_of), line(line_of) {}
  ~Place() {
    if (granted) desk.pass_on(line);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  TurnDesk& desk;
  TurnLine& line;
  bool granted = false;
};

void TurnDesk::pass_on(TurnLine& line) {
  // Only places wait in a line.
  auto* const next = static_cast<Place*>(line.waiting.first());
  if (next == nullptr) {
    close(line);
    return;
  }
  next->granted = true;
  next->wake();
}

asio::awaitable<void> TurnDesk::stand_in(std::shared_ptr<TurnDesk> desk, TurnLine& line) {
  Place place(*desk, line);
  co_await place.park(line.waiting);
  place.granted = false;
}

}  // namespace detail

Turn& Turn::operator=(Turn&& other) noexcept {
  if (this != &other) {
    release();
    desk_ = std::move(other.desk_);
    line_ = std::exchange(other.line_, nullptr);
  }
  return *this;
}

void Turn::release() {
  // Forgotten first: passing on may run into this turn again only as one that is not held.
  auto* const line = std::exchange(line_, nullptr);
  const auto desk = std::move(desk_);
  if (line != nullptr) desk->pass_on(*line);
}

}  // namespace holdfast::engine

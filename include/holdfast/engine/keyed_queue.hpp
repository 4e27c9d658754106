// Owns: turns. At most one holder per key, in order of arrival; different keys side by side.
// Must never: let a failed, cancelled or destroyed holder block those behind it, or keep anything
// for a key nobody holds.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include <holdfast/base/ensure.hpp>
#include <holdfast/ports/parking.hpp>

namespace holdfast::engine {

namespace detail {

/// The queue behind one key. It exists while the key is held.
struct TurnLine {
  ports::WaitList waiting;
};

/// The part of a queue that knows no key. Shared with its turns, so that they may end in any order.
class TurnDesk {
 public:
  virtual ~TurnDesk() = default;
  /// The holder is gone: the next one holds the key, or the line goes.
  void pass_on(TurnLine& line);
  /// Waits in a line that somebody holds; on return the caller holds it.
  static boost::asio::awaitable<void> stand_in(std::shared_ptr<TurnDesk> desk, TurnLine& line);

 protected:
  virtual void close(TurnLine& line) = 0;

 private:
  struct Place;
};

}  // namespace detail

/// Holds a key until destroyed or released. Movable; may outlive the queue.
class Turn {
 public:
  Turn() = default;
  Turn(std::shared_ptr<detail::TurnDesk> desk, detail::TurnLine& line)
      : desk_(std::move(desk)), line_(&line) {}
  ~Turn() { release(); }
  Turn(Turn&& other) noexcept
      : desk_(std::move(other.desk_)), line_(std::exchange(other.line_, nullptr)) {}
  Turn& operator=(Turn&& other) noexcept;

  bool held() const { return line_ != nullptr; }
  /// Gives the key to the next one now. No-op when not held.
  void release();

 private:
  std::shared_ptr<detail::TurnDesk> desk_;
  detail::TurnLine* line_ = nullptr;
};

/// Runs tasks one at a time per key, in order of arrival. All calls on one executor.
///
///     auto turn = co_await queue.turn(intent_id);  // to the end of the scope
///     co_await queue.run(intent_id, work(intent_id));
template <class Key, class Hash = std::hash<Key>>
class KeyedQueue {
 public:
  KeyedQueue() : desk_(std::make_shared<Desk>()) {}
  ~KeyedQueue() { abandon(); }
  KeyedQueue(const KeyedQueue&) = delete;
  KeyedQueue& operator=(const KeyedQueue&) = delete;

  /// Waits for the key; at once, without a turn of the executor, when nobody holds it. Cancelled
  /// while waiting: leaves the line and throws operation_aborted.
  boost::asio::awaitable<Turn> turn(Key key) { return take(desk_, std::move(key)); }

  /// Runs `task` while holding the key and hands on its value or exception.
  template <class T>
  boost::asio::awaitable<T> run(Key key, boost::asio::awaitable<T> task) {
    return run_awaitable(desk_, std::move(key), std::move(task));
  }
  /// The same for a function that returns an awaitable. It is kept until its awaitable ended, so a
  /// lambda coroutine with captures is safe here.
  template <std::invocable Task>
  std::invoke_result_t<Task&> run(Key key, Task task) {
    return run_function(desk_, std::move(key), std::move(task));
  }

  /// Keys held now.
  std::size_t keys() const { return desk_->lines.size(); }
  /// Holders and waiters of one key.
  std::size_t depth(const Key& key) const {
    const auto at = desk_->lines.find(key);
    return at == desk_->lines.end() ? 0 : 1 + at->second.waiting.size();
  }
  /// Drops whoever waits, without resuming: for teardown. Holders stay holders.
  void abandon() {
    for (auto& [key, line] : desk_->lines) line.waiting.abandon();
  }

 private:
  struct Line : detail::TurnLine {
    const Key* key = nullptr;
  };
  struct Desk final : detail::TurnDesk {
    // Looked up, never walked in an order anybody sees.
    std::unordered_map<Key, Line, Hash> lines;
    void close(detail::TurnLine& line) override {
      const auto at = lines.find(*static_cast<Line&>(line).key);
      ensure(at != lines.end(), "a key is closed once");
      lines.erase(at);
    }
  };

  static boost::asio::awaitable<Turn> take(std::shared_ptr<Desk> desk, Key key) {
    auto [at, is_new] = desk->lines.try_emplace(std::move(key));
    Line& line = at->second;
    if (is_new) {
      line.key = &at->first;
    } else {
      co_await detail::TurnDesk::stand_in(desk, line);
    }
    co_return Turn(std::move(desk), line);
  }
  template <class T>
  static boost::asio::awaitable<T> run_awaitable(std::shared_ptr<Desk> desk, Key key,
                                                 boost::asio::awaitable<T> task) {
    const Turn turn = co_await take(std::move(desk), std::move(key));
    co_return co_await std::move(task);
  }
  template <class Task>
  static std::invoke_result_t<Task&> run_function(std::shared_ptr<Desk> desk, Key key, Task task) {
    const Turn turn = co_await take(std::move(desk), std::move(key));
    co_return co_await task();
  }

  std::shared_ptr<Desk> desk_;
};

}  // namespace holdfast::engine

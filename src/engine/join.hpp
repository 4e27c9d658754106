// Owns: asking many things in one turn of the loop and waiting for all the answers.
// Must never: leave one running when it returns or throws.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>

#include "engine/task_group.hpp"

namespace holdfast::engine {

namespace detail {
/// Joins `group`; when that is cancelled, cancels its tasks and sees them end before it throws.
boost::asio::awaitable<void> join_or_cancel(TaskGroup& group);

template <class T>
boost::asio::awaitable<void> keep(boost::asio::awaitable<T> task,
                                  std::shared_ptr<std::vector<std::optional<T>>> values,
                                  std::size_t at) {
  (*values)[at].emplace(co_await std::move(task));
}
}  // namespace detail

/// Starts all tasks before any of them is waited for, so that what they ask of one endpoint goes
/// out in one batch. Values in the order of the tasks. After all have ended, throws the exception
/// that came first. T needs no default constructor.
template <class T>
boost::asio::awaitable<std::vector<T>> join_all(std::vector<boost::asio::awaitable<T>> tasks) {
  auto values = std::make_shared<std::vector<std::optional<T>>>(tasks.size());
  TaskGroup group(co_await boost::asio::this_coro::executor);
  for (std::size_t at = 0; at < tasks.size(); ++at) {
    group.spawn(detail::keep<T>(std::move(tasks[at]), values, at));
  }
  co_await detail::join_or_cancel(group);
  std::vector<T> out;
  out.reserve(values->size());
  for (auto& value : *values) out.push_back(std::move(*value));
  co_return out;
}

}  // namespace holdfast::engine

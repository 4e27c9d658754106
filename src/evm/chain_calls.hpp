// Owns: asking a node several things at once, so that the client puts them into one batch; and
// several nodes the same.
// Must never: outlive its caller: every call has ended when it returns.
#pragma once

#include <exception>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <holdfast/ports/chain.hpp>

#include "evm/rpc.hpp"
#include "evm/wire.hpp"

namespace holdfast::evm {

struct RpcCall {
  std::string method;
  boost::json::array params;
};

/// The answers in the order of the calls. All are started in one turn of the loop. Cancellation
/// reaches every one of them and is thrown on; so is any exception of one.
ports::Awaitable<std::vector<Answer>> call_all(Rpc& rpc, std::vector<RpcCall> calls);

/// The first answer that is not ok; null when all are.
const Answer* first_failure(const std::vector<Answer>& answers);

/// The answers of tasks that run side by side, in their order. Cancellation reaches every one of
/// them and is thrown on; so is any exception of one. `T` must be default-constructible.
template <class T>
ports::Awaitable<std::vector<T>> together(std::vector<ports::Awaitable<T>> tasks) {
  namespace asio = boost::asio;
  std::vector<T> answers;
  if (tasks.size() <= 1) {
    for (auto& task : tasks) answers.push_back(co_await std::move(task));
    co_return answers;
  }
  const auto executor = co_await asio::this_coro::executor;
  const auto start = [&](ports::Awaitable<T>& one) {
    return asio::co_spawn(executor, std::move(one), asio::deferred);
  };
  std::vector<decltype(start(tasks.front()))> started;
  started.reserve(tasks.size());
  for (auto& task : tasks) started.push_back(start(task));
  auto ended = co_await asio::experimental::make_parallel_group(std::move(started))
                   .async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
  for (const std::exception_ptr& error : std::get<1>(ended)) {
    if (error) std::rethrow_exception(error);
  }
  co_return std::move(std::get<2>(ended));
}

/// What cannot be read says nothing.
inline ports::Unknown unknown(Unreadable unreadable) { return {std::move(unreadable.why), false}; }
inline ports::Unknown unknown(std::string why) { return {std::move(why), false}; }

/// A read as an Outcome.
template <class T>
ports::Outcome<T> outcome_of(Read<T> read) {
  if (!read) return unknown(read.error());
  return std::move(*read);
}

}  // namespace holdfast::evm

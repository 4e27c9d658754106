#include "evm/chain_calls.hpp"

#include <exception>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace holdfast::evm {

namespace asio = boost::asio;

ports::Awaitable<std::vector<Answer>> call_all(Rpc& rpc, std::vector<RpcCall> calls) {
  if (calls.empty()) co_return std::vector<Answer>{};
  const auto executor = co_await asio::this_coro::executor;
  const auto start = [&](RpcCall& one) {
    return asio::co_spawn(executor, rpc.call(std::move(one.method), std::move(one.params)),
                          asio::deferred);
  };
  std::vector<decltype(start(calls.front()))> started;
  started.reserve(calls.size());
  for (RpcCall& one : calls) started.push_back(start(one));

  auto [order, errors, answers] =
      co_await asio::experimental::make_parallel_group(std::move(started))
          .async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  co_return std::move(answers);
}

const Answer* first_failure(const std::vector<Answer>& answers) {
  for (const Answer& answer : answers) {
    if (answer.ok() == nullptr) return &answer;
  }
  return nullptr;
}

}  // namespace holdfast::evm

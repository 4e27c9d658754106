#include "evm/chain_calls.hpp"

namespace holdfast::evm {

ports::Awaitable<std::vector<Answer>> call_all(Rpc& rpc, std::vector<RpcCall> calls) {
  std::vector<ports::Awaitable<Answer>> tasks;
  tasks.reserve(calls.size());
  for (RpcCall& one : calls)
    tasks.push_back(rpc.call(std::move(one.method), std::move(one.params)));
  co_return co_await together(std::move(tasks));
}

const Answer* first_failure(const std::vector<Answer>& answers) {
  for (const Answer& answer : answers) {
    if (answer.ok() == nullptr) return &answer;
  }
  return nullptr;
}

}  // namespace holdfast::evm

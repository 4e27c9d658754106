#include <holdfast/ports/chain.hpp>

#include <utility>

namespace holdfast::ports {

Awaitable<Outcome<bool>> Chain::would_run(domain::Address sender, Call call) {
  const Outcome<Simulated> answer = co_await simulate(std::move(sender), std::move(call));
  if (answer.ok() == nullptr) co_return answer.failure<bool>();
  co_return true;
}

}  // namespace holdfast::ports

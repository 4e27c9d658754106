#include "evm/rpc.hpp"

#include <utility>

namespace holdfast::evm {

namespace asio = boost::asio;

asio::awaitable<ports::Outcome<Voices>> Rpc::voices() { co_return Voices{this}; }

asio::awaitable<std::vector<Answer>> Rpc::call_everywhere(std::string method,
                                                          boost::json::array params, Enough) {
  std::vector<Answer> answers;
  answers.push_back(co_await call(std::move(method), std::move(params)));
  co_return answers;
}

std::vector<bool> Rpc::behind(const Voices& voices, const std::vector<HeadSeen>&) {
  return std::vector<bool>(voices.size(), false);
}

}  // namespace holdfast::evm

// Owns: asking a node several things at once, so that the client puts them into one batch.
// Must never: outlive its caller: every call has ended when it returns.
#pragma once

#include <string>
#include <vector>

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

using Answer = ports::Outcome<boost::json::value>;

/// The answers in the order of the calls. All are started in one turn of the loop. Cancellation
/// reaches every one of them and is thrown on; so is any exception of one.
ports::Awaitable<std::vector<Answer>> call_all(Rpc& rpc, std::vector<RpcCall> calls);

/// The first answer that is not ok; null when all are.
const Answer* first_failure(const std::vector<Answer>& answers);

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

// Owns: JSON-RPC 2.0 as text: calls into a request's body, an answer's body into one outcome a
// call. Must never: give a call the answer of another, or a contract's or node's raw text to
// anybody.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <holdfast/ports/outcome.hpp>

#include "evm/http_rpc_endpoint.hpp"

namespace holdfast::evm {

/// One request object (https://www.jsonrpc.org/specification, section 4).
std::string call_text(std::uint64_t id, std::string_view method, const boost::json::array& params);

/// A body of these request objects: one as it is, several as a batch (section 6).
std::string body_of(std::span<const std::string_view> calls);

struct BatchAnswer {
  enum class Verdict {
    read,
    batches_refused,  ///< the node takes no batches: nothing was run, ask one by one
    batch_too_large,  ///< nothing was run, ask in smaller batches
  };
  Verdict verdict = Verdict::read;
  /// For `read`: one a call, in the order of the ids asked.
  std::vector<ports::Outcome<boost::json::value>> outcomes;
};

/// Total: any body has a reading. What cannot be told apart for sure is unknown: no element for a
/// call, two elements, another's id, one error for a whole batch, text that is not JSON, deeper
/// than 32 levels, or goes on behind the value. `ids` has the calls that were asked, one for a
/// request that was no batch.
BatchAnswer read_answer(std::span<const std::uint64_t> ids, std::string_view body,
                        const Secrets& secrets);

}  // namespace holdfast::evm

// Owns: what x402 answers look like: /verify, /settle and /supported in both versions.
// Must never: leave out `transaction` or `network` of a settle answer, or make one of them anything
// but a string: clients throw.
#pragma once

#include <span>
#include <string>

#include "http/message.hpp"
#include "http/problem.hpp"
#include "http/x402/networks.hpp"
#include "http/x402/reasons.hpp"
#include "http/x402/wire.hpp"

namespace holdfast::http::x402 {

struct Answer {
  Asked asked = Asked::settle;
  unsigned status = 200;
  Reason reason = Reason::none;  ///< none: it is valid, it is settled
  std::string message = {};  ///< version 2 only
  std::string transaction = {};  ///< a hash, or empty
  std::string amount = {};  ///< of a success, version 2 only
};
Response response_of(const Echo& echo, const Answer& answer);

/// What refuses a request before anybody reads its body, in the words of these routes.
Response response_of(Asked asked, const Problem& problem);
/// The word in that.
Reason reason_of(Asked asked, const Problem& problem);

/// All that settles now: one kind for each version, asset and method.
Response supported(std::span<const Network> networks, const X402Options& options);

}  // namespace holdfast::http::x402

// Bytes as a request's line and headers, through every rule that holds before the body is read. A
// target that is taken is read again from its parts.
#include "http/target.hpp"

#include <boost/json/parse.hpp>

#include "fuzz/request_text.hpp"
#include "http/api.hpp"
#include "http/auth.hpp"
#include "http/idempotency.hpp"

namespace holdfast {
namespace {

using http::Problem;

void check_problem(const Problem& problem) {
  ensure(problem.status >= 400 && problem.status < 500, "a bad request is the client's fault");
  fuzz::check_sentence(problem.detail);
  boost::system::error_code error;
  const auto body = boost::json::parse(http::response_of(problem).body, error);
  ensure(!error && std::string_view(body.at("error").as_string()) == problem.code &&
             std::string_view(body.at("detail").as_string()) == problem.detail,
         "a problem's answer is JSON that says it");
}

/// Every byte as a percent-encoded one: a second spelling of the same text.
std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) out.append("%").append(to_hex(as_bytes({&c, 1})));
  return out;
}

void check_read_again(const http::Request& request) {
  http::Request again;
  if (request.path.empty()) again.target = "/";
  for (const std::string& segment : request.path) again.target += "/" + encoded(segment);
  for (const auto& [name, value] : request.query) {
    again.target += fuzz::holds(again.target, "?") ? "&" : "?";
    again.target += encoded(name) + "=" + encoded(value);
  }
  ensure(!http::read_target(again), "a target that was taken is taken in another spelling");
  ensure(again.path == request.path && again.query == request.query,
         "a target says the same in every spelling");
}

void check_route(http::Request& request) {
  const http::Found found = http::find_route(request.method, request.path);
  if (found.route == nullptr) return;
  for (const std::string& parameter : found.parameters) {
    ensure(!parameter.empty() && !fuzz::holds(parameter, "/"), "a parameter is one segment");
  }
  if (const auto problem = http::check_query(request, *found.route)) check_problem(*problem);
  if (const auto problem = http::check_body_headers(request, *found.route)) check_problem(*problem);
  http::Query query(request);
  const std::int64_t limit = query.number("limit", 50, 1, 500);
  ensure(limit >= 1 && limit <= 500, "a number is within its limits");
  if (query.problem()) {
    check_problem(*query.problem());
    ensure(query.problem()->detail.starts_with("limit"), "a bad number is named");
  }
}

void check_header_rules(const http::Request& request) {
  if (const auto problem = http::check_headers(request)) check_problem(*problem);
  const auto token = http::bearer_token(request);
  if (const auto* problem = std::get_if<Problem>(&token)) check_problem(*problem);
  const http::KeyRead key = http::read_idempotency_key(request);
  if (key.problem) {
    check_problem(*key.problem);
  } else {
    ensure(!key.key.empty() && key.key.size() <= 255, "a key is bounded");
  }
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  http::Request request = fuzz::request_from(as_text({data, size}));
  check_header_rules(request);
  if (const auto problem = http::read_target(request)) {
    check_problem(*problem);
    return 0;
  }
  ensure(request.query.size() <= 16, "the query is bounded");
  check_read_again(request);
  check_route(request);
  return 0;
}

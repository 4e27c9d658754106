// The rules for headers that hold before anybody looks at what a request wants.
#include <algorithm>
#include <array>

#include "http/api.hpp"

namespace holdfast::http {
namespace {

// Two of one of these leave it open which one the next reader believes.
constexpr std::array<std::string_view, 8> single = {"Host",
                                                    "Authorization",
                                                    "Content-Length",
                                                    "Content-Type",
                                                    "Content-Encoding",
                                                    "Transfer-Encoding",
                                                    "Idempotency-Key",
                                                    "Expect"};

Problem bad_header(std::string detail) { return {400, "bad_header", std::move(detail)}; }

std::string_view without_parameters(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return type;
}

}  // namespace

std::optional<Problem> check_headers(const Request& request) {
  for (const std::string_view name : single) {
    if (request.count(name) > 1) {
      return Problem{400, "repeated_header",
                     std::string(name) + ": the header came more than once"};
    }
  }
  const auto coding = request.header("Transfer-Encoding");
  if (coding && request.header("Content-Length")) {
    return bad_header("Transfer-Encoding: cannot come together with Content-Length");
  }
  // Of any other it is open where the body ends, and what the next bytes are (RFC 9112, 6.3).
  if (coding && !same_name(*coding, "chunked")) {
    return bad_header("Transfer-Encoding: only chunked is read");
  }
  if (!request.http_1_0 && !request.header("Host")) {
    return Problem{400, "missing_header", "Host: the header is missing"};
  }
  if (const auto expected = request.header("Expect");
      expected && !same_name(*expected, "100-continue")) {
    return Problem{417, "expectation_failed", "Expect: only 100-continue can be met"};
  }
  return std::nullopt;
}

std::optional<Problem> check_body_headers(const Request& request, const Route& route) {
  if (!request.has_body) return std::nullopt;
  if (route.method != "POST") {
    return Problem{400, "bad_request", "a " + request.method + " here has no body"};
  }
  const auto encoding = request.header("Content-Encoding");
  if (encoding && !same_name(*encoding, "identity")) {
    return Problem{415, "unsupported_media_type", "Content-Encoding: the body must not be packed"};
  }
  const auto type = request.header("Content-Type");
  if (!type || !same_name(without_parameters(*type), "application/json")) {
    return Problem{415, "unsupported_media_type", "Content-Type: must be application/json"};
  }
  return std::nullopt;
}

}  // namespace holdfast::http

// Owns: a request's target as decoded path segments and query parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.hpp"
#include "http/problem.hpp"
#include "http/routes.hpp"

namespace holdfast::http {

/// Fills `path` and `query` from `target`. `bad_request` for anything but an origin form whose
/// decoded text is printable ASCII, "/" in no segment; a parameter may come once. At most 16
/// parameters.
std::optional<Problem> read_target(Request& request);

/// A query parameter that this route does not take, named. Outside /v1 nobody minds one.
std::optional<Problem> check_query(const Request& request, const Route& route);

/// Reads the query parameters of one request: the first problem wins.
class Query {
 public:
  explicit Query(const Request& request) : request_(request) {}

  std::optional<std::string_view> text(std::string_view name);
  /// A plain decimal from `lowest` to `highest`; `fallback` when it is not there.
  std::int64_t number(std::string_view name, std::int64_t fallback, std::int64_t lowest,
                      std::int64_t highest);
  void refuse(std::string detail);

  const std::optional<Problem>& problem() const { return problem_; }

 private:
  const Request& request_;
  std::optional<Problem> problem_;
};

}  // namespace holdfast::http

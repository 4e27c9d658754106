#include "http/target.hpp"

#include <algorithm>
#include <charconv>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

namespace holdfast::http {
namespace {

constexpr std::size_t most_parameters = 16;
constexpr auto dot_segment = "the path holds \".\" or \"..\" as a segment: send it resolved";

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c <= 0x7e; });
}

Problem bad_target(std::string detail) { return {400, "bad_request", std::move(detail)}; }

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || text.front() == '-') {
    return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<Problem> read_target(Request& request) {
  const auto url = boost::urls::parse_origin_form(request.target);
  if (!url) return bad_target("the request's target is not a path");
  // A leading "/./" is refused by its text: the parser takes it away before the segments are seen.
  if (url->encoded_path().starts_with("/./")) return bad_target(dot_segment);
  for (const auto& segment : url->segments()) {
    if (!is_printable(segment) || segment.find('/') != std::string::npos) {
      return bad_target("the path holds characters that no path here has");
    }
    if (segment == "." || segment == "..") return bad_target(dot_segment);
    request.path.push_back(segment);
  }
  for (const auto& parameter : url->params()) {
    if (request.query.size() == most_parameters) {
      return bad_target("more than " + std::to_string(most_parameters) + " query parameters");
    }
    if (!is_printable(parameter.key) || !is_printable(parameter.value)) {
      return bad_target("the query holds characters that are not printable ASCII");
    }
    const bool repeated = std::ranges::any_of(
        request.query, [&](const auto& before) { return before.first == parameter.key; });
    if (repeated) {
      return bad_target(shown(parameter.key) + ": the query parameter came more than once");
    }
    request.query.emplace_back(parameter.key, parameter.value);
  }
  return std::nullopt;
}

std::optional<Problem> check_query(const Request& request, const Route& route) {
  if (!route.path.starts_with("/v1/")) return std::nullopt;
  for (const auto& [name, value] : request.query) {
    if (!lists(route.query, name))
      return bad_target(shown(name) + ": no such query parameter here");
  }
  return std::nullopt;
}

void Query::refuse(std::string detail) {
  if (!problem_) problem_ = bad_target(std::move(detail));
}

std::optional<std::string_view> Query::text(std::string_view name) {
  for (const auto& [key, value] : request_.query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::int64_t Query::number(std::string_view name, std::int64_t fallback, std::int64_t lowest,
                           std::int64_t highest) {
  const auto given = text(name);
  if (!given) return fallback;
  const auto read = given->empty() ? std::nullopt : whole_number(*given);
  if (!read || *read < lowest || *read > highest) {
    refuse(std::string(name) + ": must be a whole number from " + std::to_string(lowest) + " to " +
           std::to_string(highest));
    return fallback;
  }
  return *read;
}

}  // namespace holdfast::http

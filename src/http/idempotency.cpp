#include "http/idempotency.hpp"

#include <algorithm>

namespace holdfast::http {
namespace {

constexpr std::string_view header_name = "Idempotency-Key";
constexpr std::size_t longest_key = 255;

}  // namespace

KeyRead read_idempotency_key(const Request& request) {
  const std::string name(header_name);
  const std::size_t count = request.count(header_name);
  if (count == 0) {
    return {Problem{400, "missing_header",
                    name + ": the header is missing; send a key of your own for each request, and "
                           "the same key when you repeat it"},
            {}};
  }
  if (count > 1) {
    return {Problem{400, "repeated_header", name + ": the header came more than once"}, {}};
  }
  const std::string_view key = *request.header(header_name);
  const bool printable = std::ranges::all_of(key, [](char c) { return c >= 0x20 && c <= 0x7e; });
  const bool blank = std::ranges::all_of(key, [](char c) { return c == ' '; });
  if (!printable || blank || key.size() > longest_key) {
    return {Problem{400, "bad_header",
                    name + ": must be 1 to " + std::to_string(longest_key) +
                        " printable ASCII characters, not all blank"},
            {}};
  }
  return {std::nullopt, std::string(key)};
}

Digest fingerprint(const Request& request, std::string_view canonical_body) {
  return FieldHash("holdfast/http-request/1")
      .add(request.method)
      .add(request.path_text())
      .add(canonical_body)
      .finish();
}

std::optional<InProgress::Claim> InProgress::claim(std::string_view caller, const Request& request,
                                                   std::string_view key) {
  // A line end is in none of the parts, so that no two places have one text.
  std::string place(caller);
  place.append("\n").append(request.method).append(request.path_text()).append("\n").append(key);
  if (!places_->insert(place).second) return std::nullopt;
  return Claim(places_, std::move(place));
}

Problem still_running() {
  return {409, "in_progress", "a request with this Idempotency-Key is still being answered", 1};
}

}  // namespace holdfast::http

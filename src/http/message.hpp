// Owns: a request and an answer as plain data, and an answer's bytes on the wire. Everything above
// the sockets speaks in these, so it is tested without one.
// Must never: know Beast, or put a header on the wire that could end the line it stands on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/domain/ids.hpp>

namespace holdfast::http {

struct Header {
  std::string name;
  std::string value;  ///< without the blanks around it
};

/// True for equal ASCII text in any case.
bool same_name(std::string_view left, std::string_view right);

struct Request {
  std::string method;
  std::string target;  ///< as it came: "/v1/payment_intents?limit=2"
  std::vector<Header> headers;
  std::string body;
  bool has_body = false;  ///< known before the body is read
  bool http_1_0 = false;

  std::vector<std::string> path = {};  ///< decoded segments; filled by `read_target`
  std::vector<std::pair<std::string, std::string>> query = {};

  std::size_t count(std::string_view name) const;
  /// The first of that name.
  std::optional<std::string_view> header(std::string_view name) const;
  /// "/" and the decoded segments.
  std::string path_text() const;
};

inline constexpr std::string_view json_type = "application/json; charset=utf-8";

struct Response {
  unsigned status = 200;
  std::string body = {};
  std::vector<Header> headers = {};
  std::string content_type = std::string(json_type);
  /// It says that this payment succeeded, which is said once: whoever writes it tells the engine
  /// whether its bytes went out.
  std::optional<domain::IntentId> success_of = {};
};

/// How an answer goes out on its connection.
struct Delivery {
  bool keep_alive = false;
  bool head_only = false;  ///< to a HEAD: the headers of the whole answer, without its body
  bool http_1_0 = false;
  std::int64_t wall_ms = 0;  ///< for Date
};

/// Status line, headers and body. Content-Length is always there but for 204.
std::string to_wire(const Response& response, const Delivery& delivery);

/// "Thu, 01 Jan 2026 00:00:00 GMT" (RFC 9110, IMF-fixdate).
std::string http_date(std::int64_t wall_ms);
/// "2026-01-01T00:00:00.000Z" (RFC 3339).
std::string rfc3339(std::int64_t wall_ms);

}  // namespace holdfast::http

#include "http/message.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <holdfast/base/ensure.hpp>

namespace holdfast::http {
namespace {

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view reason_of(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    default: return "Other";
  }
}

/// What ends a line ends a header: none of ours has it, whatever a client sent.
bool fits_a_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

void add_header(std::string& out, std::string_view name, std::string_view value) {
  ensure(fits_a_line(value), "a header's value has no line end");
  out.append(name).append(": ").append(value).append("\r\n");
}

/// A moment as its civil date and time, UTC.
struct Civil {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::milliseconds> time;
  std::chrono::weekday day;
};

Civil civil(std::int64_t wall_ms) {
  using std::chrono::days;
  const std::chrono::sys_time<std::chrono::milliseconds> at{std::chrono::milliseconds(wall_ms)};
  const auto day = std::chrono::floor<days>(at);
  return {day, std::chrono::hh_mm_ss(at - day), std::chrono::weekday(day)};
}

/// Zeros in front up to `width` digits; a number below zero has its sign among them.
void add_digits(std::string& out, std::int64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  if (digits.size() < width) digits.insert(sign, width - digits.size(), '0');
  out += digits;
}

void add_time(std::string& out, const Civil& at) {
  add_digits(out, at.time.hours().count(), 2);
  out += ':';
  add_digits(out, at.time.minutes().count(), 2);
  out += ':';
  add_digits(out, at.time.seconds().count(), 2);
}

}  // namespace

bool same_name(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, lowered, lowered);
}

std::size_t Request::count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      headers, [name](const Header& header) { return same_name(header.name, name); }));
}

std::optional<std::string_view> Request::header(std::string_view name) const {
  const auto found = std::ranges::find_if(
      headers, [name](const Header& header) { return same_name(header.name, name); });
  if (found == headers.end()) return std::nullopt;
  return found->value;
}

std::string Request::path_text() const {
  std::string out;
  for (const std::string& segment : path) out.append("/").append(segment);
  return out.empty() ? "/" : out;
}

std::string to_wire(const Response& response, const Delivery& delivery) {
  std::string out = delivery.http_1_0 ? "HTTP/1.0 " : "HTTP/1.1 ";
  out.reserve(400 + response.body.size());
  out.append(std::to_string(response.status)).append(" ").append(reason_of(response.status));
  out.append("\r\n");
  add_header(out, "Date", http_date(delivery.wall_ms));
  if (response.status != 204) {
    add_header(out, "Content-Type", response.content_type);
    add_header(out, "Content-Length", std::to_string(response.body.size()));
  }
  add_header(out, "Cache-Control", "no-store");
  for (const Header& header : response.headers) add_header(out, header.name, header.value);
  if (!delivery.keep_alive) {
    add_header(out, "Connection", "close");
  } else if (delivery.http_1_0) {
    add_header(out, "Connection", "keep-alive");
  }
  out.append("\r\n");
  if (!delivery.head_only && response.status != 204) out.append(response.body);
  return out;
}

std::string http_date(std::int64_t wall_ms) {
  static constexpr std::array<const char*, 7> days = {"Sun", "Mon", "Tue", "Wed",
                                                      "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const Civil at = civil(wall_ms);
  std::string out;
  out.reserve(32);
  out.append(days.at(at.day.c_encoding())).append(", ");
  add_digits(out, static_cast<unsigned>(at.date.day()), 2);
  out.append(" ").append(months.at(static_cast<unsigned>(at.date.month()) - 1)).append(" ");
  add_digits(out, static_cast<int>(at.date.year()), 4);
  out += ' ';
  add_time(out, at);
  return out + " GMT";
}

std::string rfc3339(std::int64_t wall_ms) {
  const Civil at = civil(wall_ms);
  std::string out;
  out.reserve(32);
  add_digits(out, static_cast<int>(at.date.year()), 4);
  out += '-';
  add_digits(out, static_cast<unsigned>(at.date.month()), 2);
  out += '-';
  add_digits(out, static_cast<unsigned>(at.date.day()), 2);
  out += 'T';
  add_time(out, at);
  out += '.';
  add_digits(out, at.time.subseconds().count(), 3);
  return out + 'Z';
}

}  // namespace holdfast::http

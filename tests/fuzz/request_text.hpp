// Owns: a request as the text of a corpus: "METHOD target", lines "Name: value", an empty line, and
// the body as it is. It stands for what Beast hands on, so a header never holds a line's end.
#pragma once

#include <string>
#include <string_view>

#include "fuzz/input.hpp"
#include "http/message.hpp"

namespace holdfast::fuzz {

inline std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

inline http::Request request_from(std::string_view text) {
  http::Request request;
  std::string_view head = next_part(text, "\n\n");
  std::string_view first = next_part(head, "\n");
  request.method = next_part(first, " ");
  request.target = first;
  while (!head.empty()) {
    std::string_view value = next_part(head, "\n");
    const std::string_view name = next_part(value, ":");
    request.headers.push_back({std::string(name), std::string(without_blanks(value))});
  }
  request.body = text;
  request.has_body = !request.body.empty();
  return request;
}

}  // namespace holdfast::fuzz

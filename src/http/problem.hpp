// Owns: what is wrong with a request as status, code and sentence, and how every refusal of the
// engine and every exception reads to a client.
// Must never: show a node's text, a file, a token or an exception's words.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include <holdfast/engine/engine.hpp>

#include "http/message.hpp"

namespace holdfast::http {

/// `code` is for programs and never changes its meaning; `detail` is one sentence for people.
struct Problem {
  unsigned status = 500;
  std::string_view code;
  std::string detail;
  int retry_after_s = 0;  ///< 0: not worth repeating as it is

  bool operator==(const Problem&) const = default;
};

/// A refusal of the engine or of a payment method. An error of any other kind is a bug: 500.
Problem problem_of(const Error& error);

/// What an exception means for the client; `known` is false for one that is a bug.
struct Broken {
  Problem problem;
  bool known = false;
  std::string what;  ///< for the log only
};
Broken problem_of(const std::exception_ptr& thrown);

Problem internal_error(std::string_view request_id);

/// {"error": code, "detail": sentence}, with Retry-After where it helps.
Response response_of(const Problem& problem);

/// A client's own text inside a sentence: quoted, at most 64 characters, printable ASCII only.
std::string shown(std::string_view text);

}  // namespace holdfast::http

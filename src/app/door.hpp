// Owns: the two doors of the verbs that work on a store: directly while no engine owns it, or
// through a running server with a token of scope ops from the environment variable HOLDFAST_TOKEN.
// Must never: print the token.
#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "app/verbs.hpp"
#include "http/client.hpp"

namespace holdfast::app {

/// The running server's answer, parsed; or the exit code, with a sentence on stderr.
struct Asked {
  int code = exit_done;
  boost::json::value body;
};
/// A POST gets an Idempotency-Key of its own.
Asked ask(const std::string& server, http::ClientRequest request);

/// A refusal as a sentence on stderr.
int refused(const std::string& sentence);

/// Who signs what is done at the store itself: the user's name, or "uid 1000".
std::string os_user();

/// One line, or indented for people.
void print_json(const boost::json::value& value, bool one_line);

}  // namespace holdfast::app

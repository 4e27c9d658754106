// Owns: the verbs of the command line, each a function from its options to an exit code.
// Exit codes: 0 done, 1 findings or a refusal, 2 bad options or configuration, 3 the environment
// (a store that is locked, damaged or unreadable; a server that does not answer).
#pragma once

#include <string>
#include <vector>

namespace holdfast::app {

inline constexpr int exit_done = 0;
inline constexpr int exit_refused = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_environment = 3;

/// Which store a verb works on: a file, or the one a configuration names.
struct StoreChoice {
  std::string store;
  std::string config;
};

int serve(const std::string& config_path);
int check_config(const std::string& config_path);

/// The journal's hash chain, legs and projection; names the first broken sequence number.
int ledger_verify(const StoreChoice& from, bool json);
/// The invariants of a store; with `chain`, every settled payment against the node as well.
int audit(const StoreChoice& from, bool chain, bool json);

/// How the key verbs reach the store: directly when no engine owns it, else through `server` with a
/// token of scope ops from the environment variable HOLDFAST_TOKEN.
struct KeysChoice {
  StoreChoice from;
  std::string server;
};
int keys_add(const KeysChoice& from, const std::string& name,
             const std::vector<std::string>& scopes, bool json);
int keys_list(const KeysChoice& from, bool json);
int keys_revoke(const KeysChoice& from, const std::string& name);

}  // namespace holdfast::app

// Owns: the verbs of the command line, each a function from its options to an exit code.
// Exit codes: 0 done, 1 findings or a refusal, 2 bad options or configuration, 3 the environment
// (a store that is locked, damaged or unreadable; a server that does not answer).
#pragma once

#include <cstdint>
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

/// How a verb reaches the store: directly when no engine owns it (reading: also beside one), else
/// through `server` with a token of scope ops from the environment variable HOLDFAST_TOKEN.
struct Door {
  StoreChoice from;
  std::string server;
};
int keys_add(const Door& from, const std::string& name, const std::vector<std::string>& scopes,
             bool json);
int keys_list(const Door& from, bool json);
int keys_revoke(const Door& from, const std::string& name);

/// The parked jobs; `all`: with those that were redriven or dropped.
int dlq_list(const Door& door, bool all, bool json);
int dlq_show(const Door& door, std::int64_t number, bool json);
/// Both are signed with the key's name, or with the user's at the store itself.
int dlq_redrive(const Door& door, std::int64_t number, const std::string& reason);
int dlq_drop(const Door& door, std::int64_t number, const std::string& reason);

int review_list(const Door& door, bool json);
int review_show(const Door& door, const std::string& id, bool json);
/// These two read the chain, so they need a running server.
struct ResolveChoice {
  std::string id;
  std::string as;
  std::string tx_hash;
  std::vector<std::string> consumers;
  std::string reason;
};
int review_resolve(const std::string& server, const ResolveChoice& wanted);
int review_abandon(const std::string& server, const std::string& id, const std::string& reason);

/// The sending accounts; the chain's own counts only through a server.
int accounts_list(const Door& door, bool json);
/// These need the engine that runs, so a server.
int accounts_reconcile(const std::string& server, const std::string& chain,
                       const std::string& address);
int accounts_adopt(const std::string& server, const std::string& chain, const std::string& address,
                   const std::string& reason);
int chains_list(const std::string& server, bool json);
int chains_acknowledge(const std::string& server, const std::string& chain,
                       const std::string& reason);

}  // namespace holdfast::app

// Owns: the command line: which verb, which options. The verbs themselves are functions
// (verbs.hpp).
#include <cstdio>
#include <exception>

#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include <holdfast/sqlite/sqlite.hpp>

#include "app/verbs.hpp"

namespace {

using namespace holdfast::app;

void choose_store(CLI::App& verb, StoreChoice& from) {
  auto* const config =
      verb.add_option("--config", from.config, "the configuration that names the store");
  auto* const store = verb.add_option("--store", from.store, "the store's file");
  config->excludes(store);
}

bool is_chosen(const StoreChoice& from) { return !from.store.empty() || !from.config.empty(); }

int run(int argc, char** argv) {
  CLI::App app{"holdfast: authorised payments, each moved at most once"};
  app.set_version_flag("--version", std::string("holdfast ") + HOLDFAST_VERSION);
  app.require_subcommand(1);
  StoreChoice from;
  KeysChoice keys_from;
  std::string config;
  std::string name;
  std::vector<std::string> scopes;
  bool json = false;
  bool chain = false;

  auto* const serve_verb = app.add_subcommand("serve", "run the engine and its HTTP face");
  serve_verb->add_option("--config", config, "the configuration file")->required();
  auto* const check_verb =
      app.add_subcommand("check-config", "name every problem of a configuration");
  check_verb->add_option("--config,FILE", config, "the configuration file")->required();

  auto* const ledger_verb = app.add_subcommand("ledger", "the double-entry journal");
  ledger_verb->require_subcommand(1);
  auto* const verify_verb =
      ledger_verb->add_subcommand("verify", "walk the hash chain, the legs and the balances");
  choose_store(*verify_verb, from);
  verify_verb->add_flag("--json", json, "one JSON object");

  auto* const audit_verb = app.add_subcommand("audit", "check a store's invariants");
  choose_store(*audit_verb, from);
  audit_verb->add_flag("--chain", chain, "and every settled payment against the node");
  audit_verb->add_flag("--json", json, "one JSON object");

  auto* const keys_verb = app.add_subcommand("keys", "API keys");
  keys_verb->require_subcommand(1);
  auto* const add_verb = keys_verb->add_subcommand("add", "make a key; prints its token once");
  auto* const list_verb = keys_verb->add_subcommand("list", "names, scopes and states");
  auto* const revoke_verb = keys_verb->add_subcommand("revoke", "end a key");
  for (CLI::App* const verb : {add_verb, list_verb, revoke_verb}) {
    choose_store(*verb, keys_from.from);
    verb->add_option("--server", keys_from.server,
                     "a running server (http://host:port); the token is in HOLDFAST_TOKEN");
  }
  add_verb->add_option("NAME", name, "also the caller's id")->required();
  add_verb->add_option("--scope", scopes, "pay, payout, ops or x402; may be repeated")->required();
  add_verb->add_flag("--json", json, "one JSON object");
  list_verb->add_flag("--json", json, "a JSON list");
  revoke_verb->add_option("NAME", name, "the key's name")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_done : exit_usage;
  }

  if (serve_verb->parsed()) return serve(config);
  if (check_verb->parsed()) return check_config(config);
  const StoreChoice& chosen = keys_verb->parsed() ? keys_from.from : from;
  if (!is_chosen(chosen) && keys_from.server.empty()) {
    std::fputs("holdfast: --config or --store is needed\n", stderr);
    return exit_usage;
  }
  if (verify_verb->parsed()) return ledger_verify(from, json);
  if (audit_verb->parsed()) return audit(from, chain, json);
  if (add_verb->parsed()) return keys_add(keys_from, name, scopes, json);
  if (list_verb->parsed()) return keys_list(keys_from, json);
  return keys_revoke(keys_from, name);
}

}  // namespace

int main(int argc, char** argv) {
  holdfast::sqlite::stop_counting_memory();
  // A store holds payers' signatures: for its owner alone.
  ::umask(0077);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "holdfast: %s\n", error.what());
    return exit_environment;
  }
}

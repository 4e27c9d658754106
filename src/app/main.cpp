// Owns: the command line: which verb, which options. The verbs themselves are functions
// (verbs.hpp).
#include <cstdio>
#include <exception>
#include <functional>

#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include <holdfast/sqlite/sqlite.hpp>

#include "app/verbs.hpp"

namespace {

using namespace holdfast::app;

/// What the options fill; the verbs share them, for one verb runs.
struct Given {
  Door door;
  std::string config;
  std::string name;
  std::string chain_id;
  std::vector<std::string> scopes;
  std::int64_t number = 0;
  ResolveChoice resolve;
  std::string reason;
  bool json = false;
  bool chain = false;
  bool all = false;
};

/// A verb, and what it does when it was the one.
struct Verb {
  CLI::App* app;
  std::function<int()> run;
  enum class Needs { nothing, file, store, store_or_server } needs = Needs::nothing;
};
using Verbs = std::vector<Verb>;

constexpr const char* server_help =
    "a running server (http://host:port); the token is in HOLDFAST_TOKEN";

void choose_store(CLI::App& verb, StoreChoice& from) {
  auto* const config =
      verb.add_option("--config", from.config, "the configuration that names the store");
  auto* const store = verb.add_option("--store", from.store, "the store's file");
  config->excludes(store);
}

void choose_door(CLI::App& verb, Door& door) {
  choose_store(verb, door.from);
  verb.add_option("--server", door.server, server_help)
      ->excludes(verb.get_option("--config"))
      ->excludes(verb.get_option("--store"));
}

/// One word at a time: what follows it may be the verb's own NAME or ID.
void add_list(CLI::App& verb, const char* name, std::vector<std::string>& to, const char* help,
              bool required) {
  verb.add_option(name, to, help)->required(required)->allow_extra_args(false);
}

CLI::App* group(CLI::App& app, const char* name, const char* help) {
  auto* const out = app.add_subcommand(name, help);
  out->require_subcommand(1);
  return out;
}

void add_engine(CLI::App& app, Given& given, Verbs& verbs) {
  auto* const serve_verb = app.add_subcommand("serve", "run the engine and its HTTP face");
  serve_verb->add_option("--config", given.config, "the configuration file")->required();
  auto* const check = app.add_subcommand("check-config", "name every problem of a configuration");
  auto* const file = check->add_option("FILE", given.config, "the configuration file");
  check->add_option("--config", given.config, "the same")->excludes(file);
  auto* const ledger = group(app, "ledger", "the double-entry journal");
  auto* const verify =
      ledger->add_subcommand("verify", "walk the hash chain, the legs and the balances");
  choose_store(*verify, given.door.from);
  verify->add_flag("--json", given.json, "one JSON object");
  auto* const audit_verb = app.add_subcommand("audit", "check a store's invariants");
  choose_store(*audit_verb, given.door.from);
  audit_verb->add_flag("--chain", given.chain, "and every settled payment against the node");
  audit_verb->add_flag("--json", given.json, "one JSON object");
  verbs.push_back({serve_verb, [&given] { return serve(given.config); }});
  verbs.push_back({check, [&given] { return check_config(given.config); }, Verb::Needs::file});
  verbs.push_back({verify, [&given] { return ledger_verify(given.door.from, given.json); },
                   Verb::Needs::store});
  verbs.push_back({audit_verb, [&given] { return audit(given.door.from, given.chain, given.json); },
                   Verb::Needs::store});
}

void add_keys(CLI::App& app, Given& given, Verbs& verbs) {
  auto* const keys = group(app, "keys", "API keys");
  auto* const add = keys->add_subcommand("add", "make a key; prints its token once");
  auto* const list = keys->add_subcommand("list", "names, scopes and states");
  auto* const revoke = keys->add_subcommand("revoke", "end a key");
  for (CLI::App* const verb : {add, list, revoke}) choose_door(*verb, given.door);
  add->add_option("NAME", given.name, "also the caller's id")->required();
  add_list(*add, "--scope", given.scopes, "pay, payout, ops or x402; may be repeated", true);
  add->add_flag("--json", given.json, "one JSON object");
  list->add_flag("--json", given.json, "a JSON list");
  revoke->add_option("NAME", given.name, "the key's name")->required();
  const auto needs = Verb::Needs::store_or_server;
  verbs.push_back({add,
                   [&given] { return keys_add(given.door, given.name, given.scopes, given.json); },
                   needs});
  verbs.push_back({list, [&given] { return keys_list(given.door, given.json); }, needs});
  verbs.push_back({revoke, [&given] { return keys_revoke(given.door, given.name); }, needs});
}

void add_dlq(CLI::App& app, Given& given, Verbs& verbs) {
  auto* const dlq = group(app, "dlq", "jobs that were parked");
  auto* const list = dlq->add_subcommand("list", "the parked jobs, newest first");
  auto* const show = dlq->add_subcommand("show", "one of them");
  auto* const redrive = dlq->add_subcommand("redrive", "queue the job again, signed");
  auto* const drop = dlq->add_subcommand("drop", "sign it away; the payment is left as it is");
  for (CLI::App* const verb : {list, show, redrive, drop}) choose_door(*verb, given.door);
  for (CLI::App* const verb : {show, redrive, drop}) {
    verb->add_option("NUMBER", given.number, "the dead letter's number")->required();
  }
  list->add_flag("--all", given.all, "also those that were redriven or dropped");
  for (CLI::App* const verb : {list, show})
    verb->add_flag("--json", given.json, "one line of JSON");
  redrive->add_option("--reason", given.reason, "kept in the history");
  drop->add_option("--reason", given.reason, "kept in the history")->required();
  const auto needs = Verb::Needs::store_or_server;
  verbs.push_back({list, [&given] { return dlq_list(given.door, given.all, given.json); }, needs});
  verbs.push_back(
      {show, [&given] { return dlq_show(given.door, given.number, given.json); }, needs});
  verbs.push_back(
      {redrive, [&given] { return dlq_redrive(given.door, given.number, given.reason); }, needs});
  verbs.push_back(
      {drop, [&given] { return dlq_drop(given.door, given.number, given.reason); }, needs});
}

void add_review(CLI::App& app, Given& given, Verbs& verbs) {
  auto* const review = group(app, "review", "payments that wait for a person or for evidence");
  auto* const list = review->add_subcommand("list", "all of them, newest first");
  auto* const show = review->add_subcommand("show", "one, with what was found of it");
  auto* const resolve = review->add_subcommand("resolve", "end it, by a proof the engine reads");
  auto* const abandon = review->add_subcommand("abandon", "want out; the rules decide");
  for (CLI::App* const verb : {list, show}) {
    choose_door(*verb, given.door);
    verb->add_flag("--json", given.json, "one line of JSON");
  }
  for (CLI::App* const verb : {resolve, abandon}) {
    verb->add_option("--server", given.door.server, server_help)->required();
    verb->add_option("--reason", given.resolve.reason, "kept in the history")->required();
  }
  for (CLI::App* const verb : {show, resolve, abandon}) {
    verb->add_option("ID", given.resolve.id, "the payment's id")->required();
  }
  resolve->add_option("--as", given.resolve.as, "confirming, settled, failed, retry, rebroadcast")
      ->required();
  resolve->add_option("--tx", given.resolve.tx_hash, "the transaction that moved the payment");
  add_list(*resolve, "--consumer", given.resolve.consumers,
           "a transaction that used one of its numbers; may be repeated", false);
  const auto needs = Verb::Needs::store_or_server;
  verbs.push_back({list, [&given] { return review_list(given.door, given.json); }, needs});
  verbs.push_back(
      {show, [&given] { return review_show(given.door, given.resolve.id, given.json); }, needs});
  verbs.push_back({resolve, [&given] { return review_resolve(given.door.server, given.resolve); }});
  verbs.push_back({abandon, [&given] {
                     return review_abandon(given.door.server, given.resolve.id,
                                           given.resolve.reason);
                   }});
}

void add_accounts(CLI::App& app, Given& given, Verbs& verbs) {
  auto* const accounts = group(app, "accounts", "the sending accounts");
  auto* const list =
      accounts->add_subcommand("list", "open numbers, and why one takes no payments");
  auto* const reconcile =
      accounts->add_subcommand("reconcile", "derive its open numbers again from the chain");
  auto* const adopt =
      accounts->add_subcommand("adopt", "answer for what used it without this store");
  choose_door(*list, given.door);
  list->add_flag("--json", given.json, "one line of JSON");
  for (CLI::App* const verb : {reconcile, adopt}) {
    verb->add_option("--server", given.door.server, server_help)->required();
    verb->add_option("CHAIN", given.chain_id, "its chain")->required();
    verb->add_option("ADDRESS", given.name, "its address")->required();
  }
  adopt->add_option("--reason", given.reason, "kept in the history")->required();
  verbs.push_back({list, [&given] { return accounts_list(given.door, given.json); },
                   Verb::Needs::store_or_server});
  verbs.push_back({reconcile, [&given] {
                     return accounts_reconcile(given.door.server, given.chain_id, given.name);
                   }});
  verbs.push_back({adopt, [&given] {
                     return accounts_adopt(given.door.server, given.chain_id, given.name,
                                           given.reason);
                   }});
}

void add_chains(CLI::App& app, Given& given, Verbs& verbs) {
  auto* const chains = group(app, "chains", "the chains of a running server");
  auto* const list = chains->add_subcommand("list", "usable or not, and why");
  auto* const acknowledge =
      chains->add_subcommand("acknowledge", "go on with one that took back finality");
  for (CLI::App* const verb : {list, acknowledge}) {
    verb->add_option("--server", given.door.server, server_help)->required();
  }
  list->add_flag("--json", given.json, "one line of JSON");
  acknowledge->add_option("CHAIN", given.name, "the chain's id")->required();
  acknowledge->add_option("--reason", given.reason, "kept in the history")->required();
  verbs.push_back({list, [&given] { return chains_list(given.door.server, given.json); }});
  verbs.push_back({acknowledge, [&given] {
                     return chains_acknowledge(given.door.server, given.name, given.reason);
                   }});
}

/// What a verb that needs one was not given, or null.
const char* missing(Verb::Needs needs, const Given& given) {
  const StoreChoice& from = given.door.from;
  const bool has_store = !from.store.empty() || !from.config.empty();
  switch (needs) {
    case Verb::Needs::nothing: return nullptr;
    case Verb::Needs::file: return given.config.empty() ? "the FILE to check is needed" : nullptr;
    case Verb::Needs::store: return has_store ? nullptr : "--config or --store is needed";
    case Verb::Needs::store_or_server: break;
  }
  const bool has_any = has_store || !given.door.server.empty();
  return has_any ? nullptr : "--config, --store or --server is needed";
}

/// A word that nothing here expects is told first: mostly the option or verb that is said to be
/// missing was to be that word.
int refuse_usage(const CLI::App& app, const CLI::ParseError& error) {
  std::string said;
  const std::vector<std::string> words = app.remaining(true);
  if (!words.empty()) said = "'" + words.front() + "' is not expected here";
  if (words.empty() || error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    std::string why = error.what();
    if (why.starts_with("A ")) why[0] = 'a';      // "A subcommand is required"
    if (why.starts_with("Could ")) why[0] = 'c';  // "Could not convert: …"
    said += (said.empty() ? "" : "; ") + why;
  }
  std::fprintf(stderr, "holdfast: %s (see --help)\n", said.c_str());
  return exit_usage;
}

int run(int argc, char** argv) {
  CLI::App app{"holdfast: authorised payments, each moved at most once"};
  app.set_version_flag("--version", std::string("holdfast ") + HOLDFAST_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 findings or a refusal, 2 bad options or configuration, 3 the\n"
      "environment: a store that is locked or damaged, a server that does not answer.");
  Given given;
  Verbs verbs;
  for (const auto add : {add_engine, add_keys, add_dlq, add_review, add_accounts, add_chains}) {
    add(app, given, verbs);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : refuse_usage(app, error);
  }
  for (const Verb& verb : verbs) {
    if (!verb.app->parsed()) continue;
    const char* const why = missing(verb.needs, given);
    if (why == nullptr) return verb.run();
    std::fprintf(stderr, "holdfast: %s\n", why);
    return exit_usage;
  }
  return exit_usage;
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

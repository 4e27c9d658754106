// The built binary, as people run it: what each verb prints, and its exit code.
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include <holdfast/sqlite/sqlite.hpp>

#include "process.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace holdfast;
using test::Ended;
using test::run;
using test::TempFolder;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The path of a store with one key in it.
std::string new_store(const TempFolder& folder) {
  const std::string path = folder / "pay.db";
  REQUIRE(run({"keys", "add", "first", "--scope", "pay", "--store", path}).code == 0);
  return path;
}

/// Every verb that opens a store, reading or writing.
std::vector<std::vector<std::string>> verbs_on(const std::string& path) {
  return {{"keys", "add", "shop", "--scope", "pay", "--store", path},
          {"keys", "list", "--store", path},
          {"keys", "revoke", "first", "--store", path},
          {"ledger", "verify", "--store", path},
          {"audit", "--store", path}};
}

}  // namespace

TEST_CASE("cli: --version prints name and version") {
  const Ended ended = run({"--version"});
  CHECK(ended.code == 0);
  CHECK(ended.out.starts_with("holdfast 0."));
  CHECK(ended.err.empty());
}

TEST_CASE("cli: --help is no error and lists the verbs") {
  const Ended ended = run({"--help"});
  CHECK(ended.code == 0);
  for (const char* verb : {"serve", "check-config", "ledger", "audit", "keys"}) {
    CHECK(contains(ended.out, verb));
  }
}

TEST_CASE("cli: bad options are exit code 2 and a sentence") {
  const std::vector<std::vector<std::string>> bad = {
      {},
      {"pay"},
      {"serve"},
      {"serve", "--config"},
      {"check-config"},
      {"ledger"},
      {"keys"},
      {"keys", "add", "--store", "x", "--scope", "pay"},
      {"keys", "add", "shop", "--store", "x"},
      {"keys", "revoke", "--store", "x"},
      {"audit"},
      {"audit", "--store", "x", "--config", "y"},
      {"audit", "--store", "x", "--colour"},
      {"ledger", "verify"},
      {"keys", "list"}};
  for (const auto& arguments : bad) {
    CAPTURE(arguments.size());
    const Ended ended = run(arguments);
    CHECK(ended.code == 2);
    CHECK_FALSE(ended.err.empty());
    CHECK(ended.out.empty());
  }
}

TEST_CASE("cli: a usage that is refused says which word was not expected, or what is missing") {
  struct Row {
    std::vector<std::string> arguments;
    std::string said;
  };
  const std::vector<Row> rows = {
      {{}, "a subcommand is required"},
      {{"serv"}, "'serv' is not expected here; a subcommand is required"},
      {{"serve", "x.toml"}, "'x.toml' is not expected here; --config is required"},
      {{"ledger", "verify", "--server", "u"}, "'--server' is not expected here"},
      {{"keys", "add", "--scope", "pay", "--store", "x"}, "NAME is required"},
      {{"dlq", "show", "one", "--store", "x"}, "could not convert: NUMBER = one"},
      {{"check-config"}, "the FILE to check is needed"},
      {{"audit"}, "--config or --store is needed"},
      {{"dlq", "list"}, "--config, --store or --server is needed"},
      {{"keys", "list", "--store", "x", "--server", "u"}, "excludes"},
      {{"keys", "list", "--server", "127.0.0.1:8402"},
       "--server: the server must be given as http://host:port"}};
  for (const Row& row : rows) {
    const Ended ended = run(row.arguments, {.environment = {"HOLDFAST_TOKEN=hf_x"}});
    CAPTURE(ended.err);
    CHECK(ended.code == 2);
    CHECK(ended.err.starts_with("holdfast: "));
    CHECK(contains(ended.err, row.said));
  }
}

TEST_CASE("cli: an option that may be repeated leaves the word after its value alone") {
  const TempFolder folder;
  const std::string path = folder / "pay.db";
  CHECK(run({"keys", "add", "--scope", "pay", "--scope", "ops", "shop", "--store", path}).code ==
        0);
  CHECK(contains(run({"keys", "list", "--store", path}).out, "shop  pay,ops  live"));
}

TEST_CASE("cli: check-config looks at the variables that are set, and notes those that are not") {
  const std::string shipped = HOLDFAST_SOURCE_DIR "/conf/holdfast.toml";
  const auto with = [&](const std::string& value) {
    return run({"check-config", shipped}, {.environment = {"HOLDFAST_KEY=" + value}});
  };
  const Ended unset = with("");
  CHECK(unset.code == 0);
  CHECK(unset.out == shipped +
                         ": all well\nnote: the variable HOLDFAST_KEY, which serve needs, is "
                         "not set here\n");
  CHECK(with(std::string(64, '4')).out == shipped + ": all well\n");
  const Ended bad = with("s3cr3t");
  CHECK(bad.code == 2);
  CHECK(contains(bad.err, "the environment variable HOLDFAST_KEY does not hold one key"));
  CHECK_FALSE(contains(bad.err, "s3cr3t"));
}

TEST_CASE("cli: check-config passes the shipped file") {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"check-config", HOLDFAST_SOURCE_DIR "/conf/holdfast.toml"},
           {"check-config", "--config", HOLDFAST_SOURCE_DIR "/conf/holdfast.toml"}}) {
    const Ended ended = run(arguments);
    CHECK(ended.code == 0);
    CHECK(ended.out.starts_with(HOLDFAST_SOURCE_DIR "/conf/holdfast.toml: all well\n"));
    CHECK(ended.err.empty());
  }
}

TEST_CASE("cli: check-config looks at key files as a start does, and tells nothing of them") {
  const TempFolder folder;
  const std::string path = folder / "pay.toml";
  const std::string key = folder / "account.key";
  std::ofstream(path) << "[[chain]]\nid = \"eip155:1\"\nrpc_url = \"http://127.0.0.1:1\"\n"
                         "[[chain.asset]]\naddress = \"native\"\n[[chain.account]]\n"
                         "key_file = \""
                      << key << "\"\n";
  const auto said = [&](const std::string& part) {
    const Ended ended = run({"check-config", path});
    CHECK(ended.code == 2);
    CHECK(ended.out.empty());
    CHECK_MESSAGE(ended.err.find(part) != std::string::npos, ended.err);
    CHECK(ended.err.find("4a4a") == std::string::npos);
  };
  said("account.key");
  std::ofstream(key) << std::string(32, '4') + "4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a" << "\n";
  std::filesystem::permissions(key, std::filesystem::perms(0644));
  said("account.key");
  std::filesystem::permissions(key, std::filesystem::perms(0600));
  CHECK(run({"check-config", path}).code == 0);
  std::ofstream(key) << "4a4a\n";
  said("account.key");
}

TEST_CASE("cli: check-config and serve name every problem, and none of the values") {
  const TempFolder folder;
  const std::string path = folder / "bad.toml";
  std::ofstream(path) << "[http]\nport = 99999\ncolour = \"red\"\n[[chain]]\nid = \"eip155:1\"\n"
                         "rpc_url = \"ftp://user:s3cr3t@host/s3cr3t\"\n[[chain.asset]]\n"
                         "address = \"native\"\n[[chain.account]]\nkey_env = \"A\"\n"
                         "key_file = \"s3cr3t\"\n";
  for (const char* verb : {"check-config", "serve"}) {
    const Ended ended = run({verb, "--config", path});
    CHECK(ended.code == 2);
    CHECK(ended.out.empty());
    const std::vector<std::string> expected = {
        ":2: http.port must be from 0 to 65535\n",
        ":3: http.colour is no key of this configuration\n",
        ":6: chain.1.rpc_url cannot be used: the RPC URL must begin with http:// or https://\n",
        ":11: chain.1.account.1.key_file or key_env is needed, and not both\n"};
    std::string all;
    for (const std::string& one : expected) all.append(path).append(one);
    CHECK(ended.err == all);
  }
}

TEST_CASE("cli: a configuration that cannot be read is exit code 2, for every verb") {
  const TempFolder folder;
  const std::string missing = folder / "none.toml";
  const std::string broken = folder / "broken.toml";
  std::ofstream(broken) << "<html>\n";
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
           {"check-config"}, {"serve"}, {"audit"}, {"ledger", "verify"}, {"keys", "list"}}) {
    std::vector<std::string> arguments = verb;
    arguments.insert(arguments.end(), {"--config", missing});
    Ended ended = run(arguments);
    CHECK(ended.code == 2);
    CHECK(ended.err == missing + ": the file cannot be opened: No such file or directory\n");
    arguments.back() = broken;
    ended = run(arguments);
    CHECK(ended.code == 2);
    CHECK(ended.err.starts_with(broken + ": line 1: "));
  }
}

TEST_CASE("cli: keys are added, listed and revoked; the token is shown once") {
  const TempFolder folder;
  const std::string path = folder / "pay.db";
  const Ended added =
      run({"keys", "add", "shop", "--scope", "pay", "--scope", "payout", "--store", path});
  CHECK(added.code == 0);
  REQUIRE(added.out.size() == 47);  // "hf_", 43 characters and the end of the line
  CHECK(added.out.starts_with("hf_"));
  CHECK(contains(added.err, "Key \"shop\" is added. Its token is shown this once."));
  const std::string token = added.out.substr(0, 46);

  const Ended ops = run({"keys", "add", "desk", "--scope", "ops", "--store", path, "--json"});
  CHECK(ops.code == 0);
  CHECK(contains(ops.out, R"({"name":"desk","token":"hf_)"));

  const Ended again = run({"keys", "add", "shop", "--scope", "ops", "--store", path});
  CHECK(again.code == 1);
  CHECK(again.out.empty());
  CHECK(contains(again.err, "shop"));

  const Ended listed = run({"keys", "list", "--store", path});
  CHECK(listed.code == 0);
  CHECK(contains(listed.out, "pay,payout"));
  CHECK(contains(listed.out, "live"));
  CHECK_FALSE(contains(listed.out, token));
  CHECK_FALSE(contains(test::content_of(path), token));

  const Ended revoked = run({"keys", "revoke", "shop", "--store", path});
  CHECK(revoked.code == 0);
  CHECK(revoked.err == "Key \"shop\" is revoked.\n");
  const Ended json = run({"keys", "list", "--store", path, "--json"});
  CHECK(contains(json.out, R"({"name":"shop","scopes":["pay","payout"],"state":"revoked"})"));
  CHECK(contains(json.out, R"({"name":"desk","scopes":["ops"],"state":"live"})"));

  const Ended unknown = run({"keys", "revoke", "nobody", "--store", path});
  CHECK(unknown.code == 1);
  CHECK(unknown.err.starts_with("holdfast: "));
  // A name is its caller's id: somebody else must not get it, and with it the payments.
  CHECK(run({"keys", "add", "shop", "--scope", "pay", "--store", path}).code == 1);
}

TEST_CASE("cli: a key's name and scopes are checked before a store is made") {
  const TempFolder folder;
  const std::string path = folder / "pay.db";
  for (const std::string& name : {std::string("Shop"), std::string("a b"), std::string(""),
                                  std::string(65, 'a'), std::string("-a\n")}) {
    CAPTURE(name);
    CHECK(run({"keys", "add", "--scope", "pay", "--store", path, "--", name}).code == 2);
  }
  const Ended scope = run({"keys", "add", "shop", "--scope", "admin", "--store", path});
  CHECK(scope.code == 2);
  CHECK(scope.err == "holdfast: --scope: must be one of pay, payout, ops, x402\n");
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("cli: the ledger and the audit of a new store are all well") {
  const TempFolder folder;
  const std::string path = new_store(folder);
  const Ended ledger = run({"ledger", "verify", "--store", path});
  CHECK(ledger.code == 0);
  CHECK(contains(ledger.out, "all well"));
  const Ended audit = run({"audit", "--store", path});
  CHECK(audit.code == 0);
  CHECK(contains(audit.out, "all well"));
  for (const std::vector<std::string>& verb :
       std::vector<std::vector<std::string>>{{"ledger", "verify"}, {"audit"}}) {
    std::vector<std::string> arguments = verb;
    arguments.insert(arguments.end(), {"--store", path, "--json"});
    const Ended json = run(arguments);
    CHECK(json.code == 0);
    CHECK(contains(json.out, R"("good":true)"));
    CHECK(contains(json.out, R"("intents":0)"));
    CHECK(contains(json.out, R"("findings":[])"));
  }
}

TEST_CASE("cli: reading a store that is not there makes none") {
  const TempFolder folder;
  const std::string path = folder / "none.db";
  for (const auto& verb :
       {std::vector<std::string>{"audit"}, {"ledger", "verify"}, {"keys", "list"}}) {
    std::vector<std::string> arguments = verb;
    arguments.insert(arguments.end(), {"--store", path});
    const Ended ended = run(arguments);
    CHECK(ended.code == 3);
    CHECK(contains(ended.err, path));
    CHECK_FALSE(std::filesystem::exists(path));
  }
}

TEST_CASE("cli: a store with an owner is read beside it, and written by nobody else") {
  const TempFolder folder;
  const std::string path = new_store(folder);
  const auto owner = sqlite::open_sqlite({.path = path})->open_writer();
  const std::string sentence = "holdfast: the store pay.db is in use by process " +
                               std::to_string(getpid()) +
                               ", which holds pay.db.lock; use --server URL\n";
  const Ended add = run({"keys", "add", "shop", "--scope", "pay", "--store", path});
  CHECK(add.code == 3);
  CHECK(add.err == sentence);
  CHECK(add.out.empty());
  CHECK(run({"keys", "revoke", "first", "--store", path}).err == sentence);
  CHECK(run({"keys", "list", "--store", path}).code == 0);
  CHECK(run({"audit", "--store", path}).code == 0);
  CHECK(run({"ledger", "verify", "--store", path}).code == 0);
}

TEST_CASE("cli: a store that may not be written is told in a sentence") {
  namespace fs = std::filesystem;
  const TempFolder folder;
  const std::string path = new_store(folder);
  fs::permissions(path, fs::perms(0444));
  fs::permissions(path + ".lock", fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0555));
  const Ended ended =
      run({"keys", "add", "shop", "--scope", "pay", "--store", path}, {.as_nobody = true});
  fs::permissions(folder.path(), fs::perms(0700));
  CHECK(ended.code == 3);
  CHECK(contains(ended.err, "holdfast: the store pay.db is read-only: "));
}

TEST_CASE("cli: a store from the future is refused by every verb, and left as it is") {
  const TempFolder folder;
  const std::string path = new_store(folder);
  {
    // The schema version (user_version) is the big-endian word at byte 60 of the header.
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(60).write("\0\0\x03\xe7", 4);
  }
  const std::string before = test::content_of(path);
  for (const auto& arguments : verbs_on(path)) {
    const Ended ended = run(arguments);
    CHECK(ended.code == 3);
    CHECK(contains(ended.err, "the store pay.db has schema version 999, from a newer holdfast"));
  }
  CHECK(test::content_of(path) == before);
}

TEST_CASE("cli: a file that is no store is refused by every verb, and left as it is") {
  const TempFolder folder;
  const std::string path = folder / "pay.db";
  const std::string garbage(5'000, 'g');
  std::ofstream(path) << garbage;
  for (const auto& arguments : verbs_on(path)) {
    const Ended ended = run(arguments);
    CHECK(ended.code == 3);
    CHECK(contains(ended.err, "the store pay.db is not a holdfast store"));
  }
  CHECK(test::content_of(path) == garbage);
}

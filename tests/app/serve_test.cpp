// `holdfast serve` on a day when nothing is right: nodes that are down, wrong or no nodes, stores
// and ports that are taken. It starts where it can, says why it cannot, and drains when told to.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <boost/json/parse.hpp>

#include <holdfast/sqlite/sqlite.hpp>

#include "home.hpp"

namespace {

using namespace holdfast;
using test::Ended;
using test::Home;
using test::Process;
using test::Server;
using test::TempFolder;
using test::ToyNode;

const std::string& key = test::account_key;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void check_not_ready(Server& server) {
  const test::HttpAnswer ready = server.get("/readyz");
  CHECK(ready.status == 503);
  CHECK(contains(ready.body, "the chain eip155:31337 is not usable"));
  CHECK(server.get("/healthz").status == 200);
}

}  // namespace

TEST_CASE("serve: a node that is down at the start does not stop it; it drains when told to") {
  const Home home("http://127.0.0.1:" + std::to_string(test::closed_port()) + "/v3/s3cr3t");
  Server server(home);
  check_not_ready(server);
  CHECK(contains(server.why(), "not sent"));
  const Ended ended = server.stop();
  CHECK(ended.code == 0);
  CHECK(contains(ended.err, "drained"));
  CHECK_FALSE(contains(ended.err, "s3cr3t"));
  CHECK_FALSE(contains(ended.err, key));
  CHECK(ended.out.empty());
}

TEST_CASE("serve: a node of another chain is not used, and both chains are named") {
  const ToyNode node(test::always("0x1"));
  const Home home(node.url());
  Server server(home);
  check_not_ready(server);
  const std::string why = server.why();
  CHECK(contains(why, "eip155:1,"));
  CHECK(contains(why, "eip155:31337"));
  CHECK(server.stop().code == 0);
}

TEST_CASE("serve: a proxy's page is no node") {
  const ToyNode node(test::html_page());
  const Home home(node.url());
  Server server(home);
  check_not_ready(server);
  const std::string why = server.why();
  CHECK(contains(why, "unknown"));
  CHECK_FALSE(contains(why, "<html>"));
  CHECK_FALSE(contains(why, "Welcome"));
  CHECK(server.stop(SIGINT).code == 0);
}

TEST_CASE("serve: while it runs, the store is read beside it and written through it") {
  const Home home("http://127.0.0.1:" + std::to_string(test::closed_port()));
  Server server(home);
  CHECK(test::run({"audit", "--config", home.config}).code == 0);
  CHECK(test::run({"ledger", "verify", "--config", home.config}).code == 0);

  const std::vector<std::string> add = {"keys", "add", "shop", "--scope", "pay"};
  std::vector<std::string> directly = add;
  directly.insert(directly.end(), {"--config", home.config});
  const Ended refused = test::run(directly);
  CHECK(refused.code == 3);
  CHECK(contains(refused.err, "in use by process " + std::to_string(server.pid())));
  CHECK(contains(refused.err, "; use --server URL\n"));

  std::vector<std::string> through = add;
  through.insert(through.end(), {"--server", server.url()});
  const Ended without_token = test::run(through);
  CHECK(without_token.code == 2);
  CHECK(contains(without_token.err, "HOLDFAST_TOKEN"));
  const Ended added = test::run(through, {.environment = {"HOLDFAST_TOKEN=" + home.token}});
  CHECK(added.code == 0);
  CHECK(added.out.starts_with("hf_"));
  const Ended foreign = test::run(
      through, {.environment = {"HOLDFAST_TOKEN=" + added.out.substr(0, added.out.size() - 1)}});
  CHECK(foreign.code == 1);
  CHECK_FALSE(contains(foreign.err, "hf_"));
  CHECK(contains(test::run({"keys", "list", "--config", home.config}).out, "shop"));

  Process second({"serve", "--config", home.config});
  const Ended taken = second.wait();
  CHECK(taken.code == 3);
  CHECK(contains(taken.err, "in use by process " + std::to_string(server.pid())));
  CHECK_FALSE(contains(taken.err, "--server"));
  CHECK(server.stop().code == 0);
  // What it added while it ran is there after it.
  CHECK(contains(test::run({"keys", "list", "--config", home.config}).out, "shop"));
}

TEST_CASE("serve: a start without a live key says so, for nobody could add one any more") {
  const Home home("http://127.0.0.1:" + std::to_string(test::closed_port()));
  const auto said = [&] {
    Server server(home);
    CHECK(server.get("/healthz").status == 200);
    const Ended ended = server.stop();
    CHECK(ended.code == 0);
    return ended.err;
  };
  CHECK_FALSE(contains(said(), "no_api_key"));
  CHECK(test::run({"keys", "revoke", "desk", "--config", home.config}).code == 0);
  CHECK(contains(said(), "no_api_key why=\"nothing under /v1 will be answered: stop, add "));
}

TEST_CASE("serve: a port that is taken is exit code 3 and a sentence with the address") {
  const ToyNode node(test::html_page());
  const std::string port = node.url().substr(node.url().rfind(':') + 1);
  const Home home(node.url(), "port = " + port);
  const Ended ended = test::run({"serve", "--config", home.config});
  CHECK(ended.code == 3);
  CHECK(contains(ended.err, "127.0.0.1"));
  CHECK(contains(ended.err, port));
}

TEST_CASE("serve: a store it cannot use is exit code 3 and a sentence") {
  const Home home("http://127.0.0.1:1");
  std::ofstream(home.folder / "pay.db") << std::string(5'000, 'g');
  const Ended ended = test::run({"serve", "--config", home.config});
  CHECK(ended.code == 3);
  CHECK(contains(ended.err, "the store pay.db is not a holdfast store"));
}

TEST_CASE("serve: a key that cannot be had is exit code 2, and no key is shown") {
  const Home home("http://127.0.0.1:1");
  const std::string file = home.folder / "account.key";

  SUBCASE("no file") { std::filesystem::remove(file); }
  SUBCASE("others may read the file") {
    std::filesystem::permissions(file, std::filesystem::perms(0644));
  }
  SUBCASE("no key in it") { std::ofstream(file) << key.substr(1) << "\n"; }
  SUBCASE("a digit is none") { std::ofstream(file) << key.substr(1) << "g\n"; }
  SUBCASE("zero is no key") { std::ofstream(file) << std::string(64, '0') << "\n"; }

  const Ended ended = test::run({"serve", "--config", home.config});
  CHECK(ended.code == 2);
  CHECK(contains(ended.err, "account.key"));
  CHECK_FALSE(contains(ended.err, key.substr(1)));
}

TEST_CASE("serve: a variable that is not set is named") {
  const TempFolder folder;
  const std::string config = folder / "holdfast.toml";
  const auto written = [&](const std::string& rpc, const std::string& account) {
    std::ofstream(config) << "[store]\npath = \"" << folder / "pay.db"
                          << "\"\n[http]\nport = 0\n[[chain]]\nid = \"eip155:31337\"\n"
                          << rpc << "\n[[chain.asset]]\naddress = \"native\"\n[[chain.account]]\n"
                          << account << "\n";
  };
  written("rpc_url = \"http://127.0.0.1:1\"", "key_env = \"HOLDFAST_TEST_KEY\"");
  const Ended no_key = test::run({"serve", "--config", config});
  CHECK(no_key.code == 2);
  CHECK(contains(no_key.err, "HOLDFAST_TEST_KEY"));

  const Ended bad_key = test::run({"serve", "--config", config},
                                  {.environment = {"HOLDFAST_TEST_KEY=" + key.substr(2)}});
  CHECK(bad_key.code == 2);
  CHECK(contains(bad_key.err, "HOLDFAST_TEST_KEY"));
  CHECK_FALSE(contains(bad_key.err, key.substr(2)));

  written("rpc_url_env = \"HOLDFAST_TEST_URL\"", "key_env = \"HOLDFAST_TEST_KEY\"");
  const Ended no_url =
      test::run({"serve", "--config", config}, {.environment = {"HOLDFAST_TEST_KEY=" + key}});
  CHECK(no_url.code == 2);
  CHECK(contains(no_url.err, "HOLDFAST_TEST_URL"));

  const Ended bad_url = test::run(
      {"serve", "--config", config},
      {.environment = {"HOLDFAST_TEST_KEY=" + key, "HOLDFAST_TEST_URL=ftp://u:s3cr3t@h/s3cr3t"}});
  CHECK(bad_url.code == 2);
  CHECK(contains(bad_url.err, "eip155:31337"));
  CHECK_FALSE(contains(bad_url.err, "s3cr3t"));
}

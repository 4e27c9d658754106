// Owns: a configuration with its store and key files, and a server that runs on it.
#pragma once

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <boost/json/parse.hpp>

#include "process.hpp"
#include "support/temp_folder.hpp"
#include "toy_node.hpp"

namespace holdfast::test {

// Anvil's second account: everybody's key, and here a mark to look for in what is printed.
inline const std::string account_key =
    "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

/// A folder with a configuration, a key file and a store with a key of scope ops.
struct Home {
  explicit Home(const std::string& rpc_url, const std::string& http = "port = 0") {
    namespace fs = std::filesystem;
    std::ofstream(folder / "account.key") << account_key << "\n";
    fs::permissions(folder / "account.key", fs::perms(0600));
    config = folder / "holdfast.toml";
    std::ofstream(config) << "[store]\npath = \"" << folder / "pay.db" << "\"\n[http]\n"
                          << http << "\n[[chain]]\nid = \"eip155:31337\"\nrpc_url = \"" << rpc_url
                          << "\"\npoll_ms = 50\n[[chain.asset]]\naddress = \"native\"\n"
                             "[[chain.account]]\nkey_file = \""
                          << folder / "account.key" << "\"\n";
    const Ended added = run({"keys", "add", "desk", "--scope", "ops", "--config", config});
    REQUIRE(added.code == 0);
    token = added.out.substr(0, added.out.size() - 1);
  }

  TempFolder folder;
  std::string config;
  std::string token;
};

/// A server that runs, and what it answers.
class Server {
 public:
  explicit Server(const Home& home)
      : token_(home.token), process_({"serve", "--config", home.config}) {
    const std::string line = process_.line_with(" serving ");
    const std::size_t at = line.find("port=");
    REQUIRE_MESSAGE(at != std::string::npos, process_.err());
    port_ = static_cast<std::uint16_t>(std::stoul(line.substr(at + 5)));
  }

  HttpAnswer get(const std::string& target) { return http_get(port_, target, token_); }
  /// Why the chain is not usable, once the node was asked.
  std::string why() {
    for (int i = 0; i < 3'000; ++i) {
      const auto body = boost::json::parse(get("/v1/chains").body);
      const auto& chain = body.at("chains").at(0);
      CHECK_FALSE(chain.at("usable").as_bool());
      const std::string why(chain.at("why").as_string());
      if (why != "not asked yet") return why;
    }
    return "never asked";
  }
  Ended stop(int signal = SIGTERM) {
    process_.signal(signal);
    return process_.wait();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  pid_t pid() const { return process_.pid(); }

 private:
  std::string token_;
  Process process_;
  std::uint16_t port_ = 0;
};

}  // namespace holdfast::test

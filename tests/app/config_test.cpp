// Every way a configuration can be wrong: what is said about it, where, and never its values.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "app/config.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::app;

constexpr std::string_view good = R"([[chain]]
id = "eip155:31337"
rpc_url = "http://127.0.0.1:8545"
[[chain.asset]]
address = "native"
[[chain.account]]
key_env = "K"
)";

std::string problems_of(std::string_view toml) {
  return problems_as_text("f", read_config(toml).problems);
}

// `good` with one of its lines replaced, or more lines behind it.
std::string with_line(std::string_view line, std::string_view instead) {
  std::string out(good);
  const std::size_t at = out.find(line);
  REQUIRE(at != std::string::npos);
  return out.replace(at, line.size(), instead);
}
std::string and_also(std::string_view more) { return std::string(good) + std::string(more); }

struct Row {
  std::string toml;
  std::string problems;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CAPTURE(row.toml);
    CHECK(problems_of(row.toml) == row.problems);
  }
}

}  // namespace

TEST_CASE("config: the smallest configuration is good and has the defaults") {
  const Checked checked = read_config(good);
  CHECK(problems_as_text("f", checked.problems).empty());
  const AppConfig& config = checked.config;
  CHECK(config.store_path == "holdfast.db");
  CHECK(config.http.address == "127.0.0.1");
  CHECK(config.http.port == 8402);
  CHECK(config.http.require_keys);
  CHECK(config.drain_ms == 20'000);
  CHECK(config.log_level == log::Level::info);
  REQUIRE(config.chains.size() == 1);
  CHECK(config.chains[0].evm.id.value == "eip155:31337");
  CHECK(config.chains[0].evm.finality.tag == domain::FinalityTag::finalized);
  CHECK(config.chains[0].evm.answer_at.tag == domain::FinalityTag::latest);
  CHECK(config.chains[0].payouts == std::vector{domain::native_asset});
  REQUIRE(config.chains[0].accounts.size() == 1);
  CHECK(config.chains[0].accounts[0].key_env == "K");
  CHECK_FALSE(config.chains[0].accounts[0].adopt);
}

TEST_CASE("config: what is written arrives") {
  const Checked checked = read_config(R"(drain_ms = 5
store = { path = "a.db" }
http = { port = 0, require_keys = false, max_connections = 3 }
engine = { max_in_flight = 7, retry_base_ms = 20, calls_per_second = 9 }
log = { level = "warn" }
[[chain]]
id = "eip155:8453"
rpc_url_env = "URL"
finality = "safe"
confirmations = 4
answer_confirmations = 2
wallet_factories = ["0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc"]
[chain.fees]
max_fee = "123456789012345678901234567890"
gas_cap = 21000
[[chain.asset]]
address = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
name = "USD Coin"
version = "2"
payout = false
permit2 = true
[[chain.account]]
key_file = "k"
adopt = 12
)");
  CHECK(problems_as_text("f", checked.problems).empty());
  const AppConfig& config = checked.config;
  CHECK(config.drain_ms == 5);
  CHECK(config.store_path == "a.db");
  CHECK(config.http.port == 0);
  CHECK_FALSE(config.http.require_keys);
  CHECK(config.http.max_connections == 3);
  CHECK(config.engine.max_in_flight == 7);
  CHECK(config.engine.policy.retry.base_ms == 20);
  CHECK(config.engine.calls_per_second == 9);
  CHECK(config.log_level == log::Level::warn);
  const ChainConfig& chain = config.chains.at(0);
  REQUIRE(chain.endpoints.size() == 1);
  CHECK(chain.endpoints[0].url_env == "URL");
  CHECK(chain.evm.finality == domain::FinalityRule{domain::FinalityTag::safe, 4});
  CHECK(chain.evm.answer_at == domain::FinalityRule{domain::FinalityTag::latest, 2});
  CHECK(chain.evm.fees.max_fee == *U256::from_decimal("123456789012345678901234567890"));
  CHECK(chain.evm.fees.gas_cap == 21'000);
  CHECK(chain.payouts.empty());
  // The address is kept in its one canonical form.
  CHECK(chain.eip3009.at(0).asset.value == "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913");
  CHECK(chain.permit2.at(0).asset == chain.eip3009.at(0).asset);
  CHECK(chain.wallet_factories ==
        std::vector{*evm::Address20::from_text("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")});
  CHECK(chain.accounts.at(0).adopt == domain::Sequence{12});
}

TEST_CASE("config: a chain may have several endpoints") {
  const Checked checked = read_config(R"([[chain]]
id = "eip155:1"
rpc_deadline_ms = 700
[[chain.endpoint]]
url = "http://10.0.0.1:8545"
[[chain.endpoint]]
url_env = "URL"
weight = 7
[[chain.asset]]
address = "native"
[[chain.account]]
key_env = "K"
)");
  CHECK(problems_as_text("f", checked.problems).empty());
  const ChainConfig& chain = checked.config.chains.at(0);
  CHECK(chain.rpc.deadline_ms == 700);
  REQUIRE(chain.endpoints.size() == 2);
  CHECK(chain.endpoints[0].url == "http://10.0.0.1:8545");
  CHECK(chain.endpoints[0].weight == 1);
  CHECK(chain.endpoints[1].url_env == "URL");
  CHECK(chain.endpoints[1].weight == 7);
}

TEST_CASE("config: what is wrong with an endpoint is said with its place, and never its URL") {
  const auto endpoint = [](const std::string& keys) {
    return with_line("rpc_url = \"http://127.0.0.1:8545\"", "endpoint = [{ " + keys + " }]");
  };
  check({
      {endpoint("weight = 2"), "f:3: chain.1.endpoint.1.url or url_env is needed, and not both\n"},
      {endpoint("url = \"http://h\", url_env = \"U\""),
       "f:3: chain.1.endpoint.1.url or url_env is needed, and not both\n"},
      {endpoint("url = \"ws://s3cr3t\""),
       "f:3: chain.1.endpoint.1.url cannot be used: the RPC URL must begin with http:// or "
       "https://\n"},
      {endpoint("url = \"http://h\", weight = 0"),
       "f:3: chain.1.endpoint.1.weight must be from 1 to 1000\n"},
      {endpoint("url = \"http://h\", deadline = 1"),
       "f:3: chain.1.endpoint.1.deadline is no key of this configuration\n"},
      {endpoint("url = \"http://a:s3cr3t@h\" }, { url = \"http://a:s3cr3t@h\""),
       "f:3: chain.1.endpoint.2.url is configured twice on this chain\n"},
      {with_line("rpc_url = \"http://127.0.0.1:8545\"", "endpoint = []"),
       "f:3: chain.1.endpoint is empty: a chain needs a node to ask\n"},
      {with_line("rpc_url = \"http://127.0.0.1:8545\"", "endpoint = \"http://h\""),
       "f:3: chain.1.endpoint must be given as [[chain.1.endpoint]]\n"},
      {with_line("rpc_url = ", "endpoint = [{ url = \"http://h\" }]\nrpc_url = "),
       "f:4: chain.1.rpc_url stands for a chain's only node, and this one has "
       "[[chain.endpoint]]\n"},
  });
  std::string many = "endpoint = [";
  for (int i = 0; i < 17; ++i) many += "{ url = \"http://h:" + std::to_string(i + 1) + "\" },";
  check({{with_line("rpc_url = \"http://127.0.0.1:8545\"", many + "]"),
          "f:3: chain.1.endpoint is given more than 16 times\n"}});
}

TEST_CASE("config: a key that does not exist is named where it stands") {
  check({
      {"drain_msec = 1\n" + std::string(good), "f:1: drain_msec is no key of this configuration\n"},
      {"[stor]\npath = \"a\"\n" + std::string(good), "f:1: stor is no key of this configuration\n"},
      {"[store]\nfile = \"a\"\n" + std::string(good),
       "f:2: store.file is no key of this configuration\n"},
      {"[http]\nhost = \"::1\"\n" + std::string(good),
       "f:2: http.host is no key of this configuration\n"},
      {"[engine]\n\nlease = 1\n" + std::string(good),
       "f:3: engine.lease is no key of this configuration\n"},
      {"[log]\nfile = \"x\"\n" + std::string(good),
       "f:2: log.file is no key of this configuration\n"},
      {and_also("ADOPT = 1\n"), "f:8: chain.1.account.1.ADOPT is no key of this configuration\n"},
      {and_also("[chain.fees]\ngascap = 1\n"),
       "f:9: chain.1.fees.gascap is no key of this configuration\n"},
      {with_line("address = \"native\"", "address = \"native\"\ndecimals = 6"),
       "f:6: chain.1.asset.1.decimals is no key of this configuration\n"},
      {with_line("[[chain.asset]]", "rpc = \"x\"\n[[chain.asset]]"),
       "f:4: chain.1.rpc is no key of this configuration\n"},
  });
}

TEST_CASE("config: a value of another type is refused") {
  const std::string store = "f:2: store.path must be a text in quotes\n";
  for (const char* value : {"5", "true", "1.5", "1979-05-27", "07:32:00", "[]", "{}"}) {
    CAPTURE(value);
    CHECK(problems_of("[store]\npath = " + std::string(value) + "\n" + std::string(good)) == store);
  }
  for (const char* value : {"\"5\"", "true", "1.5", "1979-05-27", "[1]", "inf"}) {
    CAPTURE(value);
    CHECK(problems_of("drain_ms = " + std::string(value) + "\n" + std::string(good)) ==
          "f:1: drain_ms must be a whole number\n");
  }
  check({
      {"[http]\nrequire_keys = 1\n" + std::string(good),
       "f:2: http.require_keys must be true or false\n"},
      {"http = 5\n" + std::string(good), "f:1: http must be a table\n"},
      {"[[http]]\n" + std::string(good), "f:1: http must be a table\n"},
      {"[chain]\nid = \"x\"\n", "f:1: chain must be given as [[chain]]\n"},
      {"chain = [1]\n", "f:1: chain must be given as [[chain]]\n"},
      {with_line("key_env = \"K\"", "key_env = 7"),
       "f:7: chain.1.account.1.key_env must be a text in quotes\n"},
      {with_line("address = \"native\"", "address = 7"),
       "f:5: chain.1.asset.1.address must be a text in quotes\n"},
      {with_line("[[chain.account]]\nkey_env = \"K\"", "[chain.account]\nkey_env = \"K\""),
       "f:6: chain.1.account must be given as [[chain.1.account]]\n"},
      {and_also("[chain.fees]\nmax_fee = 5\n"),
       "f:9: chain.1.fees.max_fee must be a decimal number in quotes\n"},
  });
}

TEST_CASE("config: numbers and texts have limits") {
  check({
      {"drain_ms = -1\n" + std::string(good), "f:1: drain_ms must be from 0 to 600000\n"},
      {"drain_ms = 600001\n" + std::string(good), "f:1: drain_ms must be from 0 to 600000\n"},
      {"[http]\nport = 65536\n" + std::string(good), "f:2: http.port must be from 0 to 65535\n"},
      {"[store]\npath = \"\"\n" + std::string(good), "f:2: store.path must have 1 to 4096 bytes\n"},
      {"[store]\npath = \"" + std::string(4'097, 'p') + "\"\n" + std::string(good),
       "f:2: store.path must have 1 to 4096 bytes\n"},
      {"[engine]\nretry_base_ms = 500\nretry_cap_ms = 400\n" + std::string(good),
       "f:3: engine.retry_cap_ms must not be under retry_base_ms\n"},
      {"[engine]\nvalidity_s = 60\npublish_margin_s = 60\n" + std::string(good),
       "f:3: engine.publish_margin_s must be less than validity_s\n"},
      {"[log]\nlevel = \"all\"\n" + std::string(good),
       "f:2: log.level must be one of: debug, info, warn\n"},
      {"[http]\naddress = \"localhost\"\n" + std::string(good),
       "f:2: http.address must be an IPv4 or IPv6 address to listen on\n"},
      {"[http]\naddress = \"0.0.0.0\"\nrequire_keys = false\n" + std::string(good),
       "f:3: http.require_keys may be false only where address is a loopback address\n"},
      {and_also("[chain.fees]\npriority_floor = \"3\"\nmax_fee = \"2\"\n"),
       "f:9: chain.1.fees.priority_floor must not be over max_fee\n"},
      {and_also("[chain.fees]\ngas_cap = 20999\n"),
       "f:9: chain.1.fees.gas_cap must be from 21000 to 100000000\n"},
      {and_also("adopt = -1\n"),
       "f:8: chain.1.account.1.adopt must be from 0 to 9223372036854775807\n"},
  });
  for (const char* amount : {"", "-1", "+1", "01", "1.0", "1e3", "0x1", " 1"}) {
    CAPTURE(amount);
    CHECK(problems_of(and_also("[chain.fees]\nmax_fee = \"" + std::string(amount) + "\"\n")) ==
          "f:9: chain.1.fees.max_fee must be a plain decimal number of base units, at most 2^256 - "
          "1\n");
  }
}

TEST_CASE("config: a chain must be whole") {
  const std::string bad_id = "f:2: chain.1.id must be eip155:N, N being the chain's number\n";
  for (const char* id : {"31337", "eip155:", "eip155:0", "eip155:01", "eip155:0x1", "eip155:-1",
                         "cosmos:hub", "eip155:18446744073709551616"}) {
    CAPTURE(id);
    CHECK(problems_of(with_line("eip155:31337", id)) == bad_id);
  }
  check({
      {"", "f:1: chain is missing: at least one [[chain]] is needed\n"},
      {"chain = []\n", "f:1: chain is missing: at least one [[chain]] is needed\n"},
      {"[[chain]]\n",
       "f:1: chain.1.account is missing: a chain needs one to send from\n"
       "f:1: chain.1.asset is missing: a chain without assets pays nothing\n"
       "f:1: chain.1.id must be eip155:N, N being the chain's number\n"
       "f:1: chain.1.rpc_url or rpc_url_env is needed, and not both\n"},
      {with_line("rpc_url = ", "rpc_url_env = \"U\"\nrpc_url = "),
       "f:4: chain.1.rpc_url or rpc_url_env is needed, and not both\n"},
      {with_line("rpc_url = \"http://127.0.0.1:8545\"", "rpc_url = \"ws://127.0.0.1\""),
       "f:3: chain.1.rpc_url cannot be used: the RPC URL must begin with http:// or https://\n"},
      {with_line("rpc_url = \"http://127.0.0.1:8545\"", "rpc_url_env = \"\""),
       "f:3: chain.1.rpc_url_env must have 1 to 256 bytes\n"},
      {with_line("key_env = \"K\"", ""),
       "f:6: chain.1.account.1.key_file or key_env is needed, and not both\n"},
      {and_also("key_file = \"k\"\n"),
       "f:8: chain.1.account.1.key_file or key_env is needed, and not both\n"},
      {"account = []\nasset = []\n",
       "f:1: account is no key of this configuration\n"
       "f:1: chain is missing: at least one [[chain]] is needed\n"
       "f:2: asset is no key of this configuration\n"},
      {with_line("[[chain.account]]\nkey_env = \"K\"\n", "") + "[chain.fees]\n",
       "f:1: chain.1.account is missing: a chain needs one to send from\n"},
      {with_line("[[chain.asset]]\naddress = \"native\"", "asset = []"),
       "f:4: chain.1.asset is missing: a chain without assets pays nothing\n"},
      {with_line("address = \"native\"", "address = \"native\"\npayout = false"),
       "f:4: chain.1.asset has no asset that a payment can use: payout is off, and no name is "
       "given\n"},
  });
}

TEST_CASE("config: an asset is native or a token with its checksum") {
  const std::string token = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
  const std::string wrong_case = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914";
  check({
      {with_line("native", token), ""},
      {with_line("address = \"native\"", "payout = true"),
       "f:4: chain.1.asset.1.address is missing: a token's address, or \"native\"\n"},
      {with_line("address = \"native\"", "address = \"native\"\nname = \"N\""),
       "f:6: chain.1.asset.1.name and version come together: they are the token's EIP-712 domain\n"
       "f:6: chain.1.asset.1.name is for tokens: nobody signs for the native asset\n"},
      {with_line("address = \"native\"", "address = \"native\"\npermit2 = true"),
       "f:6: chain.1.asset.1.permit2 is for tokens: nobody signs for the native asset\n"},
      {with_line("address = \"native\"", "address = \"" + token + "\"\nversion = \"2\""),
       "f:4: chain.1.asset.1.name and version come together: they are the token's EIP-712 "
       "domain\n"},
  });
  for (const char* address : {"NATIVE", "0x", "833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "0x12"}) {
    CAPTURE(address);
    const std::string problems = problems_of(with_line("native", address));
    CHECK(problems.starts_with("f:5: chain.1.asset.1.address "));
  }
  CHECK(problems_of(with_line("native", wrong_case)).find("checksum") != std::string::npos);
}

TEST_CASE("config: nothing is configured twice") {
  const std::string token = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
  const std::string lower = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
  const std::string second_chain = std::string(good);
  check({
      {and_also(second_chain), "f:9: chain.2.id is configured twice\n"},
      {and_also("[[chain.asset]]\naddress = \"native\"\n"),
       "f:9: chain.1.asset.2.address is configured twice\n"},
      {and_also("[[chain.asset]]\naddress = \"" + token + "\"\n[[chain.asset]]\naddress = \"" +
                lower + "\"\n"),
       "f:11: chain.1.asset.3.address is configured twice\n"},
      {and_also("[[chain.account]]\nkey_env = \"K\"\n"),
       "f:9: chain.1.account.2.key_env is configured twice on this chain\n"},
      {and_also("[[chain.account]]\nkey_file = \"K\"\n"), ""},
  });
}

TEST_CASE("config: all problems come in one go, in the order of the file") {
  CHECK(problems_of(R"(drain_ms = "soon"
[http]
port = 99999
colour = "red"
[[chain]]
id = "eip155:x"
[[chain.asset]]
adress = "native"
[[chain.account]]
adopt = "no"
[[chain]]
id = "eip155:1"
rpc_url = "http://h"
)") == "f:1: drain_ms must be a whole number\n"
       "f:3: http.port must be from 0 to 65535\n"
       "f:4: http.colour is no key of this configuration\n"
       "f:5: chain.1.rpc_url or rpc_url_env is needed, and not both\n"
       "f:6: chain.1.id must be eip155:N, N being the chain's number\n"
       "f:7: chain.1.asset.1.address is missing: a token's address, or \"native\"\n"
       "f:8: chain.1.asset.1.adress is no key of this configuration\n"
       "f:9: chain.1.account.1.key_file or key_env is needed, and not both\n"
       "f:10: chain.1.account.1.adopt must be a whole number\n"
       "f:11: chain.2.account is missing: a chain needs one to send from\n"
       "f:11: chain.2.asset is missing: a chain without assets pays nothing\n");
}

TEST_CASE("config: no problem repeats a value: it may be a secret") {
  const std::string secret = "s3cr3t";
  const std::string key = "0x" + std::string(58, 'a') + "s3cr3t";
  const std::vector<std::string> bad = {
      with_line("http://127.0.0.1:8545", "ftp://u:s3cr3t@h/s3cr3t"),
      with_line("http://127.0.0.1:8545", "http://u:s3cr3t@h:1:2/?k=s3cr3t"),
      with_line("http://127.0.0.1:8545", "http://h/s3cr3t#s3cr3t"),
      with_line("rpc_url =", "rpc_url_env = \"s3cr3t\"\nrpc_url ="),
      with_line("eip155:31337", secret),
      with_line("native", key),
      with_line("\"K\"", "\"K\"\nkey_file = \"" + key + "\""),
      with_line("\"K\"", "\"K\"\nadopt = \"s3cr3t\""),
      "[log]\nlevel = \"s3cr3t\"\n" + std::string(good),
      "[http]\naddress = \"s3cr3t\"\n" + std::string(good),
      and_also("[chain.fees]\nmax_fee = \"s3cr3t\"\n"),
      with_line("\"http://127.0.0.1:8545\"", "[\"s3cr3t\"]"),
  };
  for (const std::string& toml : bad) {
    CAPTURE(toml);
    const std::string problems = problems_of(toml);
    CHECK_FALSE(problems.empty());
    CHECK(problems.find(secret) == std::string::npos);
  }
}

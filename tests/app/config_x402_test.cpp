// [x402] of the configuration.
#include <string>

#include <doctest/doctest.h>

#include "app/config.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::app;

const std::string chain = R"(
[[chain]]
id = "eip155:31337"
rpc_url = "http://127.0.0.1:8545"
[[chain.asset]]
address = "native"
[[chain.account]]
key_env = "K"
)";

Checked with(const std::string& section) { return read_config("[x402]\n" + section + chain); }

std::string problems(const std::string& section) {
  return problems_as_text("f", with(section).problems);
}

}  // namespace

TEST_CASE("config: there is no facilitator unless it is asked for, and then with a key") {
  CHECK_FALSE(read_config(chain).config.http.x402.enabled);
  CHECK_FALSE(with("").config.http.x402.enabled);
  const Checked on = with("enabled = true\n");
  CHECK(on.problems.empty());
  CHECK(on.config.http.x402.enabled);
  CHECK(on.config.http.x402.require_key);
  CHECK(on.config.http.x402.base == "/x402");
  CHECK(on.config.http.x402.budget_ms == 75'000);
}

TEST_CASE("config: a facilitator takes its limits and lists") {
  const std::string address = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
  const Checked checked = with(
      "enabled = true\nbase = \"/pay/402\"\nrequire_key = false\n"
      "budget_s = 3\nassets = [\"" +
      address + "\"]\npayees = [\"" + address +
      "\"]\nnetworks = [\"local=eip155:31337\"]\n"
      "requests_per_s = 5\nburst = 7\ngas_per_day = \"12\"\n");
  CHECK(problems_as_text("f", checked.problems).empty());
  const auto& x402 = checked.config.http.x402;
  CHECK(x402.base == "/pay/402");
  CHECK_FALSE(x402.require_key);
  CHECK(x402.budget_ms == 3'000);
  CHECK(x402.assets == std::vector{address});
  CHECK(x402.payees == std::vector{address});
  REQUIRE(x402.networks.size() == 1);
  CHECK(x402.networks[0] == std::pair<std::string, std::string>{"local", "eip155:31337"});
  CHECK(x402.requests_per_s == 5);
  CHECK(x402.burst == 7);
  CHECK(x402.gas_per_day == U256{12});
}

TEST_CASE("config: what a facilitator cannot be is refused with a sentence") {
  CHECK(problems("budget_s = 76\n") == "f:2: x402.budget_s must be from 1 to 75\n");
  for (const char* base : {"x402", "/a/", "/a//b", "/v1", "/v1/x402", "/a b", "/a?b", ""}) {
    CAPTURE(base);
    CHECK(problems("base = \"" + std::string(base) + "\"\n") != "");
  }
  CHECK(problems("base = \"/\"\n").empty());
  CHECK(problems("payees = [\"0x12\"]\n") != "");
  CHECK(problems("networks = [\"local\"]\n") ==
        "f:2: x402.networks must be texts such as \"name=eip155:N\"\n");
  CHECK(problems("open = true\n") == "f:2: x402.open is no key of this configuration\n");
  // Whoever asks would spend our gas.
  CHECK(problems("enabled = true\nrequire_key = false\n")
            .find("x402.require_key may be false only with payees or gas_per_day") !=
        std::string::npos);
  CHECK(problems("enabled = true\nrequire_key = false\ngas_per_day = \"1\"\n").empty());
  CHECK(read_config("[http]\nrequire_keys = false\n[x402]\nenabled = true\nrequire_key = false\n" +
                    chain)
            .problems.empty());
}

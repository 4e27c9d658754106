#include "app/config_x402.hpp"

#include <algorithm>

#include "evm/address.hpp"

namespace holdfast::app {
namespace {

constexpr std::int64_t second_ms = 1'000;
constexpr std::size_t longest_base = 64;
constexpr std::size_t longest_name = 64;
constexpr std::size_t most_listed = 1'000;

bool is_base(const std::string& base) {
  const bool sane = std::ranges::all_of(base, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '/';
  });
  const bool is_ours = base == "/v1" || base.starts_with("/v1/");
  return sane && !is_ours && base.starts_with('/') && (base == "/" || !base.ends_with('/')) &&
         base.find("//") == std::string::npos;
}

std::vector<std::string> addresses(ConfigReader& in, const std::string& key) {
  std::vector<std::string> out = in.texts(key);
  if (out.size() > most_listed) {
    in.problem(key, "lists more than " + std::to_string(most_listed) + " addresses");
  }
  for (const std::string& one : out) {
    if (const auto parsed = evm::parse_address(one); !parsed) {
      in.problem(key, "must be addresses: " + parsed.error().detail);
      break;
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> networks(ConfigReader& in) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& one : in.texts("networks")) {
    const auto at = one.find('=');
    const std::string name = one.substr(0, at);
    const std::string chain = at == std::string::npos ? std::string() : one.substr(at + 1);
    const bool good = !name.empty() && name.size() <= longest_name &&
                      std::ranges::all_of(name, [](char c) { return c > 0x20 && c < 0x7f; }) &&
                      evm::chain_number({chain}).has_value();
    if (!good) {
      in.problem("networks", "must be texts such as \"name=eip155:N\"");
      break;
    }
    out.emplace_back(name, chain);
  }
  return out;
}

}  // namespace

void read_x402(ConfigReader in, http::Options& out) {
  http::X402Options& x402 = out.x402;
  x402.enabled = in.flag("enabled", x402.enabled);
  x402.base = in.text("base", x402.base, longest_base);
  if (!is_base(x402.base)) {
    in.problem("base", "must be a path such as \"/x402\", without a slash at its end, not /v1");
  }
  x402.require_key = in.flag("require_key", x402.require_key);
  x402.budget_ms = in.number("budget_s", x402.budget_ms / second_ms, 1, 75) * second_ms;
  x402.assets = addresses(in, "assets");
  x402.payees = addresses(in, "payees");
  x402.networks = networks(in);
  x402.requests_per_s =
      static_cast<std::uint32_t>(in.number("requests_per_s", x402.requests_per_s, 0, 100'000));
  x402.burst = static_cast<std::uint32_t>(in.number("burst", x402.burst, 1, 100'000));
  if (in.has("gas_per_day")) x402.gas_per_day = in.amount("gas_per_day", U256{});
  const bool is_open = x402.enabled && !x402.require_key && out.require_keys;
  if (is_open && x402.payees.empty() && !x402.gas_per_day) {
    in.problem("require_key",
               "may be false only with payees or gas_per_day: anybody could spend "
               "the gas of the sending accounts");
  }
  in.refuse_unknown_keys();
}

}  // namespace holdfast::app

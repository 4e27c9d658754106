#include "app/config.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <tuple>

#include <boost/asio/ip/address.hpp>

#include "app/config_endpoints.hpp"
#include "app/config_x402.hpp"

namespace holdfast::app {
namespace {

constexpr std::int64_t day_s = 86'400;

domain::FinalityRule read_rule(ConfigReader& in, const std::string& tag_key,
                               const std::string& depth_key, domain::FinalityRule otherwise) {
  domain::FinalityRule rule = otherwise;
  const std::string tag = in.word(tag_key, std::string(domain::to_text(otherwise.tag)),
                                  {"latest", "safe", "finalized"});
  rule.tag = *domain::finality_tag_from(tag);
  rule.confirmations =
      static_cast<std::uint32_t>(in.number(depth_key, otherwise.confirmations, 1, 10'000));
  return rule;
}

void read_fees(ConfigReader in, evm::FeePolicy& fees) {
  fees.max_fee = in.amount("max_fee", fees.max_fee);
  fees.priority_floor = in.amount("priority_floor", fees.priority_floor);
  fees.priority_default = in.amount("priority_default", fees.priority_default);
  fees.base_fee_percent =
      static_cast<std::uint32_t>(in.number("base_fee_percent", fees.base_fee_percent, 100, 1'000));
  fees.gas_margin_percent =
      static_cast<std::uint32_t>(in.number("gas_margin_percent", fees.gas_margin_percent, 0, 400));
  fees.gas_cap = static_cast<std::uint64_t>(
      in.number("gas_cap", static_cast<std::int64_t>(fees.gas_cap), 21'000, 100'000'000));
  if (fees.priority_floor > fees.max_fee) {
    in.problem("priority_floor", "must not be over max_fee");
  }
  in.refuse_unknown_keys();
}

// Empty where it is missing or bad, which is a problem by then.
domain::AssetId read_asset_address(ConfigReader& in) {
  if (!in.has("address")) {
    in.problem("address", "is missing: a token's address, or \"native\"");
    return {};
  }
  const auto address = in.maybe_text("address");
  if (!address) return {};
  if (*address == domain::native_asset.value) return domain::native_asset;
  const auto parsed = evm::parse_address(*address);
  if (parsed) return {evm::to_checksum(*parsed)};
  in.problem("address", "must be \"native\" or a token's address: " + parsed.error().detail);
  return {};
}

using Seen = std::set<std::string>;

void read_asset(ConfigReader in, ChainConfig& chain, Seen& seen) {
  const domain::AssetId asset = read_asset_address(in);
  if (!asset.value.empty() && !seen.insert(asset.value).second)
    in.problem("address", "is configured twice");
  const auto name = in.maybe_text("name", 256);
  const auto version = in.maybe_text("version", 64);
  if (in.has("name") != in.has("version")) {
    in.problem("name", "and version come together: they are the token's EIP-712 domain");
  }
  if (name && asset == domain::native_asset) {
    in.problem("name", "is for tokens: nobody signs for the native asset");
  } else if (name && version) {
    chain.eip3009.push_back({asset, *name, *version});
  }
  if (in.flag("permit2", false)) {
    if (asset == domain::native_asset) {
      in.problem("permit2", "is for tokens: nobody signs for the native asset");
    } else {
      chain.permit2.push_back({asset, name.value_or(""), version.value_or("")});
    }
  }
  if (in.flag("payout", true)) chain.payouts.push_back(asset);
  in.refuse_unknown_keys();
}

void read_wallet_factories(ConfigReader& in, ChainConfig& chain) {
  constexpr std::size_t most = 100;
  const std::vector<std::string> texts = in.texts("wallet_factories");
  if (texts.size() > most) in.problem("wallet_factories", "has more than 100 addresses");
  for (const std::string& text : texts) {
    const auto parsed = evm::parse_address(text);
    if (!parsed) {
      in.problem("wallet_factories", "must be addresses: " + parsed.error().detail);
    } else {
      chain.wallet_factories.push_back(*parsed);
    }
  }
}

void read_account(ConfigReader in, ChainConfig& chain) {
  AccountConfig account;
  account.key_file = in.text("key_file", "", 4096);
  account.key_env = in.text("key_env", "", 256);
  if (in.has("key_file") == in.has("key_env")) {
    in.problem("key_file", "or key_env is needed, and not both");
  }
  const auto same = [&](const AccountConfig& other) {
    return other.key_file == account.key_file && other.key_env == account.key_env;
  };
  const bool known = !account.key_file.empty() || !account.key_env.empty();
  if (known && std::any_of(chain.accounts.begin(), chain.accounts.end(), same)) {
    in.problem(in.has("key_file") ? "key_file" : "key_env", "is configured twice on this chain");
  }
  if (const auto adopt = in.maybe_number("adopt", 0, INT64_MAX)) {
    account.adopt = domain::Sequence{static_cast<std::uint64_t>(*adopt)};
  }
  in.refuse_unknown_keys();
  chain.accounts.push_back(std::move(account));
}

ChainConfig read_chain(ConfigReader in) {
  ChainConfig chain;
  chain.evm.id.value = in.text("id", "", 64);
  if (!evm::chain_number(chain.evm.id)) {
    in.problem("id", "must be eip155:N, N being the chain's number");
  }
  read_endpoints(in, chain);
  chain.evm.finality = read_rule(in, "finality", "confirmations", chain.evm.finality);
  chain.evm.answer_at = read_rule(in, "answer_at", "answer_confirmations", chain.evm.answer_at);
  chain.evm.confirmations_only = in.flag("confirmations_only", false);
  chain.evm.max_unconsumed =
      static_cast<std::uint32_t>(in.number("max_unconsumed", chain.evm.max_unconsumed, 1, 10'000));
  chain.evm.poll_ms = in.number("poll_ms", chain.evm.poll_ms, 50, 60'000);
  read_wallet_factories(in, chain);
  read_fees(in.table("fees"), chain.evm.fees);
  Seen seen;
  auto assets = in.some_tables("asset", "is missing: a chain without assets pays nothing");
  for (ConfigReader& asset : assets) read_asset(asset, chain, seen);
  auto accounts = in.some_tables("account", "is missing: a chain needs one to send from");
  for (ConfigReader& account : accounts) read_account(account, chain);
  if (!assets.empty() && chain.payouts.empty() && chain.eip3009.empty() && chain.permit2.empty()) {
    in.problem("asset", "has no asset that a payment can use: payout is off, and no name is given");
  }
  in.refuse_unknown_keys();
  return chain;
}

void read_engine(ConfigReader in, engine::Config& out) {
  out.max_in_flight =
      static_cast<std::uint32_t>(in.number("max_in_flight", out.max_in_flight, 1, 1'000'000));
  out.lease_ms = in.number("lease_ms", out.lease_ms, 1'000, 600'000);
  out.calls_in_flight =
      static_cast<std::uint32_t>(in.number("calls_in_flight", out.calls_in_flight, 1, 100'000));
  out.calls_per_second = static_cast<std::uint32_t>(in.number("calls_per_second", 0, 0, 1'000'000));
  out.expires_after_s = in.number("expires_after_s", out.expires_after_s, 60, 365 * day_s);
  out.validity_s = in.number("validity_s", out.validity_s, 60, 7 * day_s);
  out.publish_margin_s = in.number("publish_margin_s", out.publish_margin_s, 0, 3'600);
  domain::Policy& policy = out.policy;
  policy.stuck_after_ms = in.number("stuck_after_ms", policy.stuck_after_ms, 1'000, 3'600'000);
  policy.review_after_ms =
      in.number("review_after_ms", policy.review_after_ms, 10'000, day_s * 1'000);
  out.gap_after_ms = in.number("gap_after_ms", out.gap_after_ms, 1'000, day_s * 1'000);
  policy.grace_s = in.number("grace_s", policy.grace_s, 60, 30 * day_s);
  policy.settle_short = in.flag("settle_short", policy.settle_short);
  policy.max_lapsed_leases =
      static_cast<std::uint32_t>(in.number("max_lapsed_leases", policy.max_lapsed_leases, 1, 100));
  policy.retry.base_ms = in.number("retry_base_ms", policy.retry.base_ms, 10, 60'000);
  policy.retry.cap_ms = in.number("retry_cap_ms", policy.retry.cap_ms, 100, 3'600'000);
  if (policy.retry.cap_ms < policy.retry.base_ms) {
    in.problem("retry_cap_ms", "must not be under retry_base_ms");
  }
  if (out.publish_margin_s >= out.validity_s) {
    in.problem("publish_margin_s", "must be less than validity_s");
  }
  in.refuse_unknown_keys();
}

void read_http(ConfigReader in, http::Options& out) {
  out.address = in.text("address", out.address, 64);
  out.port = static_cast<std::uint16_t>(in.number("port", 8402, 0, 65'535));
  out.max_body_bytes = static_cast<std::size_t>(
      in.number("max_body_bytes", static_cast<std::int64_t>(out.max_body_bytes), 1'024, 16 << 20));
  out.max_connections = static_cast<std::size_t>(
      in.number("max_connections", static_cast<std::int64_t>(out.max_connections), 1, 100'000));
  out.require_keys = in.flag("require_keys", out.require_keys);
  boost::system::error_code bad;
  const auto address = boost::asio::ip::make_address(out.address, bad);
  if (bad) {
    in.problem("address", "must be an IPv4 or IPv6 address to listen on");
  } else if (!out.require_keys && !address.is_loopback()) {
    in.problem("require_keys", "may be false only where address is a loopback address");
  }
  in.refuse_unknown_keys();
}

log::Level level_of(const std::string& word) {
  if (word == "debug") return log::Level::debug;
  if (word == "warn") return log::Level::warn;
  return log::Level::info;
}

}  // namespace

Checked read_config(std::string_view toml) {
  Checked out;
  const auto tree = parse_toml(toml);
  if (!tree) {
    out.problems.push_back({0, "", tree.error().detail});
    return out;
  }
  ConfigReader in(&std::get<TomlTable>(tree->value), 1, "", out.problems);
  AppConfig& config = out.config;

  ConfigReader store = in.table("store");
  config.store_path = store.text("path", "holdfast.db", 4096);
  store.refuse_unknown_keys();

  read_http(in.table("http"), config.http);
  read_x402(in.table("x402"), config.http);
  read_engine(in.table("engine"), config.engine);
  ConfigReader log = in.table("log");
  config.log_level = level_of(log.word("level", "info", {"debug", "info", "warn"}));
  log.refuse_unknown_keys();
  config.drain_ms = in.number("drain_ms", config.drain_ms, 0, 600'000);

  for (ConfigReader& chain :
       in.some_tables("chain", "is missing: at least one [[chain]] is needed")) {
    config.chains.push_back(read_chain(chain));
    const auto same = [&](const ChainConfig& one) {
      return one.evm.id == config.chains.back().evm.id;
    };
    if (std::count_if(config.chains.begin(), config.chains.end(), same) > 1) {
      chain.problem("id", "is configured twice");
    }
  }
  in.refuse_unknown_keys();
  std::sort(out.problems.begin(), out.problems.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.line, a.key) < std::tie(b.line, b.key);
  });
  return out;
}

Result<Checked> read_config_file(const std::string& path) {
  constexpr std::size_t longest = 1 << 20;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return refuse(ConfigError::unreadable,
                  "the file cannot be opened: " + std::generic_category().message(errno));
  }
  std::string text(longest + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return refuse(ConfigError::unreadable, "the file cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > longest) {
    return refuse(ConfigError::unreadable, "the file is longer than 1 MiB");
  }
  return read_config(text);
}

std::string problems_as_text(const std::string& file, const Problems& problems) {
  std::ostringstream out;
  for (const Problem& one : problems) {
    out << file << ':';
    if (one.line > 0) out << one.line << ':';
    out << ' ' << one.key << (one.key.empty() ? "" : " ") << one.sentence << '\n';
  }
  return out.str();
}

}  // namespace holdfast::app

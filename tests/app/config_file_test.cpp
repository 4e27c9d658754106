// conf/holdfast.toml against the reader: the same keys, defaults and limits; and files that cannot
// be read.
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/config.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::app;

const std::string shipped_path = HOLDFAST_SOURCE_DIR "/conf/holdfast.toml";

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

bool is_key_line(const std::string& line) {
  static const std::regex pattern(R"([a-z0-9_]+ = .*|\[.*\])");
  return std::regex_match(line, pattern);
}

/// The file with every key in it; those it shows as comments, too, except `left_out`.
std::string with_all_keys(const std::set<std::string>& left_out = {}) {
  std::string out;
  for (const std::string& line : lines_of(test::content_of(shipped_path))) {
    const bool commented = line.starts_with("# ") && is_key_line(line.substr(2));
    const std::string bare = commented ? line.substr(2) : line;
    const bool skip = commented && left_out.contains(bare.substr(0, bare.find(' ')));
    out += (skip ? "" : bare) + "\n";
  }
  return out;
}

/// A key in its table; the topmost has no name.
std::string joined(const std::string& path, const std::string& key) {
  std::string out = path;
  if (!path.empty()) out += '.';
  return out += key;
}

/// "chain.1.fees.gas_cap" -> "chain.fees.gas_cap".
std::string without_numbers(const std::string& key) {
  static const std::regex number(R"(\.[0-9]+(?=\.|$))");
  return std::regex_replace(key, number, "");
}

void collect_keys(const TomlNode& node, const std::string& path, std::set<std::string>& out) {
  if (const auto* table = std::get_if<TomlTable>(&node.value)) {
    for (const auto& [key, member] : *table) {
      const std::string full = joined(path, key);
      out.insert(full);
      collect_keys(member, full, out);
    }
  } else if (const auto* array = std::get_if<TomlArray>(&node.value)) {
    for (const TomlNode& item : *array) collect_keys(item, path, out);
  }
}

/// What the reader says about a single key, given a value that no key takes.
std::string said_about(const std::string& path, const std::string& key) {
  static const std::map<std::string, std::string> heads = {
      {"", ""},
      {"chain", "[[chain]]\n"},
      {"chain.fees", "[[chain]]\n[chain.fees]\n"},
      {"chain.endpoint", "[[chain]]\n[[chain.endpoint]]\n"},
      {"chain.asset", "[[chain]]\n[[chain.asset]]\n"},
      {"chain.account", "[[chain]]\n[[chain.account]]\n"}};
  const auto head = heads.find(path);
  const std::string table = head != heads.end() ? head->second : "[" + path + "]\n";
  const std::string full = joined(path, key);
  for (const Problem& one : read_config(table + key + " = 1.5\n").problems) {
    if (without_numbers(one.key) == full) return one.sentence;
  }
  return "";
}

/// Every key the reader knows, found by asking it about each word of its source in each table.
std::set<std::string> known_keys() {
  std::set<std::string> words;
  const std::string folder = HOLDFAST_SOURCE_DIR "/src/app/";
  const std::string source = test::content_of(folder + "config.cpp") +
                             test::content_of(folder + "config_endpoints.cpp") +
                             test::content_of(folder + "config_x402.cpp");
  const std::regex quoted("\"([a-z][a-z0-9_]*)\"");
  for (std::sregex_iterator at(source.begin(), source.end(), quoted), end; at != end; ++at) {
    words.insert((*at)[1]);
  }
  std::set<std::string> out;
  std::vector<std::string> tables = {""};
  while (!tables.empty()) {
    const std::string path = tables.back();
    tables.pop_back();
    for (const std::string& word : words) {
      const std::string sentence = said_about(path, word);
      if (sentence.empty() || sentence.find("is no key") == 0) continue;
      if (sentence.find("is missing") == 0) continue;
      const std::string full = joined(path, word);
      out.insert(full);
      if (sentence == "must be a table" || sentence.starts_with("must be given as [[")) {
        tables.push_back(full);
      }
    }
  }
  return out;
}

std::string shown(const domain::FinalityRule& rule) {
  return std::string(domain::to_text(rule.tag)) + "/" + std::to_string(rule.confirmations);
}

/// All that a configuration says, as text.
std::string shown(const AppConfig& config) {
  std::ostringstream out;
  const auto& http = config.http;
  const auto& engine = config.engine;
  const auto& policy = engine.policy;
  out << config.store_path << ' ' << config.drain_ms << ' ' << static_cast<int>(config.log_level)
      << "\nhttp " << http.address << ' ' << http.port << ' ' << http.max_body_bytes << ' '
      << http.max_connections << ' ' << http.require_keys << "\nengine " << engine.max_in_flight
      << ' ' << engine.lease_ms << ' ' << engine.calls_in_flight << ' ' << engine.calls_per_second
      << ' ' << engine.expires_after_s << ' ' << engine.validity_s << ' ' << engine.publish_margin_s
      << ' ' << policy.stuck_after_ms << ' ' << policy.review_after_ms << ' ' << policy.grace_s
      << ' ' << engine.gap_after_ms << ' ' << policy.settle_short << ' ' << policy.max_lapsed_leases
      << ' ' << policy.retry.base_ms << ' ' << policy.retry.cap_ms;
  const auto& x402 = http.x402;
  out << "\nx402 " << x402.enabled << ' ' << x402.base << ' ' << x402.require_key << ' '
      << x402.budget_ms << ' ' << x402.assets.size() << ' ' << x402.payees.size() << ' '
      << x402.networks.size() << ' ' << x402.requests_per_s << ' ' << x402.burst << ' '
      << x402.gas_per_day.has_value();
  for (const ChainConfig& chain : config.chains) {
    const auto& fees = chain.evm.fees;
    out << "\nchain " << chain.evm.id.value << ' ' << chain.rpc.url << ' ' << chain.rpc.deadline_ms
        << ' ' << chain.rpc.max_connections << ' ' << chain.rpc.max_batch_calls << ' '
        << shown(chain.evm.finality) << ' ' << shown(chain.evm.answer_at) << ' '
        << chain.evm.confirmations_only << ' ' << chain.evm.max_unconsumed << ' '
        << chain.evm.poll_ms << "\nfees " << fees.max_fee.decimal() << ' '
        << fees.priority_floor.decimal() << ' ' << fees.priority_default.decimal() << ' '
        << fees.base_fee_percent << ' ' << fees.gas_margin_percent << ' ' << fees.gas_cap;
  }
  return out.str();
}

// The words of the comment above line `at` and its neighbours, on one line.
std::string comment_above(const std::vector<std::string>& lines, std::size_t at) {
  const auto is_text = [](const std::string& line) {
    return line.starts_with("# ") && !is_key_line(line.substr(2));
  };
  while (at > 0 && !is_text(lines[at - 1]) && !lines[at - 1].empty()) --at;  // its neighbours
  std::string out;
  for (; at > 0 && is_text(lines[at - 1]); --at) out.insert(0, lines[at - 1].substr(2).append(" "));
  return out;
}

}  // namespace

TEST_CASE("conf/holdfast.toml: it is a good configuration as it stands") {
  const auto checked = read_config_file(shipped_path);
  REQUIRE(checked.has_value());
  CHECK(problems_as_text("conf", checked->problems).empty());
  CHECK(checked->config.chains.at(0).payouts == std::vector{domain::native_asset});
}

TEST_CASE("conf/holdfast.toml: it has every key the reader knows, and no other") {
  std::set<std::string> documented;
  collect_keys(parse_toml(with_all_keys()).value(), "", documented);
  const std::set<std::string> known = known_keys();
  CHECK(known.contains("chain.asset.payout"));
  CHECK(known.contains("engine.retry_cap_ms"));
  for (const std::string& key : known) {
    CAPTURE(key);
    CHECK(documented.contains(key));
  }
  for (const std::string& key : documented) {
    CAPTURE(key);
    CHECK(known.contains(key));
  }
}

TEST_CASE("conf/holdfast.toml: the defaults it shows are the defaults") {
  const std::set<std::string> without_default = {"rpc_url_env", "key_file",    "rpc_ca_file",
                                                 "adopt",       "gas_per_day", "[[chain.endpoint]]",
                                                 "url",         "url_env",     "weight"};
  const Checked all = read_config(with_all_keys(without_default));
  CHECK(problems_as_text("conf", all.problems).empty());
  const auto as_shipped = read_config_file(shipped_path);
  REQUIRE(as_shipped.has_value());
  CHECK(shown(all.config) == shown(as_shipped->config));
}

TEST_CASE("conf/holdfast.toml: the limits it names are the limits") {
  const std::string text = with_all_keys({"rpc_url_env", "key_file", "url_env"});
  const std::vector<std::string> commented = lines_of(test::content_of(shipped_path));
  std::vector<std::string> lines = lines_of(text);
  const std::regex number(R"(([a-z_]+) = ([0-9]+))");
  int numbers = 0;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    std::smatch found;
    if (!std::regex_match(lines[at], found, number)) continue;
    ++numbers;
    std::vector<std::string> changed = lines;
    changed[at] = found[1].str() + " = -1";
    std::string toml;
    for (const std::string& line : changed) toml += line + "\n";
    const std::string problems = problems_as_text("f", read_config(toml).problems);
    CAPTURE(problems);
    std::smatch limits;
    REQUIRE(std::regex_search(problems, limits, std::regex("must be from ([0-9]+ to [0-9]+)")));
    CAPTURE(lines[at]);
    CHECK(comment_above(commented, at).find(limits[1].str()) != std::string::npos);
  }
  CHECK(numbers >= 29);
}

TEST_CASE("config file: one that cannot be read is refused with a sentence") {
  const test::TempFolder folder;
  const auto missing = read_config_file(folder / "none.toml");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().code == ConfigError::unreadable);
  CHECK(missing.error().detail == "the file cannot be opened: No such file or directory");

  const auto directory = read_config_file(folder.path().string());
  REQUIRE_FALSE(directory.has_value());
  CHECK(directory.error().detail == "the file cannot be read");
}

TEST_CASE("config file: one byte over 1 MiB is too long, 1 MiB is not") {
  const test::TempFolder folder;
  constexpr std::size_t most = 1 << 20;
  std::ofstream(folder / "most.toml") << std::string(most, '#');
  std::ofstream(folder / "over.toml") << std::string(most + 1, '#');
  CHECK(read_config_file(folder / "most.toml").has_value());
  const auto over = read_config_file(folder / "over.toml");
  REQUIRE_FALSE(over.has_value());
  CHECK(over.error().detail == "the file is longer than 1 MiB");
}

TEST_CASE("config file: one that is no TOML has one problem, with its line") {
  const test::TempFolder folder;
  std::ofstream(folder / "a.toml") << "[store]\npath = holdfast.db\n";
  const auto checked = read_config_file(folder / "a.toml");
  REQUIRE(checked.has_value());
  REQUIRE(checked->problems.size() == 1);
  CHECK(problems_as_text("a.toml", checked->problems).starts_with("a.toml: line 2: "));
}

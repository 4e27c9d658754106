#include "transport.hpp"

namespace holdfast::campaign {

namespace json = boost::json;

json::object to_json(const Tally& tally) {
  json::object tables;
  for (const auto& [table, names] : tally.tables()) {
    json::object entries;
    for (const auto& [name, times] : names) entries[name] = times;
    tables[table] = std::move(entries);
  }
  return tables;
}

std::string to_line(const Verdict& verdict) {
  json::array broken;
  for (const std::string& one : verdict.broken) broken.emplace_back(one);
  const json::object out{{"seed", verdict.seed},
                         {"payments", verdict.payments},
                         {"crashes", verdict.crashes},
                         {"steps", verdict.steps},
                         {"simulated_ms", verdict.simulated_ms},
                         {"reviews_left", verdict.reviews_left},
                         {"needless_reviews", verdict.needless_reviews},
                         {"hash", verdict.trace_hash},
                         {"broken", std::move(broken)},
                         {"tables", to_json(verdict.tally)}};
  return json::serialize(out) + "\n";
}

Verdict from_line(std::string_view line) {
  const json::object in = json::parse(line).as_object();
  const auto number = [&](const char* name) { return in.at(name).to_number<std::uint64_t>(); };
  Verdict out;
  out.seed = number("seed");
  out.payments = number("payments");
  out.crashes = number("crashes");
  out.steps = number("steps");
  out.simulated_ms = static_cast<std::int64_t>(number("simulated_ms"));
  out.reviews_left = number("reviews_left");
  out.needless_reviews = number("needless_reviews");
  out.trace_hash = in.at("hash").as_string();
  for (const json::value& one : in.at("broken").as_array()) {
    out.broken.emplace_back(one.as_string());
  }
  for (const auto& table : in.at("tables").as_object()) {
    for (const auto& entry : table.value().as_object()) {
      out.tally.count(table.key(), entry.key(), entry.value().to_number<std::uint64_t>());
    }
  }
  return out;
}

}  // namespace holdfast::campaign

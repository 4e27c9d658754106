#include "page.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "plot.hpp"

namespace holdfast::load {

namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark;
  --ink: #1c2733; --soft: #6b7885; --rule: #d9dfe5; --line: #0b6e99; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6ebf0; --soft: #93a1ae; --rule: #2c3742; --line: #4fb3dc; --page: #12181e; }
}
body { margin: 2rem auto; max-width: 84rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif;
  background: var(--page); color: var(--ink); }
h1 { font-size: 1.4rem; margin: 0; }
code { color: var(--soft); overflow-wrap: anywhere; }
main { display: grid; gap: 1.5rem; margin: 1.5rem 0;
  grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); }
svg { width: 100%; height: auto; font: 11px system-ui, sans-serif; }
svg text { fill: var(--soft); }
svg .title { fill: var(--ink); font-size: 14px; font-weight: 600; }
svg .unit { fill: var(--soft); font-weight: 400; }
svg line { stroke: var(--rule); }
svg polyline { fill: none; stroke: var(--line); stroke-width: 1.8; stroke-linejoin: round; }
table { border-collapse: collapse; }
td { border-bottom: 1px solid var(--rule); padding: .15rem 1.5rem .15rem 0; }
td + td { text-align: right; font-variant-numeric: tabular-nums; padding-right: 0; }
)";

/// Of each two moments that follow one another.
std::vector<Point> between(const std::vector<Moment>& moments,
                           const std::function<double(const Moment&, const Moment&)>& value) {
  std::vector<Point> out;
  for (std::size_t i = 1; i < moments.size(); ++i) {
    out.push_back({moments[i].at_s, value(moments[i - 1], moments[i])});
  }
  return out;
}

double per_s(const Moment& before, const Moment& after, std::uint64_t earlier,
             std::uint64_t later) {
  const double seconds = after.at_s - before.at_s;
  return seconds > 0 ? static_cast<double>(later - earlier) / seconds : 0;
}

/// The share of payments that took at most so long.
std::vector<Point> distribution(const Latencies& of) {
  std::vector<Point> out;
  std::uint64_t seen = 0;
  for (const Latencies::Bucket& bucket : of.filled()) {
    seen += bucket.count;
    out.push_back({std::max(bucket.upto_ms, 0.01),
                   100 * static_cast<double>(seen) / static_cast<double>(of.count())});
  }
  return out;
}

std::vector<Plot> plots(const Driven& driven) {
  const auto& moments = driven.moments;
  const std::string time = "seconds";
  return {
      {"Settled", time, "payments a second",
       between(moments,
               [](const Moment& a, const Moment& b) { return per_s(a, b, a.settled, b.settled); })},
      {"Accepted to settled", "milliseconds", "percent of payments, at most so long",
       distribution(driven.settled), true},
      {"Accepted to confirming", "milliseconds", "percent of payments, at most so long",
       distribution(driven.confirming), true},
      {"Batch size", time, "writes a commit",
       between(moments,
               [](const Moment& a, const Moment& b) {
                 const std::uint64_t commits = b.commits - a.commits;
                 return commits == 0
                            ? 0
                            : static_cast<double>(b.steps - a.steps) / static_cast<double>(commits);
               })},
      {"In flight", time, "payments",
       between(moments,
               [](const Moment&, const Moment& b) { return static_cast<double>(b.in_flight); })},
      {"Memory", time, "bytes",
       between(moments,
               [](const Moment&, const Moment& b) { return static_cast<double>(b.rss_bytes); })},
      {"Calls to the chain", time, "a second",
       between(moments,
               [](const Moment& a, const Moment& b) { return per_s(a, b, a.calls, b.calls); })},
      {"Commits", time, "a second",
       between(moments,
               [](const Moment& a, const Moment& b) { return per_s(a, b, a.commits, b.commits); })},
  };
}

}  // namespace

std::string page(const std::string& command, const Driven& driven, const tools::Report& figures) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>holdfast-load</title><style>";
  out += style;
  out += "</style></head><body><h1>holdfast-load</h1><code>" + escaped(command) + "</code><main>";
  for (const Plot& plot : plots(driven)) out += svg(plot);
  out += "</main><table>";
  for (const tools::Report::Line& line : figures.lines()) {
    out += "<tr><td>" + escaped(line.label) + "</td><td>" +
           escaped(line.value == "null" ? "–" : line.value) + "</td></tr>";
  }
  return out + "</table></body></html>\n";
}

void write_page(const std::string& folder, const std::string& html) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::ofstream file(std::filesystem::path(folder) / "index.html");
  file << html;
  file.flush();
  if (!file) throw std::runtime_error("the report cannot be written to " + folder);
}

}  // namespace holdfast::load

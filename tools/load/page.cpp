#include "page.hpp"

#include <algorithm>
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

/// A run of a day has more moments than a page has pixels: enough of them for one line, the first
/// and the last among them.
std::vector<Moment> thinned(const std::vector<Moment>& moments) {
  constexpr std::size_t most = 400;
  const std::size_t step = std::max<std::size_t>(1, (moments.size() + most - 1) / most);
  std::vector<Moment> out;
  for (std::size_t i = 0; i < moments.size(); i += step) out.push_back(moments[i]);
  if (!moments.empty() && (moments.size() - 1) % step != 0) out.push_back(moments.back());
  return out;
}

/// Of each two moments that follow one another, as a step from the one to the other.
std::vector<Point> between(const std::vector<Moment>& moments,
                           const std::function<double(const Moment&, const Moment&)>& value) {
  std::vector<Point> out;
  for (std::size_t i = 1; i < moments.size(); ++i) {
    const double of = value(moments[i - 1], moments[i]);
    out.push_back({moments[i - 1].at_s, of});
    out.push_back({moments[i].at_s, of});
  }
  return out;
}

std::vector<Point> at_each(const std::vector<Moment>& moments,
                           const std::function<double(const Moment&)>& value) {
  std::vector<Point> out;
  out.reserve(moments.size());
  for (const Moment& moment : moments) out.push_back({moment.at_s, value(moment)});
  return out;
}

double per_s(const Moment& before, const Moment& after, std::uint64_t earlier,
             std::uint64_t later) {
  const double seconds = after.at_s - before.at_s;
  return seconds > 0 ? static_cast<double>(later - earlier) / seconds : 0;
}

/// The share of payments that took at most so long: from none of them up.
std::vector<Point> distribution(const Latencies& of) {
  std::vector<Point> out;
  std::uint64_t seen = 0;
  for (const Latencies::Bucket& bucket : of.filled()) {
    const double ms = std::max(bucket.upto_ms, 0.01);
    if (out.empty()) out.push_back({ms, 0});
    seen += bucket.count;
    out.push_back({ms, 100 * static_cast<double>(seen) / static_cast<double>(of.count())});
  }
  return out;
}

/// What an engine in another process does is not seen: such plots would be flat.
bool tells_something(const Plot& plot) {
  return std::ranges::any_of(plot.points, [](const Point& point) { return point.y != 0; });
}

constexpr const char* time_name = "seconds";

/// A long run in minutes or hours, whose numbers are short.
void show_time(std::vector<Plot>& plots, double last_s) {
  constexpr double minute = 60;
  constexpr double hour = 3'600;
  if (last_s <= 5 * minute) return;
  const bool in_hours = last_s > 3 * hour;
  for (Plot& plot : plots) {
    if (plot.x_name != time_name) continue;
    plot.x_name = in_hours ? "hours" : "minutes";
    for (Point& point : plot.points) point.x /= in_hours ? hour : minute;
  }
}

std::vector<Plot> plots(const Driven& driven) {
  const std::vector<Moment> moments = thinned(driven.moments);
  const std::string time = time_name;
  std::vector<Plot> out{
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
       at_each(moments, [](const Moment& at) { return static_cast<double>(at.in_flight); })},
      {"Memory", time, "bytes",
       at_each(moments, [](const Moment& at) { return static_cast<double>(at.rss_bytes); })},
      {"Calls to the chain", time, "a second",
       between(moments,
               [](const Moment& a, const Moment& b) { return per_s(a, b, a.calls, b.calls); })},
      {"Commits", time, "a second",
       between(moments,
               [](const Moment& a, const Moment& b) { return per_s(a, b, a.commits, b.commits); })},
  };
  show_time(out, moments.empty() ? 0 : moments.back().at_s);
  return out;
}

}  // namespace

std::string page(const std::string& command, const Driven& driven, const tools::Report& figures) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>holdfast-load</title><style>";
  out += style;
  out += "</style></head><body><h1>holdfast-load</h1><code>" + escaped(command) + "</code><main>";
  for (const Plot& plot : plots(driven)) {
    if (tells_something(plot)) out += svg(plot);
  }
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

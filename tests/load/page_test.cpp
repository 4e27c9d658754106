// The page of a run: it opens without a network, and tells something of runs short and long.
#include <string>

#include <doctest/doctest.h>

#include "page.hpp"

using namespace holdfast;
using namespace holdfast::load;

namespace {

std::size_t count_of(const std::string& text, const std::string& wanted) {
  std::size_t out = 0;
  for (std::size_t at = text.find(wanted); at != std::string::npos;
       at = text.find(wanted, at + wanted.size())) {
    ++out;
  }
  return out;
}

Moment moment(double at_s, std::uint64_t settled) {
  Moment out;
  out.at_s = at_s;
  out.settled = out.commits = out.steps = out.calls = settled;
  out.in_flight = 5;
  out.rss_bytes = 1'000'000;
  return out;
}

std::string page_of(const Driven& driven) { return page("holdfast-load --x '<a&b>'", driven, {}); }

}  // namespace

TEST_CASE("page: a run that was over at once has a line in every plot") {
  Driven driven;
  driven.moments = {moment(0, 0), moment(0.01, 1)};
  driven.confirming.add(3'000);
  driven.settled.add(9'000);
  const std::string html = page_of(driven);
  CHECK(count_of(html, "<svg") == 8);
  CHECK(count_of(html, ">seconds</text>") == 6);
  // A line has two ends at least: a single point draws nothing.
  for (std::size_t at = html.find("points=\""); at != std::string::npos;
       at = html.find("points=\"", at + 8)) {
    const std::string points = html.substr(at + 8, html.find('"', at + 8) - at - 8);
    CHECK(count_of(points, ",") >= 2);
  }
}

TEST_CASE("page: a run of a day is a page of some hundred kilobytes") {
  Driven driven;
  for (int i = 0; i < 4 * 86'400; ++i) {
    driven.moments.push_back(moment(i / 4.0, static_cast<std::uint64_t>(i) * 100));
  }
  const std::string html = page_of(driven);
  CHECK(html.size() < 300'000);
  CHECK(html.find(">hours</text>") != std::string::npos);
  CHECK(html.find(">25</text>") != std::string::npos);  // the last tick
  CHECK(html.find(">seconds</text>") == std::string::npos);
}

TEST_CASE("page: what another process did has no plots") {
  Driven driven;
  Moment before = moment(0, 0);
  Moment after = moment(1, 9);
  for (Moment* each : {&before, &after}) {
    each->commits = each->steps = each->calls = each->rss_bytes = 0;
  }
  driven.moments = {before, after};
  const std::string html = page_of(driven);
  CHECK(html.find("<title>In flight</title>") != std::string::npos);
  CHECK(html.find("<title>Memory</title>") == std::string::npos);
  CHECK(html.find("<title>Commits</title>") == std::string::npos);
}

TEST_CASE("page: nothing is fetched from anywhere, and the command is text") {
  Driven driven;
  driven.moments = {moment(0, 0), moment(1, 9)};
  const std::string html = page_of(driven);
  for (const char* const bad : {"http:", "https:", "src=", "href=", "url(", "@import", "<script"}) {
    CHECK(html.find(bad) == std::string::npos);
  }
  CHECK(html.find("'&lt;a&amp;b>'") != std::string::npos);
}

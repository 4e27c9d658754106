// Plots and the page of a run.
#include <string>

#include <doctest/doctest.h>

#include "page.hpp"
#include "plot.hpp"

using namespace holdfast::load;

TEST_CASE("plot: ticks are round, begin at zero and reach the highest value") {
  CHECK(ticks(10) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(ticks(1234).back() >= 1234);
  CHECK(ticks(1234).size() <= 7);
  CHECK(ticks(0) == std::vector<double>{0, 1});
  CHECK(ticks(-3) == std::vector<double>{0, 1});
  CHECK(ticks(0.004).back() == doctest::Approx(0.004));
}

TEST_CASE("plot: numbers are short") {
  CHECK(short_number(0) == "0");
  CHECK(short_number(1'500) == "1.5k");
  CHECK(short_number(25'000'000) == "25M");
  CHECK(short_number(0.25) == "0.25");
}

TEST_CASE("plot: a plot of nothing and a plot of one point are drawn") {
  CHECK(svg({"none", "x", "y", {}}).find("nan") == std::string::npos);
  const std::string one = svg({"one", "x", "y", {{3, 4}}, true});
  CHECK(one.find("nan") == std::string::npos);
  CHECK(one.find("inf") == std::string::npos);
}

TEST_CASE("page: it is whole in itself, and nothing in it is taken for markup") {
  Driven driven;
  driven.moments = {{.at_s = 0}, {.at_s = 1, .settled = 100, .commits = 4, .steps = 40}};
  driven.settled.add(5'000);
  holdfast::tools::Report figures;
  figures.add("settled", "settled", std::uint64_t{100});
  const std::string html = page("holdfast-load --store a<b&c", driven, figures);
  CHECK(html.find("a&lt;b&amp;c") != std::string::npos);
  CHECK(html.find("<polyline") != std::string::npos);
  CHECK(html.find("http") == std::string::npos);
  CHECK(html.find("src=") == std::string::npos);
  CHECK(html.find("<td>settled</td><td>100</td>") != std::string::npos);
}

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <holdfast/base/log.hpp>
#include <holdfast/base/result.hpp>

namespace holdfast::log {
namespace {

/// Lines written while it lives; afterwards the log is silent, as a test's log should be.
class Captured {
 public:
  Captured() {
    set_sink([this](Level level, std::string_view line) { lines.emplace_back(level, line); });
  }
  ~Captured() {
    set_sink([](Level, std::string_view) {});
    set_level(Level::info);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string only() const {
    REQUIRE(lines.size() == 1);
    return lines[0].second;
  }

  std::vector<std::pair<Level, std::string>> lines;
};

}  // namespace

TEST_CASE("log: one line, the event first, fields behind it in their order") {
  Captured log;
  info("claimed", {{"intent", "pi_01"}, {"sequence", 42}, {"free", std::string("yes")}});
  CHECK(log.only() == "claimed intent=pi_01 sequence=42 free=yes");
}

TEST_CASE("log: a value from outside forges neither a line nor a field") {
  const struct {
    std::string value;
    std::string written;
  } rows[] = {
      {"a b", R"("a b")"},
      {"a=b", R"("a=b")"},
      {"", R"("")"},
      {"x\nevent=forged", R"("x?event=forged")"},
      {"x\r\nforged", R"("x??forged")"},
      {"tab\there", R"("tab?here")"},
      {R"(say "no")", R"("say \"no\"")"},
      {R"(back\slash)", R"("back\\slash")"},
      {"\x1b[31m red", R"("?[31m red")"},
  };
  for (const auto& row : rows) {
    Captured log;
    warn("event", {{"key", row.value}});
    CHECK(log.only() == "event key=" + row.written);
  }
}

TEST_CASE("log: a value of control characters alone is quoted as well") {
  const std::pair<std::string, std::string> rows[] = {
      {"\x1b[31mred", R"("?[31mred")"},
      {"del\x7f", R"("del?")"},
      {std::string("nul\0byte", 8), R"("nul?byte")"},
  };
  for (const auto& [value, written] : rows) {
    Captured log;
    warn("event", {{"key", value}});
    CHECK(log.only() == "event key=" + written);
  }
}

TEST_CASE("log: below the lowest level nothing is written, an alarm always is") {
  Captured log;
  debug("quiet");
  CHECK(log.lines.empty());
  set_level(Level::alarm);
  info("quiet");
  warn("quiet");
  CHECK(log.lines.empty());
  alarm("loud");
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0].first == Level::alarm);
  set_level(Level::debug);
  debug("heard");
  CHECK(log.lines.size() == 2);
}

TEST_CASE("log: an empty sink is the default one again, not a line that throws") {
  const Captured log;
  set_sink({});
  set_level(Level::alarm);
  CHECK_NOTHROW(warn("below the level"));
  CHECK_NOTHROW(alarm("on_stderr_again"));
  CHECK(log.lines.empty());
}

TEST_CASE("result: reading a refused result as a value throws what it was refused with") {
  const Result<int> refused =
      Error{boost::system::errc::make_error_code(boost::system::errc::not_supported), "the reason"};
  CHECK_THROWS_WITH_AS(refused.value(), doctest::Contains("the reason"),
                       boost::system::system_error);
}

}  // namespace holdfast::log

// Every enumerator of the ports has one text of its own, and every refusal a code of its own.
#include <set>
#include <string>

#include <doctest/doctest.h>

#include <holdfast/ports/chain.hpp>
#include <holdfast/ports/method.hpp>
#include <holdfast/ports/outcome.hpp>
#include <holdfast/ports/sql.hpp>

using namespace holdfast;
using ports::Outcome;
using ports::RefusalKind;

TEST_CASE("ports: every refusal kind has a text of its own") {
  std::set<std::string_view> texts;
  for (int kind = 0; kind <= static_cast<int>(RefusalKind::other); ++kind) {
    const std::string_view text = ports::to_text(static_cast<RefusalKind>(kind));
    CHECK_FALSE(text.empty());
    CHECK(texts.insert(text).second);
  }
  CHECK(texts.size() == 15);
  CHECK(texts.contains("nonce_too_low"));
}

TEST_CASE("ports: every cause of a broken database has a text of its own") {
  std::set<std::string_view> texts;
  for (int cause = 0; cause <= static_cast<int>(sql::Cause::misuse); ++cause) {
    CHECK(texts.insert(sql::to_text(static_cast<sql::Cause>(cause))).second);
  }
  CHECK(texts.size() == 8);
}

TEST_CASE("ports: chain and verify errors are told apart by category, value and text") {
  std::set<std::string> texts;
  for (int value = 1; value <= static_cast<int>(ports::ChainError::wrong_bytes); ++value) {
    const auto code = make_error_code(static_cast<ports::ChainError>(value));
    CHECK(code.failed());
    CHECK(code.value() == value);
    CHECK(texts.insert(code.message()).second);
  }
  for (int value = 1; value <= static_cast<int>(ports::VerifyError::node_trouble); ++value) {
    const auto code = make_error_code(static_cast<ports::VerifyError>(value));
    CHECK(code.failed());
    CHECK(texts.insert(code.message()).second);
  }
  CHECK(texts.size() == 14);
  for (const std::string& text : texts) CHECK_FALSE(text.starts_with("unknown error"));
  CHECK(make_error_code(ports::ChainError::bad_asset) !=
        make_error_code(ports::VerifyError::bad_signature));
  CHECK(boost::system::error_code(ports::VerifyError::expired).message() ==
        "expired, or too close to its end");
}

TEST_CASE("ports: an outcome never asked for is unknown, never a no") {
  const Outcome<int> outcome;
  CHECK(outcome.ok() == nullptr);
  CHECK(outcome.refused() == nullptr);
  REQUIRE(outcome.unknown() != nullptr);
  CHECK(outcome.text() == "unknown: not asked");
}

TEST_CASE("ports: match reaches the one case that holds") {
  const auto name = [](const Outcome<int>& outcome) {
    return outcome.match([](int) { return "ok"; }, [](const ports::Refused&) { return "refused"; },
                         [](const ports::NotSent&) { return "not sent"; },
                         [](const ports::Unknown&) { return "unknown"; });
  };
  CHECK(std::string(name(7)) == "ok");
  CHECK(std::string(name(ports::Refused{RefusalKind::gas, "too much"})) == "refused");
  CHECK(std::string(name(ports::NotSent{"no route"})) == "not sent");
  CHECK(std::string(name(ports::Unknown{"time-out", false})) == "unknown");
}

TEST_CASE("ports: a failure handed on as another type's stays the same failure") {
  const Outcome<int> refused = ports::Refused{RefusalKind::gas, "too much"};
  CHECK(refused.failure<std::string>().text() == "gas: too much");
  const Outcome<int> unsent = ports::NotSent{"no route"};
  CHECK(unsent.failure<std::string>().text() == "not sent: no route");
  const Outcome<int> lost = ports::Unknown{"time-out", true};
  REQUIRE(lost.failure<std::string>().unknown() != nullptr);
  CHECK(lost.failure<std::string>().unknown()->rate_limited);
  const Outcome<int> fine = 7;
  CHECK(fine.failure<std::string>().ok() == nullptr);
}

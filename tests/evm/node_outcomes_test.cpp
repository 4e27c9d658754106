// What becomes of a node's error object: its message, its reason, and how it ends a call.
#include <string>

#include <boost/json/parse.hpp>

#include <doctest/doctest.h>

#include "evm/node_errors.hpp"

namespace holdfast::evm {
namespace {
using Kind = ports::RefusalKind;
}

TEST_CASE("node errors: a revert is told by its decoded reason, whatever form the data has") {
  const std::string hex =
      "0x08c379a00000000000000000000000000000000000000000000000000000000000000020000000000000000000"
      "0"
      "00000000000000000000000000000000000000000000361626300000000000000000000000000000000000000000"
      "0"
      "0000000000000000";
  const auto refused = [](const std::string& text) {
    const auto outcome = outcome_of_error(boost::json::parse(text));
    REQUIRE(outcome.refused() != nullptr);
    CHECK(outcome.refused()->kind == Kind::reverted);
    return outcome.refused()->message;
  };
  CHECK(refused(R"({"code":3,"message":"execution reverted: x","data":")" + hex + "\"}") == "abc");
  CHECK(refused(R"({"code":-32015,"message":"VM execution error.","data":"Reverted )" + hex +
                "\"}") == "abc");
  CHECK(refused(R"({"code":-32000,"message":"execution reverted","data":{"data":")" + hex +
                "\"}}") == "abc");
  CHECK(refused(R"({"code":3,"message":"execution reverted","data":"0xdeadbeef01"})") ==
        "custom error 0xdeadbeef");
  CHECK(refused(R"({"code":-32000,"message":"execution reverted: paused"})") == "paused");
  CHECK(refused(R"({"code":-32000,"message":"execution reverted","data":"0x"})") ==
        "reverted without a reason");
  const std::string endless(5000, 'x');
  CHECK(refused(R"({"code":3,"message":"execution reverted: )" + endless + "\"}").size() <= 256);
}

TEST_CASE("node errors: a message is printable and bounded before anybody sees it") {
  const auto outcome = outcome_of_error(boost::json::parse(
      R"({"code":-32000,"message":"nonce too low\u001b[31m\n)" + std::string(5000, 'y') + "\"}"));
  REQUIRE(outcome.refused() != nullptr);
  CHECK(outcome.refused()->message.size() < 256);
  CHECK(outcome.refused()->message.find('\n') == std::string::npos);
  CHECK(outcome.refused()->message.find('\x1b') == std::string::npos);
}

TEST_CASE("node errors: an error nobody catalogued is unknown, and a malformed one too") {
  for (const char* text : {R"({"code":-32000,"message":"something new"})", R"({"message":7})",
                           R"({"code":"x"})", "null", "[]", R"("nonce too low")", "{}"}) {
    CAPTURE(text);
    const auto outcome = outcome_of_error(boost::json::parse(text));
    REQUIRE(outcome.unknown() != nullptr);
    CHECK_FALSE(outcome.unknown()->rate_limited);
  }
  const auto limited = outcome_of_error(boost::json::parse(R"({"code":-32005,"message":"slow"})"));
  REQUIRE(limited.unknown() != nullptr);
  CHECK(limited.unknown()->rate_limited);
}

TEST_CASE("node errors: only an acceptance says that the bytes are already known") {
  const auto known = outcome_of_error(
      boost::json::parse(R"({"code":-32003,"message":"transaction already imported"})"));
  REQUIRE(known.refused() != nullptr);
  CHECK(says_already_known(*known.refused()));

  const auto policy = outcome_of_error(boost::json::parse(
      R"({"code":-32000,"message":"Plugin has marked the transaction as invalid"})"));
  REQUIRE(policy.refused() != nullptr);
  CHECK_FALSE(says_already_known(*policy.refused()));
  const auto reverted = outcome_of_error(
      boost::json::parse(R"({"code":3,"message":"execution reverted: already known"})"));
  REQUIRE(reverted.refused() != nullptr);
  CHECK(reverted.refused()->message == "already known");
  CHECK_FALSE(says_already_known(*reverted.refused()));
}

}  // namespace holdfast::evm

// Bodies: what is JSON here, and what each kind of field takes.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "http/json_body.hpp"

namespace holdfast::http {
namespace {

std::string nested(std::size_t levels) {
  std::string out = "{\"a\":";
  for (std::size_t i = 1; i < levels; ++i) out += "[";
  out += "1";
  for (std::size_t i = 1; i < levels; ++i) out += "]";
  return out + "}";
}

/// The sentence a body is refused with; empty when it is taken.
std::string refusal(std::string_view text) {
  const JsonBody body = read_json(text, false);
  if (!body.problem) return {};
  CHECK(body.problem->status == 400);
  CHECK(body.problem->code == "bad_json");
  return body.problem->detail;
}

const std::string two_to_256_less_1 =
    "115792089237316195423570985008687907853269984665640564039457584007913129639935";
const std::string two_to_256 =
    "115792089237316195423570985008687907853269984665640564039457584007913129639936";

}  // namespace

TEST_CASE("json: a body is one object of valid UTF-8, at most 16 levels deep, no key twice") {
  struct Row {
    std::string text;
    std::string says;
  };
  const std::vector<Row> table = {
      {"", "empty"},
      {" ", "not JSON"},
      {"{", "not JSON"},
      {"{}}", "not JSON"},
      {"{'a':1}", "not JSON"},
      {"{\"a\":1,}", "not JSON"},
      {"{\"a\":NaN}", "not JSON"},
      {"// x\n{}", "not JSON"},
      {"{\"a\":\"\xff\"}", "not JSON"},
      {"{\"a\":\"\xc0\xaf\"}", "not JSON"},
      {"{\"a\":\"\\ud800\"}", "not JSON"},
      {"\xef\xbb\xbf{}", "not JSON"},
      {"[]", "object"},
      {"1", "object"},
      {"null", "object"},
      {"\"x\"", "object"},
      {R"({"a":1,"a":1})", "'a': the field comes more than once"},
      {R"({"a":1,"\u0061":2})", "'a': the field comes more than once"},
      {R"({"x":{"b":1,"b":2}})", "'b'"},
      {R"({"x":[{"b":1},{"b":2,"c":3,"b":4}]})", "'b'"},
      {nested(17), "16 levels"},
      {nested(100'000), "16 levels"},
  };
  for (const Row& row : table) {
    CAPTURE(row.text.substr(0, 60));
    CHECK(refusal(row.text).find(row.says) != std::string::npos);
  }
  CHECK(refusal("{}").empty());
  CHECK(refusal(nested(16)).empty());
  CHECK(refusal(R"({"x":[{"b":1},{"b":2}],"y":{"b":3},"b":4})").empty());
  CHECK(refusal(" {\"a\" : 1 } \n").empty());
  CHECK(refusal(R"({"a:":"\"x\":1,\\","b":[":",{"a:":":"}]})").empty());
}

TEST_CASE("json: an empty body is an object where nothing is needed") {
  const JsonBody body = read_json("", true);
  CHECK_FALSE(body.problem.has_value());
  CHECK(body.object.empty());
}

TEST_CASE("json: the canonical text is the same for every spelling") {
  const auto canonical = [](std::string_view text) {
    return canonical_text(read_json(text, false).object);
  };
  CHECK(canonical(R"({"b":"x","a":[1,{"d":1,"c":2}]})") ==
        canonical("{ \"a\" : [ 1, {\"c\":2, \"d\":1} ],\n\"b\":\"\\u0078\" }"));
  CHECK(canonical(R"({"a":"1"})") != canonical(R"({"a":1})"));
  CHECK(canonical(R"({"a":[1,2]})") != canonical(R"({"a":[2,1]})"));
  // Stored fingerprints are of this text: as Boost.JSON writes it, whatever is in it.
  const std::string sorted = R"({"":[],"A":{},"a":[null,true,false,-1,18446744073709551615,1.5E0],)"
                             R"("b\n":"\"\/\u0001\t\u001f\u007f~ é€","c":{"a":"","b":[[{}]]}})";
  const auto parsed = boost::json::parse(sorted).as_object();
  CHECK(canonical(sorted) == boost::json::serialize(parsed));
  CHECK(canonical("{}") == "{}");
  for (const std::string alone : {R"("\\")", R"("\"")", R"("\u007f")", R"("\b")", R"("é")"}) {
    const std::string one = "{" + alone + ":" + alone + "}";
    CHECK(canonical(one) == boost::json::serialize(boost::json::parse(one)));
  }
}

TEST_CASE("json: an amount is a plain decimal string, exact to 2^256-1, and nothing else") {
  const auto read = [](const std::string& value, std::string* detail) {
    const JsonBody body = read_json("{\"amount\":" + value + "}", false);
    REQUIRE_FALSE(body.problem.has_value());
    Fields fields(body.object, {"amount"});
    const domain::Amount amount = fields.amount("amount");
    if (!fields.problem()) return amount.decimal();
    CHECK(fields.problem()->status == 400);
    *detail = fields.problem()->detail;
    return std::string("refused");
  };
  std::string detail;
  for (const std::string& good :
       {std::string("1"), std::string("1000000"), std::string("9007199254740993"),
        std::string("18446744073709551616"), two_to_256_less_1}) {
    CHECK(read("\"" + good + "\"", &detail) == good);
  }
  for (const std::string& bad : {"\"" + two_to_256 + "\"",
                                 std::string("\"0\""),
                                 std::string("\"-1\""),
                                 std::string("\"+1\""),
                                 std::string("\"1e6\""),
                                 std::string("\"0x10\""),
                                 std::string("\"01\""),
                                 std::string("\" 1\""),
                                 std::string("\"1 \""),
                                 std::string("\"1.0\""),
                                 std::string("\"1,000\""),
                                 std::string("\"1_000\""),
                                 std::string("\"\""),
                                 std::string("\"\\u0661\""),
                                 std::string("\"1\\u0000\""),
                                 std::string("9007199254740993"),
                                 std::string("1"),
                                 std::string("1.5"),
                                 std::string("null"),
                                 std::string("true"),
                                 std::string("[\"1\"]"),
                                 std::string("{}"),
                                 "\"" + std::string(100'000, '9') + "\""}) {
    CAPTURE(bad.substr(0, 90));
    detail.clear();
    CHECK(read(bad, &detail) == "refused");
    CHECK(detail.find("amount: ") == 0);
    CHECK(detail.find("2^256-1") != std::string::npos);
  }
}

TEST_CASE("json: fields are bounded, typed, known, and the first problem names its field") {
  struct Row {
    const char* text;
    const char* code;
    const char* says;
  };
  const std::string long_word(129, 'x');
  const std::string long_reason(201, 'x');
  const std::string long_hex(4'098, 'a');
  const std::string with_long_word = R"({"word":")" + long_word + "\"}";
  const std::string with_long_reason = R"({"reason":")" + long_reason + "\"}";
  const std::string with_long_hex = R"({"hex":")" + long_hex + "\"}";
  const std::vector<Row> table = {
      {R"({})", "missing_field", "word: the field is missing"},
      {R"({"word":1})", "bad_field", "word: must be a string"},
      {R"({"word":null})", "bad_field", "word: "},
      {R"({"word":""})", "bad_field", "128"},
      {R"({"word":"a b"})", "bad_field", "word: "},
      {R"({"word":"a\n"})", "bad_field", "word: "},
      {R"({"word":"a\u0000"})", "bad_field", "word: "},
      {R"({"word":"é"})", "bad_field", "word: "},
      {with_long_word.c_str(), "bad_field", "word: "},
      {R"({"word":"a","other":1})", "unknown_field", "'other': no such field"},
      {R"({"word":"a","reason":"x\u0007"})", "bad_field", "reason: "},
      {R"({"word":"a","reason":""})", "bad_field", "reason: "},
      {R"({"word":"a","reason":{}})", "bad_field", "reason: "},
      {R"({"word":"a","seconds":0})", "bad_field", "seconds: "},
      {R"({"word":"a","seconds":-5})", "bad_field", "seconds: "},
      {R"({"word":"a","seconds":101})", "bad_field", "1 to 100"},
      {R"({"word":"a","seconds":1.5})", "bad_field", "seconds: "},
      {R"({"word":"a","seconds":"5"})", "bad_field", "seconds: "},
      {R"({"word":"a","seconds":99999999999999999999})", "bad_field", "seconds: "},
      {R"({"word":"a","hex":"0x1"})", "bad_field", "hex: "},
      {R"({"word":"a","hex":"0x"})", "bad_field", "hex: "},
      {R"({"word":"a","hex":"zz"})", "bad_field", "hex: "},
      {R"({"word":"a","hex":12})", "bad_field", "hex: "},
      {R"({"word":"a","words":[]})", "bad_field", "words: must be a list of 1 to 2"},
      {R"({"word":"a","words":"pay"})", "bad_field", "words: "},
      {R"({"word":"a","words":["x","y","z"]})", "bad_field", "words: "},
      {R"({"word":"a","words":["x","x"]})", "bad_field", "words: 'x' comes more than once"},
      {R"({"word":"a","words":[1]})", "bad_field", "words: "},
  };
  const auto read = [](std::string_view text) -> std::optional<Problem> {
    const JsonBody body = read_json(text, false);
    REQUIRE_FALSE(body.problem.has_value());
    Fields fields(body.object, {"word", "reason", "seconds", "hex", "words"});
    fields.word("word");
    fields.sentence("reason", false);
    fields.seconds("seconds", 100);
    if (body.object.contains("hex")) fields.hex("hex");
    if (body.object.contains("words")) fields.words("words", 2);
    return fields.problem();
  };
  for (const Row& row : table) {
    CAPTURE(row.text);
    const auto problem = read(row.text);
    REQUIRE(problem.has_value());
    CHECK(problem->code == row.code);
    CHECK(problem->detail.find(row.says) != std::string::npos);
  }
  CHECK(read(with_long_reason)->code == "missing_field");  // the first one, which is `word`
  CHECK(read(with_long_hex)->code == "missing_field");
  CHECK_FALSE(read(R"({"word":"a","reason":"zu spät","seconds":100,"hex":"0xAb","words":["x"]})")
                  .has_value());
}

TEST_CASE("json: a signature's text is at most 4 KiB") {
  const auto reads = [](std::size_t characters) {
    const std::string text = R"({"hex":")" + std::string(characters, 'a') + "\"}";
    const JsonBody body = read_json(text, false);
    Fields fields(body.object, {"hex"});
    return fields.hex("hex").size();
  };
  CHECK(reads(4'096) == 2'048);
  CHECK(reads(4'098) == 0);
}

}  // namespace holdfast::http

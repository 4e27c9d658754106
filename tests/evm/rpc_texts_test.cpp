// The parts of the client that are only text: URLs and their secrets, HTTP messages, JSON-RPC
// bodies.
#include <array>
#include <string>
#include <vector>

#include <boost/json/serialize.hpp>

#include <doctest/doctest.h>

#include "evm/http_rpc.hpp"
#include "evm/http_rpc_batch.hpp"
#include "evm/http_rpc_endpoint.hpp"
#include "evm/http_rpc_message.hpp"

namespace holdfast::evm {
namespace {

namespace json = boost::json;
using Verdict = BatchAnswer::Verdict;

/// The ending of each call 1, 2, 3 as text.
std::vector<std::string> endings(const std::string& body) {
  static constexpr std::array<std::uint64_t, 3> ids{1, 2, 3};
  const BatchAnswer answer = read_answer(ids, body, {});
  REQUIRE(answer.verdict == Verdict::read);
  REQUIRE(answer.outcomes.size() == 3);
  std::vector<std::string> out;
  out.reserve(ids.size());
  for (const auto& outcome : answer.outcomes) {
    out.push_back(outcome.ok() != nullptr ? json::serialize(*outcome.ok()) : outcome.text());
  }
  return out;
}

Verdict verdict_on(const std::string& body) {
  static constexpr std::array<std::uint64_t, 2> ids{1, 2};
  return read_answer(ids, body, {}).verdict;
}

constexpr const char* missing = "unknown: the answer has no element for this call";

}  // namespace

TEST_CASE("rpc batch: what is missing, doubled or foreign is unknown, and the rest is read") {
  using Texts = std::vector<std::string>;
  CHECK(endings(R"([{"id":3,"result":"c"},{"id":1,"result":"a"},{"id":2,"result":"b"}])") ==
        Texts{"\"a\"", "\"b\"", "\"c\""});
  CHECK(endings(R"([{"id":1,"result":"a"},{"id":3,"result":"c"}])") ==
        Texts{"\"a\"", missing, "\"c\""});
  CHECK(endings(R"([{"id":1,"result":"a"},{"id":2,"result":"b"},{"id":2,"result":"x"},
                    {"id":3,"result":"c"}])") ==
        Texts{"\"a\"", "unknown: the answer has two elements for this call", "\"c\""});
  CHECK(endings(R"([{"id":1,"result":"a"},{"id":9,"result":"b"},{"id":null,"result":"c"},
                    {"id":"2","result":"b"},{"id":3.0,"result":"c"},
                    {"id":-1,"result":1},7,null,[]])") == Texts{"\"a\"", missing, missing});
  CHECK(endings("[]") == Texts{missing, missing, missing});
}

TEST_CASE("rpc batch: an element without a clear ending is unknown") {
  const auto all = endings(R"([{"id":1},{"id":2,"result":null,"error":null},
                               {"id":3,"result":"x","error":{"code":1,"message":"y"}}])");
  CHECK(all[0] == "unknown: the answer has neither a result nor an error");
  CHECK(all[1] == "null");
  CHECK(all[2] == "unknown: the answer has both a result and an error");
}

TEST_CASE("rpc batch: what is no array, no JSON, or goes on behind it leaves every call unknown") {
  for (const char* body :
       {"", "{}", "null", "\"x\"", "7", "<html>", "[", R"([{"id":1,"result":"a"}]])",
        R"([{"id":1,"result":"a"}] trailing)", R"({"id":1,"result":"a"})",
        R"({"id":null,"error":{"code":-32603,"message":"nonce too low"}})", "\xff\xfe"}) {
    CAPTURE(body);
    for (const std::string& text : endings(body)) CHECK(text.starts_with("unknown: "));
  }
}

TEST_CASE("rpc batch: a refusal of batches is told from an error of the calls") {
  CHECK(verdict_on(R"({"error":{"code":-32000,"message":"Batch requests are not supported"}})") ==
        Verdict::batches_refused);
  CHECK(verdict_on(R"({"id":null,"error":{"code":-32600,"message":"invalid request"}})") ==
        Verdict::batches_refused);
  CHECK(verdict_on(R"({"error":{"code":-32000,"message":"Batch size too large"}})") ==
        Verdict::batch_too_large);
  CHECK(verdict_on(R"([{"id":1,"error":{"code":-32600,"message":"batch too large"}}])") ==
        Verdict::batch_too_large);
  CHECK(verdict_on(R"([{"id":1,"error":{"code":-32600,"message":"invalid request"}}])") ==
        Verdict::read);
  CHECK(verdict_on(R"({"error":{"code":429,"message":"batch rate limit"}})") == Verdict::read);
  CHECK(verdict_on(R"({"error":"batch"})") == Verdict::read);
}

TEST_CASE("rpc batch: our secrets are taken out of a node's words before these are cut") {
  Secrets secrets;
  secrets.add("MARKER-SECRET");
  const std::array<std::uint64_t, 1> ids{1};
  // So long that the cut at 200 bytes falls into the secret.
  const std::string words = std::string(190, 'x') + "MARKER-SECRET and more";
  const auto answer =
      read_answer(ids, R"({"id":1,"error":{"code":-32000,"message":")" + words + "\"}}", secrets);
  REQUIRE(answer.outcomes.size() == 1);
  CHECK(answer.outcomes[0].text().find("MARK") == std::string::npos);
}

TEST_CASE("rpc batch: a method's name and its parameters are escaped") {
  CHECK(call_text(7, "a\"b", {"\n", 1}) ==
        R"({"jsonrpc":"2.0","id":7,"method":"a\"b","params":["\n",1]})");
  const std::array<std::string_view, 2> two{"{1}", "{2}"};
  CHECK(body_of(two) == "[{1},{2}]");
  CHECK(body_of(std::span(two).first(1)) == "{1}");
}

TEST_CASE("rpc endpoint: what is dialled, what is sent and what is shown") {
  const auto full = parse_endpoint("https://us%40er:p%3Ass@Node.Example:8443/v3/key?token=abcd");
  REQUIRE(full.has_value());
  CHECK(full->tls);
  CHECK(full->port == 8443);
  CHECK(full->target == "/v3/key?token=abcd");
  CHECK(full->authorization == "Basic dXNAZXI6cDpzcw==");  // us@er:p:ss
  CHECK(full->host_field == "Node.Example:8443");
  CHECK(full->shown == "https://Node.Example:8443");

  const auto plain = parse_endpoint("http://127.0.0.1");
  REQUIRE(plain.has_value());
  CHECK_FALSE(plain->tls);
  CHECK(plain->port == 80);
  CHECK(plain->target == "/");
  CHECK(plain->authorization.empty());
  CHECK(plain->host_field == "127.0.0.1");
  CHECK(plain->shown == "http://127.0.0.1:80");

  const auto six = parse_endpoint("https://[::1]?k");
  REQUIRE(six.has_value());
  CHECK(six->host == "::1");
  CHECK(six->host_field == "[::1]");
  CHECK(six->shown == "https://[::1]:443");
  CHECK(six->target == "/?k");
}

TEST_CASE("rpc endpoint: a bad URL is refused without being repeated") {
  for (const std::string& url :
       {std::string(""), std::string("SECRETHOST"), std::string("ftp://SECRETHOST/"),
        std::string("http:///SECRET"), std::string("http://:80/SECRET"),
        std::string("http://SECRETHOST:0/"), std::string("http://SECRETHOST:99999/"),
        std::string("http://SECRETHOST:8x/"), std::string("http://SECRETHOST:x/"),
        std::string("http://user:SECRET@SECRET@host/"), std::string("http://SECRET%20HOST/"),
        std::string("http://[v1.SECRET]/"), std::string("http://SECRET HOST/"),
        std::string("http://SECRETHOST/\r\nX: y"), std::string("http://SECRETHOST/#fragment"),
        std::string("//SECRETHOST/"), "http://SECRETHOST/" + std::string(2048, 'x')}) {
    CAPTURE(url);
    const auto parsed = parse_endpoint(url);
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().code == RpcError::bad_url);
    CHECK(parsed.error().detail.find("SECRET") == std::string::npos);
    CHECK(parsed.error().detail.starts_with("the RPC URL"));
  }
}

TEST_CASE("rpc endpoint: every part of a URL that may be secret is found in every form") {
  const auto endpoint = parse_endpoint(
      "https://theuser:thepass%21@host/path-secret/seg%2Fment?token=query-secret&onlykey1");
  REQUIRE(endpoint.has_value());
  for (const char* text :
       {"theuser", "thepass!", "thepass%21", "theuser:thepass!", "path-secret", "seg/ment",
        "seg%2Fment", "query-secret", "onlykey1",
        "dGhldXNlcjp0aGVwYXNzIQ==", "/path-secret/seg%2Fment?token=query-secret&onlykey1"}) {
    CAPTURE(text);
    CHECK(endpoint->secrets.scrub("a " + std::string(text) + " b") == "a [redacted] b");
  }
  CHECK(endpoint->secrets.scrub("a token is not one") == "a token is not one");
}

TEST_CASE("rpc message: an answer may come in any pieces") {
  const std::string whole =
      "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  for (std::size_t step = 1; step <= whole.size(); ++step) {
    CAPTURE(step);
    HttpAnswerReader reader(100);
    auto state = HttpAnswerReader::State::more;
    for (std::size_t at = 0; at < whole.size(); at += step) {
      REQUIRE(state == HttpAnswerReader::State::more);
      state = reader.put(std::string_view(whole).substr(at, step));
    }
    REQUIRE(state == HttpAnswerReader::State::done);
    const HttpAnswer answer = reader.take();
    CHECK(answer.status == 429);
    CHECK(answer.body == "abcde");
    CHECK(answer.keep_alive);
    CHECK(answer.retry_after == std::optional<std::string>("7"));
  }
}

TEST_CASE("rpc message: the last chunk of an answer without a body may come byte by byte") {
  using State = HttpAnswerReader::State;
  for (const char* chunk : {"0\r\n\r\n", "0;x=y\r\n\r\n", "0\r\nA: b\r\n\r\n", "00\r\n\r\n"}) {
    CAPTURE(chunk);
    for (const std::size_t step : {1, 2, 3, 4}) {
      HttpAnswerReader reader(100);
      State state = reader.put("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      for (std::string_view rest = chunk; !rest.empty();) {
        REQUIRE(state == State::more);
        state = reader.put(rest.substr(0, step));
        rest.remove_prefix(std::min(step, rest.size()));
      }
      CHECK(state == State::done);
      CHECK(reader.take().body.empty());
    }
  }
  HttpAnswerReader cut(100);
  CHECK(cut.put("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n") == State::more);
  CHECK(cut.put("\r") == State::more);
  CHECK(cut.end() == State::bad);
}

TEST_CASE("rpc message: a cut answer is bad, an answer that ends with the connection is whole") {
  using State = HttpAnswerReader::State;
  HttpAnswerReader cut(100);
  CHECK(cut.put("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab") == State::more);
  CHECK(cut.end() == State::bad);
  CHECK(cut.trouble() == "the answer was cut off");

  HttpAnswerReader open(100);
  CHECK(open.put("HTTP/1.1 200 OK\r\n\r\nab") == State::more);
  CHECK(open.end() == State::done);
  const HttpAnswer answer = open.take();
  CHECK(answer.body == "ab");
  CHECK_FALSE(answer.keep_alive);

  HttpAnswerReader nothing(100);
  CHECK(nothing.end() == State::bad);
}

TEST_CASE("rpc message: Retry-After is seconds or a date, and at most thirty seconds") {
  const std::int64_t now_ms = 784'111'777'000;  // Sun, 06 Nov 1994 08:49:37 GMT
  CHECK(retry_after_ms("0", now_ms) == std::optional<std::int64_t>(0));
  CHECK(retry_after_ms("7", now_ms) == std::optional<std::int64_t>(7000));
  CHECK(retry_after_ms("3600", now_ms) == std::optional<std::int64_t>(30'000));
  CHECK(retry_after_ms("99999999999999999999999", now_ms) == std::optional<std::int64_t>(30'000));
  CHECK(retry_after_ms("Sun, 06 Nov 1994 08:49:42 GMT", now_ms) ==
        std::optional<std::int64_t>(5000));
  CHECK(retry_after_ms("Sun, 06 Nov 1994 08:49:30 GMT", now_ms) == std::optional<std::int64_t>(0));
  CHECK(retry_after_ms("Sun, 06 Nov 2094 08:49:30 GMT", now_ms) ==
        std::optional<std::int64_t>(30'000));
  for (const char* bad : {"", "-1", "soon", "7s", "Sun, 06 Nov 1994 08:49:42 GMT x"}) {
    CAPTURE(bad);
    CHECK_FALSE(retry_after_ms(bad, now_ms).has_value());
  }
}

TEST_CASE("rpc message: a request holds exactly the body it announces") {
  const auto endpoint = parse_endpoint("http://u:p@host:8545/x?y");
  REQUIRE(endpoint.has_value());
  const std::string text = http_request(*endpoint, "{}");
  CHECK(text.starts_with("POST /x?y HTTP/1.1\r\nHost: host:8545\r\n"));
  CHECK(text.find("Authorization: Basic dTpw\r\n") != std::string::npos);
  CHECK(text.ends_with("Content-Length: 2\r\n\r\n{}"));
}

}  // namespace holdfast::evm

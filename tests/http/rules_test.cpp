// The rules that need no engine: headers, keys, targets, routes, scopes, fingerprints.
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <holdfast/http/keys.hpp>

#include "http/api.hpp"
#include "http/target.hpp"
#include "sim/entropy.hpp"

namespace holdfast::http {
namespace {

Request request_with(std::vector<Header> headers) {
  Request request;
  request.method = "POST";
  request.target = "/v1/payment_intents";
  request.headers = std::move(headers);
  return request;
}

std::string code_of(const std::optional<Problem>& problem) {
  return problem ? std::string(problem->code) : std::string();
}

Request at(std::string_view method, std::string_view target) {
  Request request;
  request.method = method;
  request.target = target;
  return request;
}

}  // namespace

TEST_CASE("idempotency: the key comes once, has 1 to 255 printable characters and is not blank") {
  const auto code = [](std::vector<Header> headers) {
    return code_of(read_idempotency_key(request_with(std::move(headers))).problem);
  };
  CHECK(code({}) == "missing_header");
  CHECK(code({{"Idempotency-Key", ""}}) == "bad_header");
  CHECK(code({{"Idempotency-Key", "   "}}) == "bad_header");
  CHECK(code({{"Idempotency-Key", "a\tb"}}) == "bad_header");
  CHECK(code({{"Idempotency-Key", "caf\xc3\xa9"}}) == "bad_header");
  CHECK(code({{"Idempotency-Key", std::string(256, 'k')}}) == "bad_header");
  CHECK(code({{"Idempotency-Key", "a"}, {"idempotency-key", "a"}}) == "repeated_header");
  CHECK(code({{"Idempotency-Key", "a b"}}).empty());
  CHECK(code({{"IDEMPOTENCY-KEY", std::string(255, 'k')}}).empty());
}

TEST_CASE("idempotency: method, path and body make a request what it is") {
  Request first = at("POST", "/v1/payment_intents");
  REQUIRE_FALSE(read_target(first).has_value());
  Request other_path = at("POST", "/v1/payment_intents/pi_1/cancel");
  REQUIRE_FALSE(read_target(other_path).has_value());
  Request other_method = at("DELETE", "/v1/payment_intents");
  REQUIRE_FALSE(read_target(other_method).has_value());
  const Digest whole = fingerprint(first, R"({"a":"1"})");
  CHECK(whole == fingerprint(first, R"({"a":"1"})"));
  CHECK(whole != fingerprint(first, R"({"a":"2"})"));
  CHECK(whole != fingerprint(other_path, R"({"a":"1"})"));
  CHECK(whole != fingerprint(other_method, R"({"a":"1"})"));
}

TEST_CASE("idempotency: one place per caller, route and key, free again when its claim goes") {
  InProgress in_progress;
  Request create = at("POST", "/v1/payment_intents");
  Request cancel = at("POST", "/v1/payment_intents/pi_1/cancel");
  REQUIRE_FALSE(read_target(create).has_value());
  REQUIRE_FALSE(read_target(cancel).has_value());
  {
    const auto first = in_progress.claim("shop", create, "k");
    REQUIRE(first.has_value());
    CHECK_FALSE(in_progress.claim("shop", create, "k").has_value());
    CHECK(in_progress.claim("other", create, "k").has_value());
    CHECK(in_progress.claim("shop", cancel, "k").has_value());
    CHECK(in_progress.claim("shop", create, "k2").has_value());
    CHECK_FALSE(in_progress.claim("shop", create, "k").has_value());
  }
  CHECK(in_progress.claim("shop", create, "k").has_value());
}

TEST_CASE("headers: what would be read in two ways is refused") {
  const auto code = [](std::vector<Header> headers) {
    headers.push_back({"Host", "h"});
    return code_of(check_headers(request_with(std::move(headers))));
  };
  CHECK(code({}).empty());
  for (const char* name : {"Host", "Authorization", "Content-Length", "Content-Type",
                           "Transfer-Encoding", "Idempotency-Key"}) {
    CAPTURE(name);
    CHECK(code({{name, "1"}, {name, "1"}}) == "repeated_header");
  }
  CHECK(code({{"X-Any", "1"}, {"X-Any", "2"}}).empty());
  CHECK(code({{"Transfer-Encoding", "chunked"}, {"Content-Length", "1"}}) == "bad_header");
  CHECK(code({{"Transfer-Encoding", "Chunked"}}).empty());
  for (const char* coding : {"identity", "gzip", "gzip, chunked", "chunked, chunked", ""}) {
    CAPTURE(coding);
    CHECK(code({{"Transfer-Encoding", coding}}) == "bad_header");
  }
  CHECK(code({{"Expect", "200-maybe"}}) == "expectation_failed");
  CHECK(code({{"Expect", "100-Continue"}}).empty());

  Request bare = request_with({});
  CHECK(code_of(check_headers(bare)) == "missing_header");
  bare.http_1_0 = true;
  CHECK(code_of(check_headers(bare)).empty());
}

TEST_CASE("headers: a body is JSON, unpacked, and only where one is read") {
  const Route& post = *find_route("POST", {"v1", "payment_intents"}).route;
  const Route& get = *find_route("GET", {"v1", "payment_intents"}).route;
  const auto code = [](std::vector<Header> headers, const Route& route) {
    Request request = request_with(std::move(headers));
    request.has_body = true;
    return code_of(check_body_headers(request, route));
  };
  CHECK(code({{"Content-Type", "application/json"}}, post).empty());
  CHECK(code({{"content-type", "Application/JSON ; charset=utf-8"}}, post).empty());
  CHECK(code({}, post) == "unsupported_media_type");
  CHECK(code({{"Content-Type", "text/json"}}, post) == "unsupported_media_type");
  CHECK(code({{"Content-Type", "application/json-seq"}}, post) == "unsupported_media_type");
  CHECK(code({{"Content-Type", "application/x-www-form-urlencoded"}}, post) ==
        "unsupported_media_type");
  CHECK(code({{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}}, post) ==
        "unsupported_media_type");
  CHECK(code({{"Content-Type", "application/json"}}, get) == "bad_request");
  CHECK(code_of(check_body_headers(request_with({}), post)).empty());
}

TEST_CASE("targets: path and query are decoded once, and refused when they are strange") {
  Request good = at("GET", "/v1/payment_intents/pi%5f1?state=settled&limit=2");
  REQUIRE_FALSE(read_target(good).has_value());
  CHECK(good.path == std::vector<std::string>{"v1", "payment_intents", "pi_1"});
  CHECK(good.path_text() == "/v1/payment_intents/pi_1");
  CHECK(good.query.at(0) == std::pair<std::string, std::string>{"state", "settled"});
  CHECK(good.query.at(1) == std::pair<std::string, std::string>{"limit", "2"});

  std::string many = "/x?a0=1";
  for (int i = 1; i < 20; ++i) many += "&a" + std::to_string(i) + "=1";
  for (const std::string& bad :
       {std::string("v1"), std::string(""), std::string("*"), std::string("http://h/v1"),
        std::string("/a%2fb"), std::string("/a%00"), std::string("/a%0d%0ab"), std::string("/a%zz"),
        std::string("/./"), std::string("/.//x"), std::string("/v1/../v1/keys"),
        std::string("/%2e"), std::string("/%ff"), std::string("/x?a=1&a=2"),
        std::string("/x?a=%0a"), std::string("/x y"), many}) {
    CAPTURE(bad);
    Request request = at("GET", bad);
    CHECK(code_of(read_target(request)) == "bad_request");
  }
}

TEST_CASE("targets: numbers in a query are plain and bounded") {
  const auto code = [](const std::string& value) {
    Request request = at("GET", "/x?limit=" + value);
    REQUIRE_FALSE(read_target(request).has_value());
    Query query(request);
    query.number("limit", 5, 1, 500);
    return code_of(query.problem());
  };
  for (const char* bad : {"", "0", "501", "-1", "-0", "%2b1", "1.0", "1e2", "x", "1x", "%201",
                          "99999999999999999999"}) {
    CAPTURE(bad);
    CHECK(code(bad) == "bad_request");
  }
  CHECK(code("1").empty());
  CHECK(code("500").empty());
}

TEST_CASE("routes: paths are matched whole, HEAD goes where GET goes, the rest is told what is") {
  CHECK(find_route("GET", {"v1", "payment_intents", "pi_1"}).route->action == Action::find_intent);
  CHECK(find_route("HEAD", {"v1", "payment_intents", "pi_1"}).parameters ==
        std::vector<std::string>{"pi_1"});
  CHECK(find_route("POST", {"v1", "accounts", "eip155:1", "0xA", "adopt"}).parameters ==
        std::vector<std::string>{"eip155:1", "0xA"});
  CHECK(find_route("POST", {"v1", "payment_intents", "pi_1", "cancel"}).route->action ==
        Action::cancel_intent);
  CHECK(find_route("PUT", {"v1", "payment_intents"}).allowed == "POST, GET, HEAD, OPTIONS");
  CHECK(find_route("get", {"healthz"}).allowed == "GET, HEAD, OPTIONS");
  CHECK(find_route("HEAD", {"v1", "payment_intents", "pi_1", "cancel"}).allowed == "POST, OPTIONS");
  for (const std::vector<std::string>& nowhere :
       std::vector<std::vector<std::string>>{{},
                                             {""},
                                             {"v1"},
                                             {"v1", "payment_intents", ""},
                                             {"v1", "payment_intents", "a", "b", "c"},
                                             {"v1", "payment_intents", "a", "settle"},
                                             {"v2", "payment_intents"},
                                             {"healthz", ""}}) {
    const Found found = find_route("GET", nowhere);
    CHECK(found.route == nullptr);
    CHECK(found.allowed.empty());
  }
}

TEST_CASE("auth: what each scope may do") {
  // method and path → the scopes that open it; "-" where nobody is asked
  const std::map<std::string, std::string> table = {
      {"POST /v1/payment_intents", "pay payout"},
      {"GET /v1/payment_intents", "pay payout ops x402"},
      {"GET /v1/payment_intents/{id}", "pay payout ops x402"},
      {"POST /v1/payment_intents/{id}/authorize", "pay"},
      {"POST /v1/payment_intents/{id}/cancel", "pay payout"},
      {"POST /v1/payment_intents/{id}/abandon", "ops"},
      {"GET /v1/payment_refs/{ref}", "pay payout ops x402"},
      {"GET /v1/balances", "ops"},
      {"GET /v1/events", "ops"},
      {"GET /v1/chains", "pay payout ops x402"},
      {"POST /v1/keys", "ops"},
      {"GET /v1/keys", "ops"},
      {"DELETE /v1/keys/{name}", "ops"},
      {"GET /v1/dead_letters", "ops"},
      {"GET /v1/dead_letters/{n}", "ops"},
      {"POST /v1/dead_letters/{n}/redrive", "ops"},
      {"POST /v1/dead_letters/{n}/drop", "ops"},
      {"GET /v1/reviews", "ops"},
      {"GET /v1/reviews/{id}", "ops"},
      {"POST /v1/payment_intents/{id}/resolve", "ops"},
      {"GET /v1/accounts", "ops"},
      {"POST /v1/accounts/{chain}/{address}/reconcile", "ops"},
      {"POST /v1/accounts/{chain}/{address}/adopt", "ops"},
      {"POST /v1/chains/{chain}/acknowledge", "ops"},
      {"GET /healthz", "-"},
      {"GET /readyz", "-"},
      {"GET /metrics", "-"},
      {"GET /x402/supported", "x402"},
      {"POST /x402/verify", "x402"},
      {"POST /x402/settle", "x402"},
  };
  CHECK(routes().size() == table.size());
  for (const Route& route : routes()) {
    const std::string name = std::string(route.method) + " " + std::string(route.path);
    CAPTURE(name);
    REQUIRE(table.contains(name));
    const std::string& opens = table.at(name);
    for (const std::string_view scope : known_scopes()) {
      CAPTURE(scope);
      const auto problem = check_scopes(Asker{"k", {std::string(scope)}}, route.scopes);
      const bool may = opens == "-" || lists(opens, scope);
      CHECK(problem.has_value() != may);
      if (problem) CHECK(problem->status == 403);
    }
    CHECK(check_scopes(Asker{"k", {}}, route.scopes).has_value() == (opens != "-"));
  }
}

TEST_CASE("auth: a refusal names the scope that is missing") {
  CHECK(check_scopes(Asker{"k", {"pay"}}, "ops")->detail == "this key lacks the scope ops");
  CHECK(check_scopes(Asker{"k", {"ops"}}, "pay payout")->detail ==
        "this key lacks the scope pay or payout");
}

TEST_CASE("auth: a bearer token is read from one well-formed header only") {
  const auto status = [](std::vector<Header> headers) -> unsigned {
    const Request request = request_with(std::move(headers));
    const auto read = bearer_token(request);
    if (const Problem* problem = std::get_if<Problem>(&read)) return problem->status;
    return std::get<0>(read) ? 200 : 0;
  };
  CHECK(status({}) == 0);
  CHECK(status({{"Authorization", "Bearer hf_x"}}) == 200);
  CHECK(status({{"authorization", "bearer hf_x"}}) == 200);
  CHECK(status({{"Authorization", "Bearer"}}) == 401);
  CHECK(status({{"Authorization", "Bearer "}}) == 401);
  CHECK(status({{"Authorization", "Basic hf_x"}}) == 401);
  CHECK(status({{"Authorization", "hf_x"}}) == 401);
  CHECK(status({{"Authorization", "Bearer " + std::string(600, 'x')}}) == 401);
  CHECK(status({{"Authorization", "Bearer a"}, {"Authorization", "Bearer a"}}) == 400);
}

TEST_CASE("keys: a token has 256 bits of chance and only its digest is kept") {
  sim::SimEntropy entropy(7);
  const std::string first = make_token(entropy);
  const std::string second = make_token(entropy);
  CHECK(first != second);
  CHECK(first.size() == 46);
  CHECK(first.starts_with("hf_"));
  CHECK(first.find_first_not_of(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == first.npos);
  CHECK(hash_token("hf_") == sha256(as_bytes("hf_")));

  struct Fixed final : ports::Entropy {
    void fill(std::span<Byte> out) override {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<Byte>(0xff - i);
    }
  } fixed;
  const std::string salt(16, 's');
  const auto derived = [&](const std::string& secret, const std::string& request) {
    return derive_token(as_bytes(secret), as_bytes(salt), request);
  };
  CHECK(derived(first, "k") == derived(first, "k"));
  CHECK(derived(first, "k") != derived(first, "l"));
  CHECK(derived(first, "k") != derived(second, "k"));
  CHECK(derived(first, "k") != derive_token(as_bytes(first), as_bytes(second), "k"));
  CHECK(derived(first, "k").size() == 46);
  // base64 -w0 | tr '+/' '-_' | tr -d '=' over the bytes ff fe … e0
  CHECK(make_token(fixed) == "hf___79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA");
}

TEST_CASE("keys: a name is short, plain and lower case") {
  for (const char* good : {"a", "shop-1", "0.x_y", "shop"}) CHECK(is_key_name(good));
  for (const char* bad : {"", "Shop", "-a", ".a", "a b", "a/b", "(anyone)", "\xc3\xa9", "a\n"}) {
    CHECK_FALSE(is_key_name(bad));
  }
  CHECK(is_key_name(std::string(64, 'a')));
  CHECK_FALSE(is_key_name(std::string(65, 'a')));
  CHECK_FALSE(is_key_name(anyone().name));
}

}  // namespace holdfast::http

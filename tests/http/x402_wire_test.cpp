// The body of /verify and /settle: what is a request, and what every other thing is called.
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <boost/json/array.hpp>

#include "http/x402/wire.hpp"
#include "x402.hpp"

namespace holdfast::http::x402 {
namespace {

namespace json = boost::json;
namespace wire = holdfast::testing::x402;
using Path = std::vector<std::string_view>;

Read read(const json::object& body) { return read_body(wire::text(body)); }

/// What is said when the member at `path` is this.
Read with(int version, const Path& path, json::value value) {
  json::object body = wire::body_of({.version = version});
  wire::at(body, path) = std::move(value);
  return read(body);
}

Read with(int version, const Path& path, const std::string& text) {
  return with(version, path, json::value(json::string(text)));
}

Read without(json::object body, const Path& path) {
  wire::remove(body, path);
  return read(body);
}

const Path requirements_amount = {"paymentRequirements", "amount"};
const Path value = {"paymentPayload", "payload", "authorization", "value"};

}  // namespace

TEST_CASE("x402 wire: a payment of either version is one shape") {
  for (const int version : {1, 2}) {
    CAPTURE(version);
    const Read out = read(wire::body_of({.version = version, .amount = "25", .nonce = 9}));
    CHECK(out.message.empty());
    REQUIRE(out.reason == Reason::none);
    const Request& request = out.request;
    CHECK(request.version == version);
    CHECK(request.requirements.scheme == "exact");
    CHECK(request.requirements.network == request.accepted.network);
    CHECK(request.requirements.amount == U256{25});
    CHECK(request.requirements.asset == wire::token);
    CHECK(request.requirements.pay_to == wire::payee);
    CHECK(request.requirements.name == wire::token_name);
    CHECK(request.requirements.version == wire::token_version);
    CHECK(request.payload.transfer == Transfer::eip3009);
    CHECK(request.payload.from == wire::payer);
    CHECK(request.payload.to == wire::payee);
    CHECK(request.payload.value == U256{25});
    CHECK(request.payload.authorization.nonce.value == U256{9}.big_endian());
    CHECK(request.payload.authorization.validity == domain::Validity{0, wire::far_s});
    CHECK(request.payload.authorization.signature.size() == 32);
    CHECK(out.echo.version == version);
    CHECK(out.echo.payer == wire::payer);
    CHECK(out.echo.network == (version == 1 ? wire::network_v1 : wire::network));
  }
}

TEST_CASE("x402 wire: a payment by Permit2 keeps number, deadline and whom it is for") {
  const Read out = read(wire::permit2_body());
  CHECK(out.message.empty());
  REQUIRE(out.reason == Reason::none);
  const Payload& payload = out.request.payload;
  CHECK(payload.transfer == Transfer::permit2);
  CHECK(payload.from == wire::payer);
  CHECK(payload.to == wire::payee);
  CHECK(payload.token == wire::token);
  CHECK(payload.value == U256{1'000'000});
  CHECK(payload.authorization.nonce.value == U256{7}.big_endian());
  CHECK(payload.authorization.validity == domain::Validity{0, wire::far_s});
  CHECK(out.echo.payer == wire::payer);
}

TEST_CASE("x402 wire: what nobody knows is not minded, and null is no extra") {
  json::object body = wire::body_of({});
  body["more"] = json::object{{"a", 1}};
  wire::at(body, {"paymentPayload", "payload"}).as_object()["more"] = 1;
  wire::at(body, {"paymentRequirements"}).as_object()["outputSchema"] = nullptr;
  wire::at(body, {"paymentPayload"}).as_object()["extensions"] = nullptr;
  CHECK(read(body).reason == Reason::none);
  wire::at(body, {"paymentRequirements", "extra"}) = nullptr;
  CHECK(read(body).reason == Reason::none);
}

TEST_CASE("x402 wire: what is no JSON object has a reason, an empty network and no payer") {
  const std::vector<std::string> bodies = {"",
                                           "{",
                                           "null",
                                           "[]",
                                           "1",
                                           "\"x\"",
                                           "{}",
                                           std::string(1 << 20, ' '),
                                           std::string(1 << 20, '0'),
                                           std::string(1 << 16, '['),
                                           R"({"a":1,"a":2})",
                                           "{\"a\":\"\xff\"}",
                                           "\xef\xbb\xbf{}"};
  for (const std::string& body : bodies) {
    CAPTURE(body.substr(0, 40));
    const Read out = read_body(body);
    CHECK(out.reason == Reason::invalid_payload);
    CHECK_FALSE(out.message.empty());
    CHECK(out.message.size() < 300);
    CHECK(out.echo.network.empty());
    CHECK(out.echo.payer.empty());
  }
}

TEST_CASE("x402 wire: a field that comes twice is no field, wherever it is") {
  std::string body = wire::text(wire::body_of({}));
  const std::string field = "\"payTo\":\"" + wire::payee + "\"";
  const auto place = body.find(field);
  REQUIRE(place != std::string::npos);
  body.insert(place, "\"payTo\":\"" + wire::other + "\",");
  CHECK(read_body(body).reason == Reason::invalid_payload);
}

TEST_CASE("x402 wire: extensions may be deep, and not deeper") {
  const auto nested = [](std::size_t levels) {
    json::value out = 1;
    for (std::size_t i = 0; i < levels; ++i) out = json::object{{"a", std::move(out)}};
    json::object body = wire::body_of({});
    wire::at(body, {"paymentPayload"}).as_object()["extensions"] = std::move(out);
    return read(body).reason;
  };
  CHECK(nested(most_levels - 2) == Reason::none);
  CHECK(nested(most_levels) == Reason::invalid_payload);
}

TEST_CASE("x402 wire: each field that is needed is missed by name") {
  const auto payload = Reason::invalid_payload;
  const auto wanted = Reason::invalid_payment_requirements;
  struct Row {
    Path path;
    Reason reason;
  };
  const std::vector<Row> both = {
      {{"paymentPayload"}, payload},
      {{"paymentRequirements"}, wanted},
      {{"paymentPayload", "x402Version"}, Reason::invalid_x402_version},
      {{"paymentPayload", "payload"}, payload},
      {{"paymentPayload", "payload", "signature"}, payload},
      {{"paymentPayload", "payload", "authorization"}, payload},
      {{"paymentPayload", "payload", "authorization", "from"}, payload},
      {{"paymentPayload", "payload", "authorization", "to"}, payload},
      {{"paymentPayload", "payload", "authorization", "value"}, payload},
      {{"paymentPayload", "payload", "authorization", "validAfter"}, payload},
      {{"paymentPayload", "payload", "authorization", "validBefore"}, payload},
      {{"paymentPayload", "payload", "authorization", "nonce"}, payload},
      {{"paymentRequirements", "scheme"}, wanted},
      {{"paymentRequirements", "network"}, wanted},
      {{"paymentRequirements", "asset"}, wanted},
      {{"paymentRequirements", "payTo"}, wanted},
      {{"paymentRequirements", "maxTimeoutSeconds"}, wanted},
  };
  const std::vector<Row> first = {{{"paymentRequirements", "maxAmountRequired"}, wanted},
                                  {{"paymentPayload", "scheme"}, payload},
                                  {{"paymentPayload", "network"}, payload}};
  const std::vector<Row> second = {{{"paymentRequirements", "amount"}, wanted},
                                   {{"paymentPayload", "accepted"}, payload},
                                   {{"paymentPayload", "accepted", "amount"}, payload},
                                   {{"paymentPayload", "accepted", "network"}, payload}};
  const auto check = [](int version, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      const std::string field(row.path.back());
      CAPTURE(version);
      CAPTURE(field);
      const Read out = without(wire::body_of({.version = version}), row.path);
      CHECK(out.reason == row.reason);
      const bool one_of_two = field == "authorization";
      if (!one_of_two) CHECK(out.message.find(field) != std::string::npos);
    }
  };
  check(1, both);
  check(1, first);
  check(2, both);
  check(2, second);
  for (const Path& path :
       {Path{"paymentPayload", "payload", "permit2Authorization", "permitted"},
        Path{"paymentPayload", "payload", "permit2Authorization", "permitted", "token"},
        Path{"paymentPayload", "payload", "permit2Authorization", "permitted", "amount"},
        Path{"paymentPayload", "payload", "permit2Authorization", "from"},
        Path{"paymentPayload", "payload", "permit2Authorization", "spender"},
        Path{"paymentPayload", "payload", "permit2Authorization", "nonce"},
        Path{"paymentPayload", "payload", "permit2Authorization", "deadline"},
        Path{"paymentPayload", "payload", "permit2Authorization", "witness"},
        Path{"paymentPayload", "payload", "permit2Authorization", "witness", "to"},
        Path{"paymentPayload", "payload", "permit2Authorization", "witness", "validAfter"}}) {
    CHECK(without(wire::permit2_body(), path).reason == payload);
  }
}

TEST_CASE("x402 wire: a value of another type is no value") {
  for (const json::value& wrong :
       {json::value(nullptr), json::value(true), json::value(12), json::value(1.5),
        json::value(json::array{}), json::value(json::object{}), json::value("")}) {
    for (const int version : {1, 2}) {
      for (const Path& path :
           {Path{"paymentRequirements", "scheme"}, Path{"paymentRequirements", "network"},
            Path{"paymentRequirements", "asset"}, Path{"paymentRequirements", "payTo"},
            Path{"paymentPayload", "payload", "signature"},
            Path{"paymentPayload", "payload", "authorization", "from"},
            Path{"paymentPayload", "payload", "authorization", "value"},
            Path{"paymentPayload", "payload", "authorization", "validBefore"},
            Path{"paymentPayload", "payload", "authorization", "nonce"}}) {
        CHECK(with(version, path, wrong).reason != Reason::none);
      }
      if (!wrong.is_object()) {
        CHECK(with(version, {"paymentPayload"}, wrong).reason == Reason::invalid_payload);
        CHECK(with(version, {"paymentRequirements"}, wrong).reason ==
              Reason::invalid_payment_requirements);
        CHECK(with(version, {"paymentPayload", "payload"}, wrong).reason ==
              Reason::invalid_payload);
        if (!wrong.is_null()) {
          CHECK(with(version, {"paymentRequirements", "extra"}, wrong).reason ==
                Reason::invalid_payment_requirements);
        }
      }
    }
  }
  // A network that is no text is not repeated.
  json::object body = wire::body_of({});
  wire::at(body, {"paymentRequirements", "network"}) = 8453;
  wire::at(body, {"paymentPayload", "accepted", "network"}) = 8453;
  CHECK(read(body).echo.network.empty());
  wire::at(body, {"paymentRequirements", "network"}) = std::string(longest_network + 1, 'n');
  CHECK(read(body).echo.network.empty());
  wire::at(body, {"paymentPayload", "payload", "authorization", "from"}) = "0x12";
  CHECK(read(body).echo.payer.empty());
}

TEST_CASE("x402 wire: the version is the number 1 or 2, and the same around the payload") {
  for (const json::value& wrong : {json::value(0), json::value(3), json::value("2"),
                                   json::value(2.5), json::value(nullptr), json::value(-1)}) {
    CHECK(with(2, {"paymentPayload", "x402Version"}, wrong).reason == Reason::invalid_x402_version);
    CHECK(with(2, {"x402Version"}, wrong).reason == Reason::invalid_x402_version);
  }
  CHECK(with(2, {"x402Version"}, json::value(1)).reason == Reason::invalid_x402_version);
  CHECK(with(1, {"x402Version"}, json::value(2)).reason == Reason::invalid_x402_version);
  CHECK(without(wire::body_of({}), {"x402Version"}).reason == Reason::none);
}

TEST_CASE("x402 wire: amounts are plain decimal strings from 1 to 2^256-1") {
  const std::string most = U256::max().decimal();
  for (const std::string& good : {std::string("1"), std::string("9007199254740993"), most}) {
    CHECK(with(2, requirements_amount, good).request.requirements.amount.decimal() == good);
    CHECK(with(2, value, good).request.payload.value.decimal() == good);
  }
  std::string over = most;
  over.back() = '6';  // 2^256
  for (const json::value& wrong :
       {json::value(json::string(over)), json::value("0"), json::value("-1"), json::value("1e6"),
        json::value("0x10"), json::value("01"), json::value(" 1"), json::value("1.0"),
        json::value(""), json::value(std::int64_t{9007199254740993}), json::value("1,000")}) {
    CAPTURE(wrong);
    CHECK(with(2, requirements_amount, wrong).reason == Reason::invalid_payment_requirements);
    CHECK(with(1, {"paymentRequirements", "maxAmountRequired"}, wrong).reason ==
          Reason::invalid_payment_requirements);
    CHECK(with(2, value, wrong).reason == Reason::invalid_payload);
    CHECK(with(1, value, wrong).reason == Reason::invalid_payload);
  }
}

TEST_CASE("x402 wire: times fit into the calendar, signatures and nonces into their size") {
  const auto in_authorization = [](std::string_view name, const std::string& text) {
    return with(2, {"paymentPayload", "payload", "authorization", name}, text).reason;
  };
  CHECK(in_authorization("validBefore", std::to_string(latest_time_s)) == Reason::none);
  CHECK(in_authorization("validBefore", std::to_string(latest_time_s + 1)) ==
        Reason::invalid_payload);
  CHECK(in_authorization("validBefore", U256::max().decimal()) == Reason::invalid_payload);
  CHECK(in_authorization("validAfter", "-1") == Reason::invalid_payload);
  CHECK(in_authorization("nonce", "0x12") == Reason::invalid_payload);
  const auto signature = [](std::size_t digits) {
    return with(2, {"paymentPayload", "payload", "signature"}, "0x" + std::string(digits, 'a'))
        .reason;
  };
  CHECK(signature(longest_signature - 2) == Reason::none);
  CHECK(signature(longest_signature) == Reason::invalid_payload);
  CHECK(signature(3) == Reason::invalid_payload);
}

TEST_CASE("x402 wire: a payload is signed in one way, and version 1 knows one") {
  json::object both = wire::permit2_body();
  json::object eip3009 = wire::body_of({});
  wire::at(both, {"paymentPayload", "payload"}).as_object()["authorization"] =
      wire::at(eip3009, {"paymentPayload", "payload", "authorization"});
  CHECK(read(both).reason == Reason::invalid_payload);
  json::object first = wire::body_of({.version = 1});
  json::object permit2 = wire::permit2_body();
  wire::at(first, {"paymentPayload", "payload"}) = wire::at(permit2, {"paymentPayload", "payload"});
  CHECK(read(first).reason == Reason::unsupported_payload_type);
}

TEST_CASE("x402 wire: a payment identifier has 16 to 128 letters, digits, '-' and '_'") {
  const auto id = [](const std::string& text) { return read(wire::body_of({.payment_id = text})); };
  CHECK(id(std::string(16, 'a')).request.payment_id == std::string(16, 'a'));
  CHECK(id(std::string(128, '-')).request.payment_id.size() == 128);
  for (const std::string& wrong : {std::string(15, 'a'), std::string(129, 'a'),
                                   std::string(15, 'a') + " ", std::string(15, 'a') + "é"}) {
    CHECK(id(wrong).reason == Reason::invalid_payload);
  }
  json::object body = wire::body_of({.payment_id = std::string(16, 'a')});
  const Path info = {"paymentPayload", "extensions", "payment-identifier", "info"};
  wire::at(body, info) = json::object{{"required", false}};
  CHECK(read(body).reason == Reason::none);
  wire::at(body, info) = json::object{{"required", true}};
  CHECK(read(body).reason == Reason::invalid_payload);
  wire::at(body, info) = 1;
  CHECK(read(body).reason == Reason::invalid_payload);
}

}  // namespace holdfast::http::x402

// What a shop in the engine's own process asks for, and which of its prices a header pays.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <holdfast/base/base64.hpp>

#include "http/x402/offers.hpp"
#include "x402.hpp"

namespace holdfast::testing {
namespace {

namespace json = boost::json;
namespace shop = http::x402;

http::X402Options options() {
  http::X402Options out;
  out.networks = {{x402::network_v1, x402::network}};
  return out;
}

shop::Price price(std::uint64_t amount) {
  shop::Price out;
  out.network = x402::network;
  out.asset = x402::token;
  out.pay_to = x402::payee;
  out.amount = U256(amount);
  out.name = x402::token_name;
  out.version = x402::token_version;
  return out;
}

shop::Offer offer(std::vector<shop::Price> prices) {
  return {"https://shop.example/thing", "a thing", "text/plain", std::move(prices)};
}

std::vector<shop::Network> networks() {
  shop::Network one;
  one.chain = one.name = x402::network;
  one.can_settle = true;
  one.assets = {{{x402::token}, x402::token_name, x402::token_version, {"transfer_authorization"}}};
  return {one};
}

std::string header_of(const x402::Payment& payment) {
  const json::object body = x402::body_of(payment);
  return to_base64(as_bytes(json::serialize(body.at("paymentPayload"))));
}

json::object decoded(const std::string& header) {
  const auto bytes = from_base64(header, 100'000);
  REQUIRE(bytes.has_value());
  return json::parse(std::string(as_text(*bytes))).as_object();
}

std::string text_in(const json::value& object, const char* name) {
  return std::string(object.at(name).as_string());
}

std::string asked(const shop::Opened& opened, const char* amount) {
  return text_in(json::parse(opened.body).at("paymentRequirements"), amount);
}

}  // namespace

TEST_CASE("x402 shop: a demand asks for the same in both versions") {
  shop::Price permit = price(7);
  permit.permit2 = true;
  const shop::Demand demand =
      shop::demand_of(offer({price(250), permit}), "invalid_payload", options());
  CHECK(demand.header.name == "PAYMENT-REQUIRED");
  const json::object two = decoded(demand.header.value);
  const json::object one = json::parse(demand.body).as_object();
  CHECK(two.at("x402Version") == 2);
  CHECK(two.at("error") == "invalid_payload");
  CHECK(two.at("resource").at("url") == "https://shop.example/thing");
  REQUIRE(two.at("accepts").as_array().size() == 2);
  const json::value& terms = two.at("accepts").at(0);
  CHECK(text_in(terms, "network") == x402::network);
  CHECK(terms.at("amount") == "250");
  CHECK(text_in(terms.at("extra"), "name") == x402::token_name);
  CHECK(two.at("accepts").at(1).at("extra").at("assetTransferMethod") == "permit2");
  CHECK(one.at("x402Version") == 1);
  // Version 1 has no Permit2.
  REQUIRE(one.at("accepts").as_array().size() == 1);
  CHECK(text_in(one.at("accepts").at(0), "network") == x402::network_v1);
  CHECK(one.at("accepts").at(0).at("maxAmountRequired") == "250");
  CHECK(one.at("accepts").at(0).at("resource") == "https://shop.example/thing");
}

TEST_CASE("x402 shop: a header pays the price it was signed for, whichever that is") {
  for (const int version : {1, 2}) {
    CAPTURE(version);
    x402::Payment payment;
    payment.version = version;
    payment.payment_id = version == 2 ? "payment_0123456789" : "";
    const shop::Opened opened = shop::open_payment(offer({price(5), price(1'000'000), price(9)}),
                                                   header_of(payment), options(), networks());
    CHECK(opened.reason == shop::Reason::none);
    CHECK(opened.echo.version == version);
    CHECK(opened.echo.payer == x402::payer);
    CHECK(opened.payment_id == payment.payment_id);
    CHECK(asked(opened, version == 1 ? "maxAmountRequired" : "amount") == "1000000");
  }
}

TEST_CASE("x402 shop: what pays no price is put together with one, and judged by its rules") {
  const shop::Opened opened =
      shop::open_payment(offer({price(5)}), header_of({}), options(), networks());
  CHECK(opened.reason == shop::Reason::none);
  CHECK(asked(opened, "amount") == "5");
  CHECK(opened.echo.network == x402::network);
}

TEST_CASE("x402 shop: a header that is no payment is refused with a sentence") {
  const auto refused = [](const std::string& header) {
    const shop::Opened opened =
        shop::open_payment(offer({price(5)}), header, options(), networks());
    CAPTURE(header.substr(0, 40));
    CHECK(opened.reason == shop::Reason::invalid_payload);
    CHECK_FALSE(opened.message.empty());
    CHECK(opened.body.empty());
  };
  refused("");
  refused("no base64");
  refused("e30");          // {} without its pads
  refused("W10=");         // []
  refused("eyJhIjoxLCJhIjoyfQ==");  // {"a":1,"a":2}
  refused(std::string(shop::longest_payment_header + 4, 'A'));
}

}  // namespace holdfast::testing

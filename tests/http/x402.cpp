#include "x402.hpp"

#include <doctest/doctest.h>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "sim/wire.hpp"

namespace holdfast::testing::x402 {
namespace {

namespace json = boost::json;

std::string lowered(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

json::object requirements_of(const Payment& payment) {
  json::object out;
  out["scheme"] = "exact";
  out["network"] = payment.version == 1 ? network_v1 : network;
  out[payment.version == 1 ? "maxAmountRequired" : "amount"] = payment.amount;
  out["asset"] = token;
  out["payTo"] = payee;
  out["maxTimeoutSeconds"] = 300;
  out["extra"] = json::object{{"name", token_name}, {"version", token_version}};
  if (payment.version == 1) {
    out["resource"] = "https://shop.example/thing";
    out["description"] = "a thing";
  }
  return out;
}

json::object signed_payload(const Payment& payment) {
  domain::Terms terms;
  terms.chain = {"sim:1"};
  terms.asset = {lowered(token)};
  terms.payer = {payer};
  terms.payee = {payee};
  terms.amount = U256::from_decimal(payment.amount).value_or(U256{1});
  terms.method = {"transfer_authorization"};
  domain::Nonce nonce;
  nonce.value = U256{payment.nonce}.big_endian();
  const domain::Validity window{payment.valid_after_s, payment.valid_before_s};
  const auto signed_one = sim::authorize(terms, nonce, window);
  return {{"signature", to_0x(signed_one.signature)},
          {"authorization", json::object{{"from", payer},
                                         {"to", payee},
                                         {"value", payment.amount},
                                         {"validAfter", std::to_string(window.after_s)},
                                         {"validBefore", std::to_string(window.before_s)},
                                         {"nonce", nonce.hex()}}}};
}

}  // namespace

json::object body_of(const Payment& payment) {
  json::object inner;
  inner["x402Version"] = payment.version;
  if (payment.version == 1) {
    inner["scheme"] = "exact";
    inner["network"] = network_v1;
  } else {
    inner["resource"] = json::object{{"url", "https://shop.example/thing"}};
    inner["accepted"] = requirements_of(payment);
  }
  inner["payload"] = signed_payload(payment);
  if (!payment.payment_id.empty()) {
    inner["extensions"] = json::object{
        {"payment-identifier",
         json::object{{"info", json::object{{"required", false}, {"id", payment.payment_id}}}}}};
  }
  return {{"x402Version", payment.version},
          {"paymentPayload", std::move(inner)},
          {"paymentRequirements", requirements_of(payment)}};
}

json::object permit2_body() {
  json::object body = body_of({});
  at(body, {"paymentPayload", "payload"}) = json::object{
      {"signature", "0x" + std::string(130, '1')},
      {"permit2Authorization",
       json::object{{"permitted", json::object{{"token", token}, {"amount", "1000000"}}},
                    {"from", payer},
                    {"spender", "0x402085c248EeA27D92E8b30b2C58ed07f9E20001"},
                    {"nonce", "7"},
                    {"deadline", std::to_string(far_s)},
                    {"witness", json::object{{"to", payee}, {"validAfter", "0"}}}}}};
  return body;
}

json::value& at(json::object& body, const Path& path) {
  json::object* object = &body;
  json::value* found = nullptr;
  for (const std::string_view name : path) {
    found = &object->at(name);
    object = found->if_object();
  }
  return *found;
}

void remove(json::object& body, const Path& path) {
  json::object* object = &body;
  std::size_t left = path.size();
  for (const std::string_view name : path) {
    if (--left == 0) {
      object->erase(name);
    } else {
      object = &object->at(name).as_object();
    }
  }
}

std::string text(const json::object& body) { return json::serialize(body); }

SceneOptions open_scene() {
  SceneOptions options;
  options.http.x402.enabled = true;
  options.http.x402.require_key = false;
  options.http.x402.networks = {{network_v1, network}};
  return options;
}

void wait_until_open(Scene& scene, const std::string& token_of_key) {
  while (scene.get("/x402/supported", token_of_key).json().at("kinds").as_array().empty()) {
  }
}

HttpAnswer settle(Scene& scene, const std::string& body, const std::string& token_of_key,
                  const std::string& key) {
  return scene.post("/x402/settle", token_of_key, key, body);
}

HttpAnswer verify(Scene& scene, const std::string& body, const std::string& token_of_key) {
  return scene.post("/x402/verify", token_of_key, {}, body);
}

void check_settle_shape(const HttpAnswer& answer) {
  CAPTURE(answer.body);
  const json::value body = answer.json();
  REQUIRE(body.is_object());
  CHECK(body.at("success").is_bool());
  CHECK(body.at("transaction").is_string());
  CHECK(body.at("network").is_string());
  if (!body.at("success").as_bool()) CHECK_FALSE(body.at("errorReason").as_string().empty());
}

}  // namespace holdfast::testing::x402

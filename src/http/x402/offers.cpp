#include "http/x402/offers.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <holdfast/base/base64.hpp>

#include "http/json_body.hpp"
#include "http/x402/rules.hpp"

namespace holdfast::http::x402 {
namespace {

namespace json = boost::json;

json::object extra_of(const Price& price) {
  json::object out;
  if (!price.name.empty()) out["name"] = price.name;
  if (!price.version.empty()) out["version"] = price.version;
  if (price.permit2) out["assetTransferMethod"] = "permit2";
  return out;
}

json::object version_2_of(const Price& price) {
  json::object out;
  out["scheme"] = "exact";
  out["network"] = price.network;
  out["amount"] = price.amount.decimal();
  out["asset"] = price.asset;
  out["payTo"] = price.pay_to;
  out["maxTimeoutSeconds"] = price.max_timeout_s;
  out["extra"] = extra_of(price);
  return out;
}

// Empty where version 1 has no name for the network, or no such payment.
std::optional<json::object> version_1_of(const Price& price, const Offer& offer,
                                         const X402Options& options) {
  Network network;
  network.name = price.network;
  const std::string name = name_in(1, network, options);
  if (name.empty() || price.permit2) return std::nullopt;
  json::object out;
  out["scheme"] = "exact";
  out["network"] = name;
  out["maxAmountRequired"] = price.amount.decimal();
  out["resource"] = offer.url;
  out["description"] = offer.description;
  out["mimeType"] = offer.mime_type;
  out["payTo"] = price.pay_to;
  out["maxTimeoutSeconds"] = price.max_timeout_s;
  out["asset"] = price.asset;
  out["extra"] = extra_of(price);
  return out;
}

std::optional<json::object> terms_in(int version, const Price& price, const Offer& offer,
                                     const X402Options& options) {
  if (version == 1) return version_1_of(price, offer, options);
  return version_2_of(price);
}

Opened refused(Reason reason, std::string message) {
  Opened out;
  out.reason = reason;
  out.message = std::move(message);
  return out;
}

int version_of(const json::object& payment) {
  const json::value* value = payment.if_contains("x402Version");
  const std::int64_t* number = value == nullptr ? nullptr : value->if_int64();
  return number != nullptr && *number == 1 ? 1 : 2;
}

}  // namespace

Demand demand_of(const Offer& offer, std::string_view error, const X402Options& options) {
  json::array old_terms;
  json::array terms;
  for (const Price& price : offer.prices) {
    terms.push_back(version_2_of(price));
    if (auto one = version_1_of(price, offer, options)) old_terms.push_back(std::move(*one));
  }
  const std::string why(error.empty() ? "payment required" : error);
  json::object resource;
  resource["url"] = offer.url;
  if (!offer.description.empty()) resource["description"] = offer.description;
  if (!offer.mime_type.empty()) resource["mimeType"] = offer.mime_type;
  json::object header;
  header["x402Version"] = 2;
  header["error"] = why;
  header["resource"] = std::move(resource);
  header["accepts"] = std::move(terms);
  json::object body;
  body["x402Version"] = 1;
  body["error"] = why;
  body["accepts"] = std::move(old_terms);
  return {{"PAYMENT-REQUIRED", to_base64(as_bytes(json::serialize(header)))},
          json::serialize(body)};
}

Opened open_payment(const Offer& offer, std::string_view header, const X402Options& options,
                    std::span<const Network> networks) {
  if (header.size() > longest_payment_header) {
    return refused(Reason::invalid_payload, "the payment header is over " +
                                                std::to_string(longest_payment_header) + " bytes");
  }
  const auto text = from_base64(header, longest_payment_header);
  if (!text) return refused(Reason::invalid_payload, "the payment header is not base64");
  JsonBody read = read_json(as_text(*text), false, most_levels);
  if (read.problem) {
    return refused(Reason::invalid_payload, "the payment header: " + read.problem->detail);
  }
  Opened best;
  best.echo.version = version_of(read.object);
  bool has_network = false;
  for (const Price& price : offer.prices) {
    auto terms = terms_in(best.echo.version, price, offer, options);
    if (!terms) continue;
    json::object body;
    body["x402Version"] = best.echo.version;
    body["paymentPayload"] = read.object;
    body["paymentRequirements"] = std::move(*terms);
    std::string made = json::serialize(body);
    const Read whole = read_body(made);
    const Reason verdict = whole.reason != Reason::none
                               ? whole.reason
                               : judge(whole.request, options, networks).reason;
    const bool same_network =
        verdict != Reason::network_mismatch && verdict != Reason::invalid_network;
    if (best.body.empty() || verdict == Reason::none || (same_network && !has_network)) {
      best.body = std::move(made);
      best.echo = whole.echo;
      best.payment_id = whole.request.payment_id;
      has_network = same_network;
    }
    if (verdict == Reason::none) break;
  }
  if (best.body.empty()) {
    best.reason = Reason::invalid_network;
    best.message = "nothing is offered in this version of the protocol";
  }
  return best;
}

}  // namespace holdfast::http::x402

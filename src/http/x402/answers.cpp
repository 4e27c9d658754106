#include "http/x402/answers.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace holdfast::http::x402 {
namespace {

namespace json = boost::json;

json::object verify_body(const Echo& echo, const Answer& answer) {
  json::object out;
  out["isValid"] = answer.reason == Reason::none;
  if (answer.reason != Reason::none) {
    out["invalidReason"] = to_text(answer.reason);
    if (echo.version == 2 && !answer.message.empty()) out["invalidMessage"] = answer.message;
  }
  if (!echo.payer.empty()) out["payer"] = echo.payer;
  return out;
}

json::object settle_body(const Echo& echo, const Answer& answer) {
  json::object out;
  out["success"] = answer.reason == Reason::none;
  if (answer.reason != Reason::none) {
    out["errorReason"] = to_text(answer.reason);
    if (echo.version == 2 && !answer.message.empty()) out["errorMessage"] = answer.message;
  }
  out["transaction"] = answer.transaction;
  out["network"] = echo.network;
  if (!echo.payer.empty()) out["payer"] = echo.payer;
  if (echo.version == 2 && !answer.amount.empty()) out["amount"] = answer.amount;
  return out;
}

json::object kind_of(int version, const std::string& network, const ports::AssetInfo& asset,
                     std::string_view transfer) {
  json::object extra;
  extra["asset"] = asset.asset.value;
  if (!asset.name.empty()) extra["name"] = asset.name;
  if (!asset.version.empty()) extra["version"] = asset.version;
  extra["assetTransferMethod"] = transfer;
  json::object kind;
  kind["x402Version"] = version;
  kind["scheme"] = "exact";
  kind["network"] = network;
  kind["extra"] = std::move(extra);
  return kind;
}

bool is_offered(const ports::AssetInfo& asset, const X402Options& options) {
  return options.assets.empty() || std::ranges::any_of(options.assets, [&](const std::string& one) {
           return same_name(one, asset.asset.value);
         });
}

void add_kinds(json::array& kinds, int version, const Network& network,
               const X402Options& options) {
  const std::string name = name_in(version, network, options);
  if (name.empty()) return;
  for (const ports::AssetInfo& asset : network.assets) {
    if (!is_offered(asset, options)) continue;
    for (const std::string& method : asset.methods) {
      if (method == "transfer_authorization") {
        kinds.push_back(kind_of(version, name, asset, "eip3009"));
      } else if (method == "permit2" && version == 2) {
        kinds.push_back(kind_of(version, name, asset, "permit2"));
      }
    }
  }
}

void add_signers(json::object& signers, const Network& network) {
  const std::string family = network.name.substr(0, network.name.find(':')) + ":*";
  json::array& list = signers.emplace(family, json::array()).first->value().as_array();
  for (const std::string& account : network.accounts) {
    const bool known = std::ranges::any_of(
        list, [&](const json::value& one) { return one.as_string() == account; });
    if (!known) list.emplace_back(account);
  }
}

}  // namespace

Response response_of(const Echo& echo, const Answer& answer) {
  Response response;
  response.status = answer.status;
  response.body = json::serialize(answer.asked == Asked::verify ? verify_body(echo, answer)
                                                                : settle_body(echo, answer));
  return response;
}

Reason reason_of(Asked asked, const Problem& problem) {
  if (problem.status == 401) return Reason::unauthorized;
  if (problem.status == 403) return Reason::forbidden;
  if (problem.status == 429) return Reason::rate_limited;
  if (problem.status < 500) return Reason::invalid_payload;
  return asked == Asked::verify ? Reason::unexpected_verify_error : Reason::unexpected_settle_error;
}

Response response_of(Asked asked, const Problem& problem) {
  Answer answer;
  answer.asked = asked;
  answer.reason = reason_of(asked, problem);
  answer.message = problem.detail;
  Response response = http::response_of(problem);  // for its headers
  response.body = response_of(Echo{}, answer).body;
  return response;
}

Response supported(std::span<const Network> networks, const X402Options& options) {
  json::array kinds;
  json::object signers;
  for (const Network& network : networks) {
    if (!network.can_settle) continue;
    add_kinds(kinds, 2, network, options);
    add_kinds(kinds, 1, network, options);
    add_signers(signers, network);
  }
  json::object out;
  out["kinds"] = std::move(kinds);
  out["extensions"] = json::array{"payment-identifier"};
  out["signers"] = std::move(signers);
  Response response;
  response.body = json::serialize(out);
  return response;
}

}  // namespace holdfast::http::x402

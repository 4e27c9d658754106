#include "http/x402/rules.hpp"

#include <algorithm>
#include <array>

#include "http/message.hpp"

namespace holdfast::http::x402 {
namespace {

constexpr std::string_view only_scheme = "exact";

bool same_address(std::string_view left, std::string_view right) { return same_name(left, right); }

bool is_listed(const std::vector<std::string>& list, std::string_view address) {
  return list.empty() || std::ranges::any_of(list, [address](const std::string& one) {
           return same_address(one, address);
         });
}

std::string_view name_of(Transfer transfer) {
  return transfer == Transfer::permit2 ? "permit2" : "eip3009";
}

std::string_view method_of(Transfer transfer) {
  return transfer == Transfer::permit2 ? "permit2" : "transfer_authorization";
}

const ports::AssetInfo* find_asset(const Network& network, std::string_view address) {
  for (const ports::AssetInfo& info : network.assets) {
    if (same_address(info.asset.value, address)) return &info;
  }
  return nullptr;
}

/// What the rules look at. `network` and `asset` are there from the rule on that found them.
struct Case {
  const Request& request;
  const X402Options& options;
  std::span<const Network> networks;
  const Network* network = nullptr;
  const ports::AssetInfo* asset = nullptr;

  const Requirements& wanted() const { return request.requirements; }
  const Requirements& accepted() const { return request.accepted; }
  const Payload& payload() const { return request.payload; }
  bool permit2() const { return request.payload.transfer == Transfer::permit2; }
};

struct Broken {
  Reason reason = Reason::none;
  std::string message = {};
};
using Rule = Broken (*)(Case&);

Broken scheme(Case& it) {
  if (it.wanted().scheme == only_scheme && it.accepted().scheme == only_scheme) return {};
  return {it.permit2() ? Reason::unsupported_payload_type : Reason::scheme,
          "scheme: only exact is settled here"};
}

Broken transfer_method(Case& it) {
  const std::string& method = it.wanted().transfer_method;
  if (method.empty() || method == name_of(it.payload().transfer)) return {};
  return {Reason::unsupported_payload_type,
          "extra.assetTransferMethod: the payload is not of that method"};
}

Broken token_domain(Case& it) {
  if (it.permit2() || (!it.wanted().name.empty() && !it.wanted().version.empty())) return {};
  return {Reason::missing_eip712_domain, "paymentRequirements.extra: name and version are needed"};
}

Broken same_network(Case& it) {
  if (it.wanted().network == it.accepted().network) return {};
  return {Reason::network_mismatch, "network: the payload is for another than is asked for"};
}

Broken known_network(Case& it) {
  it.network = find_network(it.networks, it.request.version, it.wanted().network, it.options);
  if (it.network != nullptr) return {};
  return {Reason::invalid_network, "network: not one that this facilitator settles on"};
}

Broken known_asset(Case& it) {
  it.asset = find_asset(*it.network, it.wanted().asset);
  if (it.asset == nullptr || !is_listed(it.options.assets, it.wanted().asset)) {
    return {Reason::invalid_payment_requirements,
            "asset: not one that this facilitator settles with"};
  }
  const auto& methods = it.asset->methods;
  if (std::ranges::find(methods, method_of(it.payload().transfer)) != methods.end()) return {};
  return {it.permit2() ? Reason::unsupported_payload_type : Reason::eip3009_not_supported,
          "asset: not settled by this method here"};
}

Broken known_payee(Case& it) {
  if (is_listed(it.options.payees, it.wanted().pay_to)) return {};
  return {Reason::invalid_payment_requirements, "payTo: not one that this facilitator pays to"};
}

Broken token_name(Case& it) {
  if (it.permit2() || it.wanted().name == it.asset->name) return {};
  return {Reason::token_name_mismatch,
          "paymentRequirements.extra.name: not the name that the token signs under"};
}

Broken token_version(Case& it) {
  if (it.permit2() || it.wanted().version == it.asset->version) return {};
  return {Reason::token_version_mismatch,
          "paymentRequirements.extra.version: not the version that the token signs under"};
}

Broken spender(Case& it) {
  if (!it.permit2() || same_address(it.payload().spender, permit2_proxy)) return {};
  return {Reason::permit2_spender, "spender: must be the published proxy of exact payments"};
}

Broken recipient(Case& it) {
  if (same_address(it.payload().to, it.wanted().pay_to)) return {};
  return {it.permit2() ? Reason::permit2_recipient : Reason::recipient_mismatch,
          "to: the payer signed for another than payTo"};
}

Broken value(Case& it) {
  if (it.payload().value == it.wanted().amount) return {};
  const Reason eip3009 = it.request.version == 1 ? Reason::value_v1 : Reason::value_mismatch;
  return {it.permit2() ? Reason::permit2_amount : eip3009,
          "value: the payer signed for another amount than is asked for"};
}

Broken token(Case& it) {
  if (!it.permit2() || same_address(it.payload().token, it.wanted().asset)) return {};
  return {Reason::permit2_token, "permitted.token: the payer signed for another asset"};
}

// Version 1 has no terms beside the ones that were signed.
Broken accepted_terms(Case& it) {
  if (it.request.version == 1) return {};
  const Requirements& accepted = it.accepted();
  const Requirements& wanted = it.wanted();
  if (accepted.amount == wanted.amount && same_address(accepted.asset, wanted.asset) &&
      same_address(accepted.pay_to, wanted.pay_to)) {
    return {};
  }
  return {Reason::invalid_payment_requirements,
          "paymentPayload.accepted: amount, asset and payTo must be those of paymentRequirements"};
}

constexpr std::array<Rule, 14> rules = {scheme,        transfer_method, token_domain, same_network,
                                        known_network, known_asset,     known_payee,  token_name,
                                        token_version, spender,         recipient,    value,
                                        token,         accepted_terms};

}  // namespace

Verdict judge(const Request& request, const X402Options& options,
              std::span<const Network> networks) {
  Case it{request, options, networks};
  for (const Rule rule : rules) {
    if (Broken broken = rule(it); broken.reason != Reason::none) {
      return {broken.reason, std::move(broken.message), it.network, {}};
    }
  }
  Verdict out;
  out.network = it.network;
  out.payment.chain = it.network->chain;
  out.payment.method = method_of(request.payload.transfer);
  out.payment.asset = it.asset->asset.value;
  out.payment.payer = request.payload.from;
  out.payment.payee = request.requirements.pay_to;
  out.payment.amount = request.requirements.amount;
  return out;
}

Digest fingerprint_of(const engine::NewPayment& payment,
                      const domain::Authorization& authorization) {
  const auto lowered = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
  };
  return FieldHash("holdfast/x402-payment/1")
      .add(payment.chain)
      .add(payment.method)
      .add(payment.asset)
      .add(lowered(payment.payer))
      .add(lowered(payment.payee))
      .add(payment.amount.decimal())
      .add(authorization.nonce.view())
      .add(std::to_string(authorization.validity.after_s))
      .add(std::to_string(authorization.validity.before_s))
      .add(authorization.signature)
      .finish();
}

}  // namespace holdfast::http::x402

#include "x402_buyer.hpp"

#include <algorithm>
#include <cctype>

#include <doctest/doctest.h>
#include <boost/json/serialize.hpp>

#include "evm/secp.hpp"

namespace holdfast::cases {
namespace {

constexpr std::int64_t good_for_s = 300;

evm::Bytes32 new_nonce() {
  static std::uint64_t count = 0;
  const std::string seed =
      "x402 nonce " + std::to_string(test::wall_ms()) + " " + std::to_string(++count);
  return {evm::keccak256(seed).value};
}

evm::Address20 address(const std::string& text) { return *evm::Address20::from_text(text); }

}  // namespace

std::string x402_table(const std::string& lines) { return "[x402]\nenabled = true\n" + lines; }

Purchase::Purchase(const Rig& rig)
    : pay_to(rig.merchant.address), asset(rig.token), payer(rig.payer) {
  extra["name"] = "Case Token";
  extra["version"] = "1";
  domain = {"Case Token", "1", 31337, address(rig.token)};
  terms.from = address(payer.address);
  terms.to = address(rig.merchant.address);
  terms.value = *U256::from_decimal(amount);
  // The node's clock may be ahead of ours: its blocks are at least a second apart.
  const json::value newest = rig.rpc("eth_getBlockByNumber", json::array{"latest", false});
  const auto chain_s = U256::from_0x(newest.at("timestamp").as_string())->to_u64().value_or(0);
  const auto wall_s = static_cast<std::uint64_t>(test::wall_ms() / 1'000);
  terms.valid_before = std::max(chain_s, wall_s) + good_for_s;
  terms.nonce = new_nonce();
}

Bytes Purchase::signed_now() const {
  if (!signature.empty()) return signature;
  const auto key = evm::SecretKey::parse(payer.key);
  const auto bytes =
      evm::signature_bytes(evm::sign(evm::authorization_digest(domain, terms), *key));
  return {bytes.begin(), bytes.end()};
}

json::object Purchase::requirements() const {
  json::object out;
  out["scheme"] = scheme;
  out["network"] = network;
  out[version == 1 ? "maxAmountRequired" : "amount"] = amount;
  out["asset"] = asset;
  out["payTo"] = pay_to;
  out["maxTimeoutSeconds"] = good_for_s;
  out["extra"] = extra;
  if (version == 1) {
    out["resource"] = "http://shop.test/page";
    out["description"] = "One page";
    out["mimeType"] = "text/plain";
  }
  return out;
}

std::string Purchase::body() const {
  json::object authorization;
  authorization["from"] = from.empty() ? evm::to_checksum(terms.from) : from;
  authorization["to"] = evm::to_checksum(terms.to);
  authorization["value"] = terms.value.decimal();
  authorization["validAfter"] = terms.valid_after.decimal();
  authorization["validBefore"] = terms.valid_before.decimal();
  authorization["nonce"] = hex_nonce();
  json::object payment;
  payment["x402Version"] = version;
  json::object accepted = requirements();
  for (const auto& [name, value] : accepted_otherwise) accepted[name] = value;
  if (version == 1) {
    payment["scheme"] = accepted.at("scheme");
    payment["network"] = accepted.at("network");
  } else {
    payment["accepted"] = std::move(accepted);
    if (!extensions.empty()) payment["extensions"] = extensions;
  }
  payment["payload"] =
      json::object{{"signature", to_0x(signed_now())}, {"authorization", std::move(authorization)}};
  return json::serialize(json::object{{"x402Version", version},
                                      {"paymentPayload", std::move(payment)},
                                      {"paymentRequirements", requirements()}});
}

Bytes Purchase::call_data() const {
  return evm::encode_transfer_with_authorization(terms, *evm::parse_signature(signed_now()));
}

Answer verify(Rig& rig, const Purchase& purchase, const std::string& token) {
  return rig.ask("POST", "/x402/verify", purchase.body(), "", token);
}

Answer settle(Rig& rig, const Purchase& purchase, const std::string& key,
              const std::string& token) {
  const Answer out = rig.ask("POST", "/x402/settle", purchase.body(), key, token);
  // Clients throw where one of these is no string.
  const json::object* const body = out.body.if_object();
  REQUIRE_MESSAGE(body != nullptr, out.text);
  for (const char* name : {"transaction", "network"}) {
    const json::value* const value = body->if_contains(name);
    CHECK_MESSAGE((value != nullptr && value->is_string()), out.text);
  }
  return out;
}

bool is_success(const Answer& answer) { return text_of(answer.body, "success") == "true"; }
bool is_valid(const Answer& answer) { return text_of(answer.body, "isValid") == "true"; }

std::string reason_of(const Answer& answer) {
  return text_of(answer.body, "errorReason") + text_of(answer.body, "invalidReason");
}

std::string hash_of(const Answer& answer) { return text_of(answer.body, "transaction"); }

std::int64_t open_payments(const Rig& rig) {
  return rig.store().number(
      "SELECT count(*) FROM intents WHERE state NOT IN ('settled', 'failed', 'canceled')");
}

bool all_ended(Rig& rig, std::int64_t ms) {
  return test::within_ms(
      ms,
      [&] {
        if (open_payments(rig) == 0) return true;
        rig.mine();
        return false;
      },
      300);
}

bool sent(const Rig& rig, std::size_t count, std::int64_t ms) {
  return test::within_ms(ms, [&] { return rig.proxy->raws().size() >= count; }, 20);
}

std::string lowered(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Options settling(const std::string& lines) {
  Options options;
  options.blocks = Blocks::every_second;
  options.more_tables = x402_table("budget_s = 20\n" + lines);
  return options;
}

void check_none_reverted(const Rig& rig) {
  for (const test::SentRaw& raw : rig.proxy->raws()) {
    const json::value receipt = rig.rpc("eth_getTransactionReceipt", json::array{raw.hash});
    if (receipt.is_object()) CHECK(text_of(receipt, "status") == "0x1");
  }
}

void check_nothing_begun(const Rig& rig) {
  CHECK(rig.store().number("SELECT count(*) FROM intents") == 0);
  CHECK(rig.store().number("SELECT count(*) FROM slots") == 0);
  CHECK(rig.store().number("SELECT count(*) FROM entries") == 0);
  CHECK(rig.proxy->raws().empty());
}

bool agreed(Rig& rig, const Purchase& purchase) {
  const std::size_t before = rig.proxy->raws().size();
  const Answer verified = verify(rig, purchase);
  const Answer settled = settle(rig, purchase);
  CAPTURE(verified.text);
  CAPTURE(settled.text);
  CHECK(is_valid(verified) == is_success(settled));
  if (is_success(settled)) return true;
  CHECK(reason_of(verified) == reason_of(settled));
  CHECK(hash_of(settled).empty());
  CHECK(rig.proxy->raws().size() == before);
  return false;
}

}  // namespace holdfast::cases

// Cases X about whether a purchase is taken at all: whose clock counts, what was signed against
// what is asked for, whose signature it is, what it may cost, and where it can be settled.
#include <signal.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <boost/json/parse.hpp>

#include "machine.hpp"
#include "x402_buyer.hpp"

using namespace holdfast::cases;
using namespace holdfast;

namespace {

const std::string bad_signature = "invalid_exact_evm_signature";
const std::string bad_terms = "invalid_payment_requirements";

}  // namespace

TEST_CASE("X8: with any clocks a minute or two apart verify and settle agree, and none reverts") {
  for (const std::int64_t chain_ahead_s : {-60, 0, 60}) {
    Options options;
    options.scripted = true;
    options.node.block_ms = 500;
    options.node.time_ahead_s = chain_ahead_s;
    options.more_tables = x402_table("budget_s = 20");
    Machine machine(options);
    Rig& rig = machine.rig;
    rig.node->set_time_ahead(chain_ahead_s);
    rig.start();
    for (const std::int64_t wall_ahead_s : {-120, 0, 120}) {
      machine.set("wall_ahead", std::to_string(wall_ahead_s));
      test::pause_ms(200);
      for (const std::int64_t after_s : {-60, 0, 5}) {
        CAPTURE(chain_ahead_s);
        CAPTURE(wall_ahead_s);
        CAPTURE(after_s);
        Purchase purchase(rig);
        const std::int64_t now_s = test::wall_ms() / 1'000;
        purchase.terms.valid_after = U256(static_cast<std::uint64_t>(now_s + after_s));
        purchase.terms.valid_before = U256(static_cast<std::uint64_t>(now_s + 600));
        const bool taken = agreed(rig, purchase);
        // An honest client, where chain and server are right.
        if (chain_ahead_s == 0 && wall_ahead_s == 0 && after_s == -60) CHECK(taken);
      }
    }
    machine.unset("wall_ahead");
    CHECK(test::within_ms(20'000, [&] { return open_payments(rig) == 0; }, 100));
    check_none_reverted(rig);
    rig.check_all();
  }
}

namespace {

struct Mismatch {
  const char* what;
  std::function<void(Purchase&)> change;
  std::string reason;
  int status = 200;
};

std::vector<Mismatch> mismatches() {
  return {
      {"another network, accepted too", [](Purchase& it) { it.network = "eip155:1"; },
       "invalid_network"},
      {"accepted on another network",
       [](Purchase& it) { it.accepted_otherwise["network"] = "eip155:1"; },
       "invalid_exact_evm_network_mismatch"},
      {"signed for another chain", [](Purchase& it) { it.domain.chain_id = 1; }, bad_signature},
      {"signed for another contract",
       [](Purchase& it) { it.domain.verifying_contract = *evm::Address20::from_text(elsewhere); },
       bad_signature},
      {"another payee is asked for", [](Purchase& it) { it.pay_to = elsewhere; },
       "invalid_exact_evm_recipient_mismatch"},
      {"another asset is asked for", [](Purchase& it) { it.asset = elsewhere; }, bad_terms},
      {"one unit less signed", [](Purchase& it) { it.terms.value = U256(999'999); },
       "invalid_exact_evm_payload_authorization_value_mismatch"},
      {"one unit more signed", [](Purchase& it) { it.terms.value = U256(1'000'001); },
       "invalid_exact_evm_payload_authorization_value_mismatch"},
      {"another scheme", [](Purchase& it) { it.scheme = "upto"; }, "invalid_exact_evm_scheme"},
      {"no such version", [](Purchase& it) { it.version = 3; }, "invalid_x402_version", 400},
      {"another amount accepted", [](Purchase& it) { it.accepted_otherwise["amount"] = "999999"; },
       bad_terms},
      {"another payee accepted", [](Purchase& it) { it.accepted_otherwise["payTo"] = elsewhere; },
       bad_terms},
      {"another asset accepted", [](Purchase& it) { it.accepted_otherwise["asset"] = elsewhere; },
       bad_terms},
      {"no name of the token", [](Purchase& it) { it.extra.erase("name"); },
       "invalid_exact_evm_missing_eip712_domain"},
      {"another name of the token", [](Purchase& it) { it.extra["name"] = "Caser Token"; },
       "invalid_exact_evm_token_name_mismatch"},
      {"another version of the token", [](Purchase& it) { it.extra["version"] = "2"; },
       "invalid_exact_evm_token_version_mismatch"},
      {"another way of transfer is asked for",
       [](Purchase& it) { it.extra["assetTransferMethod"] = "permit2"; },
       "unsupported_payload_type"},
      {"signed by another", [](Purchase& it) { it.payer = new_person(); }, bad_signature},
  };
}

}  // namespace

TEST_CASE("X9: what was signed or accepted otherwise than is asked for is refused by name") {
  Options options;
  options.blocks = Blocks::every_second;
  options.more_tables = x402_table("budget_s = 20");
  Rig rig(options);
  rig.start();
  for (const Mismatch& one : mismatches()) {
    CAPTURE(one.what);
    Purchase purchase(rig);
    one.change(purchase);
    for (const Answer& answer : {verify(rig, purchase), settle(rig, purchase)}) {
      CAPTURE(answer.text);
      CHECK(answer.status == one.status);
      CHECK_FALSE(is_valid(answer));
      CHECK_FALSE(is_success(answer));
      CHECK(reason_of(answer) == one.reason);
      CHECK(hash_of(answer).empty());
    }
  }
  check_nothing_begun(rig);
  // Addresses are the same in any case.
  Purchase lower(rig);
  lower.asset = lowered(lower.asset);
  lower.pay_to = lowered(lower.pay_to);
  lower.from = lowered(rig.payer.address);
  lower.accepted_otherwise["asset"] = rig.token;
  CHECK(agreed(rig, lower));
  CHECK(test::within_ms(20'000, [&] { return open_payments(rig) == 0; }, 100));
  CHECK(rig.moved().size() == 1);
  rig.check_all();
}

namespace {

/// The other s of the same signature: n − s.
Bytes with_high_s(Bytes signature) {
  const U256 order =
      *U256::from_0x("0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
  const U256 s = *U256::from_0x(to_0x(ByteView(signature).subspan(32, 32)));
  const auto high = order.minus(s)->big_endian();
  std::ranges::copy(high, signature.begin() + 32);
  signature[64] = static_cast<Byte>(signature[64] == 27 ? 28 : 27);
  return signature;
}

Bytes with_small_v(Bytes signature) {
  signature[64] = static_cast<Byte>(signature[64] - 27);
  return signature;
}

/// EIP-2098: the parity in the highest bit of s.
Bytes short_form(Bytes signature) {
  if (signature[64] == 28) signature[32] |= 0x80U;
  signature.resize(64);
  return signature;
}

/// EIP-6492: abi.encode(factory, call, signature) and the magic word.
Bytes wrapped(const Bytes& inner) {
  std::string out = std::string(24, '0') + elsewhere.substr(2) + std::string(62, '0') + "60" +
                    std::string(62, '0') + "80" + std::string(64, '0');
  const Byte size = static_cast<Byte>(inner.size());
  out += std::string(62, '0') + to_hex({&size, 1}) + to_hex(inner);
  out += std::string((32 - inner.size() % 32) % 32 * 2, '0');
  for (int i = 0; i < 16; ++i) out += "6492";
  return *from_hex(out);
}

struct Vector {
  const char* what;
  std::function<void(Purchase&)> change;
  bool taken = false;
};

std::vector<Vector> vectors() {
  const auto changed = [](Bytes (*how)(Bytes)) {
    return [how](Purchase& it) { it.signature = how(it.signed_now()); };
  };
  return {
      {"as wallets sign", [](Purchase&) {}, true},
      {"v of 0 or 1", changed(with_small_v), true},
      {"high s", changed(with_high_s)},
      {"64 bytes", changed(short_form)},
      {"v of 29", [](Purchase& it) { (it.signature = it.signed_now())[64] = 29; }},
      {"one bit off", [](Purchase& it) { (it.signature = it.signed_now())[7] ^= 1U; }},
      {"66 bytes", [](Purchase& it) { (it.signature = it.signed_now()).push_back(0); }},
      {"zeros", [](Purchase& it) { it.signature = Bytes(65, Byte{0}); }},
      {"a wrapper around garbage",
       [](Purchase& it) { it.signature = wrapped(Bytes(65, Byte{7})); }},
      {"a wrapper around nothing", [](Purchase& it) { it.signature = wrapped({}); }},
      {"another domain", [](Purchase& it) { it.domain.name = "USD Coin"; }},
      {"another domain's version", [](Purchase& it) { it.domain.version = "2"; }},
  };
}

std::string deploy(const std::string& artifact, const std::string& words) {
  const json::value read = json::parse(
      test::content_of(std::string(HOLDFAST_SOURCE_DIR "/tools/contracts/") + artifact));
  const json::value receipt =
      shared_anvil().send(test::dev_accounts().front().address, "",
                          std::string(read.at("bytecode").as_string()) + words);
  return evm::to_checksum(
      *evm::Address20::from_text(std::string_view(receipt.at("contractAddress").as_string())));
}

std::string word_of(const std::string& address) {
  return std::string(24, '0') + lowered(address.substr(2));
}

}  // namespace

TEST_CASE("X11: verify, the simulation and settle say the same of every signature") {
  Rig rig(settling());
  rig.start();
  for (const Vector& one : vectors()) {
    CAPTURE(one.what);
    Purchase purchase(rig);
    one.change(purchase);
    CHECK(agreed(rig, purchase) == one.taken);
  }
  CHECK(test::within_ms(20'000, [&] { return open_payments(rig) == 0; }, 100));
  check_none_reverted(rig);
  rig.check_all();
}

TEST_CASE("X11: a payer with code is asked by its code, and garbage of its is refused") {
  Rig rig(settling());
  rig.start();
  const std::string wallet = deploy("TestWallet.json", word_of(rig.payer.address));
  shared_anvil().mint(rig.token, wallet, start_tokens);
  const auto of_wallet = [&] {
    Purchase out(rig);
    out.terms.from = *evm::Address20::from_text(wallet);
    return out;
  };
  Purchase good = of_wallet();
  good.signature = good.signed_now();
  good.signature.insert(good.signature.begin(), Byte{0x77});
  CHECK(agreed(rig, good));
  Purchase plain = of_wallet();  // the owner's own signature is none of the wallet's
  CHECK_FALSE(agreed(rig, plain));
  Purchase garbage = of_wallet();
  garbage.signature = Bytes(66, Byte{0x77});
  CHECK_FALSE(agreed(rig, garbage));
  CHECK(test::within_ms(20'000, [&] { return open_payments(rig) == 0; }, 100));
  check_none_reverted(rig);
  rig.check_all();
}

#include <boost/json/serialize.hpp>

#include "evm/codec_vectors.hpp"
#include "evm/eip3009.hpp"

namespace holdfast::evm {
namespace {

using vectors::code_name;
using vectors::section;
using vectors::text;

Domain domain_of(const boost::json::value& vector) {
  return Domain{text(vector.at("name")), text(vector.at("version")),
                vectors::u64(vector.at("chain_id")),
                vectors::address(vector.at("verifying_contract"))};
}

TransferAuthorization authorization_of(const boost::json::value& vector) {
  return TransferAuthorization{
      vectors::address(vector.at("from")),      vectors::address(vector.at("to")),
      vectors::uint(vector.at("value")),        vectors::uint(vector.at("valid_after")),
      vectors::uint(vector.at("valid_before")), vectors::bytes32(vector.at("nonce"))};
}

TEST_CASE("eip-3009: domain, struct and digest are those of viem and ethers") {
  for (const auto& vector : section("authorizations", 50)) {
    const Domain domain = domain_of(vector.at("domain"));
    const TransferAuthorization authorization = authorization_of(vector);
    CHECK(domain_separator(domain) == vectors::hash32(vector.at("separator")));
    CHECK(struct_hash(authorization) == vectors::hash32(vector.at("struct_hash")));
    CHECK(authorization_digest(domain, authorization) == vectors::hash32(vector.at("digest")));
  }
}

TEST_CASE("eip-3009: the payer's signature is the one their wallet gives, and recovers to them") {
  for (const auto& vector : section("authorizations", 50)) {
    const Hash32 digest = vectors::hash32(vector.at("digest"));
    const Signature made = sign(digest, vectors::key(vector.at("key")));
    CHECK(to_0x(signature_bytes(made)) == text(vector.at("signature")));
    CHECK(recover(digest, made).value() == vectors::address(vector.at("from")));
  }
}

TEST_CASE("eip-3009: calls of both overloads are encoded byte for byte, and read back") {
  for (const auto& vector : section("authorizations", 50)) {
    const TransferAuthorization authorization = authorization_of(vector);
    const Bytes bytes = vectors::bytes(vector.at("signature"));
    const Signature signature = parse_signature(bytes).value();
    const Bytes wallet = vectors::bytes(vector.at("wallet_signature"));

    const Bytes by_parts = encode_transfer_with_authorization(authorization, signature);
    CHECK(to_0x(by_parts) == text(vector.at("call")));
    CHECK(to_0x(encode_transfer_with_authorization(authorization, ByteView(bytes))) ==
          text(vector.at("call_bytes")));
    const Bytes by_wallet = encode_transfer_with_authorization(authorization, ByteView(wallet));
    CHECK(to_0x(by_wallet) == text(vector.at("call_wallet")));

    const auto read_parts = decode_transfer_with_authorization(by_parts).value();
    CHECK(read_parts.authorization == authorization);
    CHECK(std::get<Signature>(read_parts.signature) == signature);
    const auto read_wallet = decode_transfer_with_authorization(by_wallet).value();
    CHECK(read_wallet.authorization == authorization);
    CHECK(std::get<Bytes>(read_wallet.signature) == wallet);
  }
}

TEST_CASE("eip-3009: the typed data in JSON is what a wallet is asked to sign") {
  std::size_t compared = 0;
  for (const auto& vector : section("authorizations", 50)) {
    const auto* expected = vector.as_object().if_contains("typed_data");
    if (expected == nullptr) continue;
    const auto made = typed_data_json(domain_of(vector.at("domain")), authorization_of(vector));
    // Compared as values: the order of an object's members means nothing, and 1 and 1u are equal.
    CHECK(boost::json::value(made) == *expected);
    CHECK(made.at("message").at("value").is_string());
    CHECK(made.at("domain").at("chainId").is_uint64());
    ++compared;
  }
  CHECK(compared == 12);
}

TEST_CASE("eip-3009: cancellation's digest and call are those of viem and ethers") {
  for (const auto& vector : section("cancellations", 15)) {
    const CancelAuthorization cancel{vectors::address(vector.at("authorizer")),
                                     vectors::bytes32(vector.at("nonce"))};
    const Signature signature = parse_signature(vectors::bytes(vector.at("signature"))).value();
    CHECK(struct_hash(cancel) == vectors::hash32(vector.at("struct_hash")));
    CHECK(authorization_digest(domain_of(vector.at("domain")), cancel) ==
          vectors::hash32(vector.at("digest")));
    CHECK(to_0x(encode_cancel_authorization(cancel, signature)) == text(vector.at("call")));
    CHECK(to_0x(encode_authorization_state(cancel.authorizer, cancel.nonce)) ==
          text(vector.at("state_call")));
  }
}

TEST_CASE("eip-3009: call data with a wrong word, length or padding is refused by name") {
  const auto& vector = section("authorizations", 50)[3];
  const Bytes good = vectors::bytes(vector.at("call"));
  const auto refusal = [](const Bytes& bytes) {
    const auto read = decode_transfer_with_authorization(bytes);
    return read ? std::string("accepted") : read.error().detail;
  };
  const std::string what = "the call data of transferWithAuthorization";

  Bytes changed = good;
  changed.push_back(0);
  CHECK(refusal(changed) == what + " has 289 bytes; 288 are expected");
  changed = good;
  changed.pop_back();
  CHECK(refusal(changed) == what + " has 287 bytes; at least 288 are needed");
  changed = good;
  changed[4] = 1;
  CHECK(refusal(changed) == what + ": from is no address: the bytes before it are not zero");
  changed = good;
  changed[4 + 6 * 32 + 30] = 1;
  CHECK(refusal(changed) == what + ": v does not fit into 8 bits");
  changed = good;
  changed[4 + 6 * 32 + 31] = 29;
  CHECK(refusal(changed) == "the call's v is neither 27 nor 28");
  changed = good;
  changed[0] ^= 1;
  CHECK(code_name(decode_transfer_with_authorization(changed)) == "other_call");
  CHECK(code_name(decode_transfer_with_authorization({})) == "other_call");
}

TEST_CASE("eip-3009: a dynamic signature that is elsewhere, long, cut or badly padded is refused") {
  const Bytes signature(65, 0x11);
  const Bytes good = encode_transfer_with_authorization({}, ByteView(signature));
  const auto refusal = [](const Bytes& bytes) {
    const auto read = decode_transfer_with_authorization(bytes);
    return read ? std::string("accepted") : read.error().detail;
  };
  const std::string field = "the call data of transferWithAuthorization: signature ";
  const std::size_t offset_at = 4 + 6 * 32 + 31;
  const std::size_t length_at = offset_at + 32;
  REQUIRE(refusal(good) == "accepted");

  Bytes changed = good;
  changed[offset_at] += 32;
  CHECK(refusal(changed) == field + "does not follow the arguments before it");
  changed = good;
  changed[length_at - 2] = 1;
  CHECK(refusal(changed) == field + "is longer than 8192 bytes");
  changed = good;
  changed[length_at] = 97;
  CHECK(refusal(changed) == field + "is cut short");
  changed = good;
  changed[length_at] = 64;
  CHECK(refusal(changed) ==
        "the call data of transferWithAuthorization has 352 bytes; 320 are expected");
  changed = good;
  changed.back() = 1;
  CHECK(refusal(changed) == field + "is not padded with zeros");
  const Bytes endless(8193, 0x11);
  CHECK(refusal(encode_transfer_with_authorization({}, ByteView(endless))) ==
        field + "is longer than 8192 bytes");
}

}  // namespace
}  // namespace holdfast::evm

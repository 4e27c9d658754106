#include <algorithm>
#include <functional>

#include "evm/codec_vectors.hpp"
#include "evm/transaction.hpp"

namespace holdfast::evm {
namespace {

using vectors::code_name;
using vectors::section;
using vectors::text;

constexpr std::size_t enough = 124;

Transaction1559 transaction_of(const boost::json::value& vector) {
  Transaction1559 tx;
  tx.chain_id = vectors::u64(vector.at("chain_id"));
  tx.nonce = vectors::u64(vector.at("nonce"));
  tx.max_priority_fee = vectors::uint(vector.at("max_priority_fee"));
  tx.max_fee = vectors::uint(vector.at("max_fee"));
  tx.gas_limit = vectors::u64(vector.at("gas_limit"));
  tx.to = vectors::address(vector.at("to"));
  tx.value = vectors::uint(vector.at("value"));
  tx.data = vectors::bytes(vector.at("data"));
  return tx;
}

TEST_CASE("transaction: every vector is signed to the bytes that viem and ethers send") {
  for (const auto& vector : section("transactions", enough)) {
    const Transaction1559 tx = transaction_of(vector);
    const Hash32 digest = signing_digest(tx);
    CHECK(digest == vectors::hash32(vector.at("digest")));
    const Bytes raw = encode_signed(tx, sign(digest, vectors::key(vector.at("key"))));
    CHECK(to_0x(raw) == text(vector.at("raw")));
    CHECK(tx_hash(raw) == vectors::hash32(vector.at("hash")));
  }
}

TEST_CASE("transaction: every vector's bytes are read back to the fields, sender and hash") {
  for (const auto& vector : section("transactions", enough)) {
    const auto decoded = decode_signed(vectors::bytes(vector.at("raw")));
    REQUIRE(decoded.has_value());
    CHECK(decoded->tx == transaction_of(vector));
    CHECK(to_checksum(decoded->sender) == text(vector.at("sender")));
    CHECK(decoded->hash == vectors::hash32(vector.at("hash")));
    CHECK(to_0x(encode_signed(decoded->tx, decoded->signature)) == text(vector.at("raw")));
  }
}

TEST_CASE("transaction: bytes that are not exactly one good transfer of ours are refused") {
  for (const auto& vector : section("bad_transactions", 32)) {
    CAPTURE(text(vector.at("why")));
    CHECK(code_name(decode_signed(vectors::bytes(vector.at("raw")))) == text(vector.at("code")));
  }
}

TEST_CASE("transaction: a bit flipped anywhere is refused, or is another sender's") {
  const auto& vector = section("transactions", enough)[20];
  const auto good = decode_signed(vectors::bytes(vector.at("raw")));
  REQUIRE(good.has_value());
  const Bytes raw = vectors::bytes(vector.at("raw"));
  for (std::size_t bit = 0; bit < raw.size() * 8; ++bit) {
    Bytes changed = raw;
    changed[bit / 8] ^= static_cast<Byte>(1U << bit % 8);
    const auto decoded = decode_signed(changed);
    CHECK((!decoded || decoded->sender != good->sender));
  }
}

TEST_CASE("transaction: signed bytes over the size that nodes take are refused") {
  Transaction1559 tx = transaction_of(section("transactions", enough)[0]);
  tx.data = Bytes(131'072, 0xaa);
  const SecretKey key = vectors::key(section("keys", 43)[5].at("key"));
  CHECK(code_name(decode_signed(encode_signed(tx, sign(signing_digest(tx), key)))) == "bad_rlp");
  tx.data.resize(130'000);
  CHECK(decode_signed(encode_signed(tx, sign(signing_digest(tx), key))).has_value());
}

TEST_CASE("transaction: bytes that say what the record says pass; any one difference is named") {
  const auto& vector = section("transactions", enough)[30];
  const auto decoded = decode_signed(vectors::bytes(vector.at("raw")));
  REQUIRE(decoded.has_value());
  const Transaction1559 recorded = transaction_of(vector);
  CHECK(check_says(*decoded, recorded, vectors::address(vector.at("sender"))).has_value());

  struct Change {
    const char* field;
    std::function<void(Transaction1559&)> make;
  };
  const Change changes[] = {
      {"chain_id", [](auto& tx) { tx.chain_id ^= 1; }},
      {"nonce", [](auto& tx) { tx.nonce ^= 1; }},
      {"max_priority_fee", [](auto& tx) { tx.max_priority_fee = U256::max(); }},
      {"max_fee", [](auto& tx) { tx.max_fee = U256::max(); }},
      {"gas_limit", [](auto& tx) { tx.gas_limit ^= 1; }},
      {"to", [](auto& tx) { tx.to.value[19] ^= 1; }},
      {"value", [](auto& tx) { tx.value = *tx.value.plus(U256(1)); }},
      {"data", [](auto& tx) { tx.data.push_back(0); }},
  };
  for (const Change& change : changes) {
    Transaction1559 other = recorded;
    change.make(other);
    const auto said = check_says(*decoded, other, decoded->sender);
    CHECK(code_name(said) == "differs_from_record");
    CHECK(said.error().detail ==
          std::string("the signed bytes differ from the record in ") + change.field);
  }
  CHECK(check_says(*decoded, recorded, Address20{}).error().detail ==
        "the signed bytes differ from the record in the sending account");
}

TEST_CASE("transaction: a refusal names the type or the field") {
  CHECK(decode_signed(Bytes{0xc0}).error().detail ==
        "the transaction is a legacy one; only EIP-1559 (type 2) is sent");
  CHECK(decode_signed(Bytes{0x03, 0xc0}).error().detail ==
        "the transaction is of type 3; only EIP-1559 (type 2) is sent");
  const auto& bad = section("bad_transactions", 32);
  const auto* leading = std::ranges::find_if(bad, [](const auto& vector) {
    return text(vector.at("why")) == "a nonce with a leading zero";
  });
  REQUIRE(leading != bad.end());
  CHECK(decode_signed(vectors::bytes(leading->at("raw"))).error().detail ==
        "nonce has a leading zero byte");
}

}  // namespace
}  // namespace holdfast::evm

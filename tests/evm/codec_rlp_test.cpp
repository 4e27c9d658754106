#include <algorithm>

#include "evm/codec_vectors.hpp"
#include "evm/rlp.hpp"

namespace holdfast::evm {
namespace {

using vectors::code_name;
using vectors::section;

/// The vector's nested lists of hex strings, encoded with the three writers.
Bytes encode(const boost::json::value& value) {
  Bytes out;
  if (!value.is_array()) {
    rlp::append_bytes(out, vectors::bytes(value));
    return out;
  }
  Bytes payload;
  for (const auto& item : value.as_array()) {
    const Bytes encoded = encode(item);
    payload.insert(payload.end(), encoded.begin(), encoded.end());
  }
  rlp::append_list(out, payload);
  return out;
}

bool same(const rlp::Item& item, const boost::json::value& value) {
  if (item.is_list != value.is_array()) return false;
  if (!item.is_list) return std::ranges::equal(item.bytes, vectors::bytes(value));
  return std::ranges::equal(item.items, value.as_array(), same);
}

TEST_CASE("rlp: every vector is encoded byte for byte, and decoded to what it was") {
  for (const auto& vector : section("rlp", 70)) {
    const Bytes encoded = vectors::bytes(vector.at("encoded"));
    CHECK(encode(vector.at("value")) == encoded);
    const auto decoded = rlp::decode(encoded);
    REQUIRE(decoded.has_value());
    CHECK(same(*decoded, vector.at("value")));
  }
}

TEST_CASE("rlp: what is not canonical is refused") {
  for (const auto& vector : section("bad_rlp", 19)) {
    CAPTURE(vectors::text(vector.at("why")));
    CHECK(code_name(rlp::decode(vectors::bytes(vector.at("encoded")))) == "bad_rlp");
  }
}

TEST_CASE("rlp: no prefix of a value is a value, and nothing may follow one") {
  for (const auto& vector : section("rlp", 70)) {
    Bytes encoded = vectors::bytes(vector.at("encoded"));
    if (encoded.size() > 600) continue;
    for (std::size_t size = 0; size < encoded.size(); ++size) {
      CHECK_FALSE(rlp::decode(ByteView(encoded).first(size)).has_value());
    }
    encoded.push_back(0);
    CHECK_FALSE(rlp::decode(encoded).has_value());
  }
}

TEST_CASE("rlp: whatever bytes decode are the bytes that would be encoded") {
  // Every string of up to three bytes: a second spelling of a value has no place to hide.
  std::size_t accepted = 0;
  const auto again = [](const auto& self, const rlp::Item& item) -> Bytes {
    Bytes out;
    if (!item.is_list) {
      rlp::append_bytes(out, item.bytes);
      return out;
    }
    Bytes payload;
    for (const auto& inner : item.items) {
      const Bytes encoded = self(self, inner);
      payload.insert(payload.end(), encoded.begin(), encoded.end());
    }
    rlp::append_list(out, payload);
    return out;
  };
  for (std::uint32_t number = 0; number < 1U << 24; number += number < 1U << 16 ? 1 : 251) {
    Bytes bytes;
    for (int shift = number < 1U << 8 ? 0 : number < 1U << 16 ? 8 : 16; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<Byte>(number >> shift));
    }
    const auto decoded = rlp::decode(bytes);
    if (!decoded) continue;
    ++accepted;
    if (again(again, *decoded) != bytes) FAIL("a second spelling: ", to_hex(bytes));
  }
  CHECK(accepted > 200);
}

TEST_CASE("rlp: a value over the limits of size, depth or items is refused by name") {
  const Bytes long_string(100, 0xaa);
  Bytes encoded;
  rlp::append_bytes(encoded, long_string);
  CHECK(rlp::decode(encoded, {.bytes = 102}).has_value());
  const auto too_long = rlp::decode(encoded, {.bytes = 101});
  REQUIRE_FALSE(too_long.has_value());
  CHECK(too_long.error().detail == "the RLP has 102 bytes; the limit is 101");

  const Bytes nested{0xc2, 0xc1, 0xc0};
  CHECK(rlp::decode(nested, {.depth = 3}).has_value());
  CHECK(rlp::decode(nested, {.depth = 2}).error().detail ==
        "RLP, offset 3: lists are nested too deeply");

  const Bytes three{0xc3, 0x01, 0x02, 0x03};
  CHECK(rlp::decode(three, {.items = 3}).has_value());
  CHECK(rlp::decode(three, {.items = 2}).error().detail ==
        "RLP, offset 3: there are too many items");
}

TEST_CASE("rlp: numbers have one spelling and a width") {
  const auto number = [](const Bytes& bytes) {
    return rlp::to_uint(rlp::Item{false, bytes, {}}, "amount");
  };
  CHECK(number({}).value() == U256(0));
  CHECK(number({0x04, 0x00}).value() == U256(1024));
  CHECK(number(Bytes(32, 0xff)).value() == U256::max());
  CHECK(number({0x00}).error().detail == "amount has a leading zero byte");
  Bytes wide(33, 0x01);
  CHECK(number(wide).error().detail == "amount is over 2^256 - 1");
  const Bytes nine(9, 0x01);
  CHECK(rlp::to_u64(rlp::Item{false, nine, {}}, "nonce").error().detail ==
        "nonce is over 2^64 - 1");
  CHECK(rlp::to_uint(rlp::Item{true, {}, {}}, "nonce").error().detail ==
        "nonce is a list, not a number");
}

}  // namespace
}  // namespace holdfast::evm

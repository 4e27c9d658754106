#include <string>

#include <doctest/doctest.h>

#include <holdfast/base/bytes.hpp>

namespace holdfast {
namespace {

using Word = FixedBytes<32, struct WordTag>;

}  // namespace

TEST_CASE("hex: bytes read back from their text, in either case and with or without 0x") {
  const Bytes bytes = {0x00, 0x01, 0x7f, 0x80, 0xab, 0xff};
  CHECK(to_hex(bytes) == "00017f80abff");
  CHECK(to_0x(bytes) == "0x00017f80abff");
  for (const char* text : {"00017f80abff", "0x00017f80abff", "0X00017F80ABFF", "00017F80aBfF"}) {
    CHECK(from_hex(text) == bytes);
  }
  CHECK(to_hex({}).empty());
  CHECK(to_0x({}) == "0x");
  CHECK(from_hex("") == Bytes{});
  CHECK(from_hex("0x") == Bytes{});
}

TEST_CASE("hex: every byte has one text, and every text its byte") {
  for (int value = 0; value < 256; ++value) {
    const Bytes one = {static_cast<Byte>(value)};
    CHECK(from_hex(to_hex(one)) == one);
  }
}

TEST_CASE("hex: odd, foreign or doubly prefixed digits are refused") {
  for (const char* text : {"0", "0x0", "abc", "0xg0", "0g", "zz", " 00", "00 ", "0x 0", "-1", "+1",
                           "0x0x00", "x0", "0:", "0/", "0@", "0`", "G0"}) {
    CAPTURE(text);
    CHECK_FALSE(from_hex(text));
  }
  CHECK_FALSE(from_hex(std::string_view("0\0", 2)));
}

TEST_CASE("bytes: a fixed value takes exactly its size, from bytes and from text") {
  const std::string text = "0x" + std::string(64, 'a');
  const auto word = Word::from_text(text);
  REQUIRE(word);
  CHECK(word->hex() == text);
  CHECK(Word::from(word->view()) == *word);
  CHECK_FALSE(Word::from_text(text + "aa"));
  CHECK_FALSE(Word::from_text(text.substr(0, 64)));
  CHECK_FALSE(Word::from_text(""));
  CHECK_FALSE(Word::from(Bytes(31)));
  CHECK_FALSE(Word::from(Bytes(33)));
  CHECK(Word{}.is_zero());
  CHECK_FALSE(word->is_zero());
}

TEST_CASE("bytes: fixed values are ordered as their bytes are") {
  Word low;
  Word high;
  low.value[31] = 0xff;
  high.value[0] = 0x01;
  CHECK(low < high);
  CHECK(std::hash<Word>{}(low) == std::hash<Word>{}(low));
}

TEST_CASE("bytes: a secret compares equal only to itself, wherever the difference is") {
  const Bytes secret(32, 0x5a);
  CHECK(equal_constant_time(secret, Bytes(32, 0x5a)));
  for (std::size_t i = 0; i < secret.size(); ++i) {
    for (const Byte bit : {Byte{1}, Byte{0x80}}) {
      Bytes other = secret;
      other[i] ^= bit;
      CHECK_FALSE(equal_constant_time(secret, other));
    }
  }
  // Two differences that would cancel in a sum.
  Bytes other = secret;
  other[0] ^= 1;
  other[31] ^= 1;
  CHECK_FALSE(equal_constant_time(secret, other));
  CHECK_FALSE(equal_constant_time(secret, Bytes(31, 0x5a)));
  CHECK_FALSE(equal_constant_time(secret, {}));
  CHECK(equal_constant_time({}, {}));
}

TEST_CASE("bytes: text and bytes are views of each other") {
  CHECK(as_text(as_bytes("abc")) == "abc");
  CHECK(as_bytes("abc").size() == 3);
}

}  // namespace holdfast

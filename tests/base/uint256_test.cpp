#include <random>
#include <string>

#include <doctest/doctest.h>

#include <holdfast/base/uint256.hpp>

namespace holdfast {
namespace {

// 2^256 - 1 and the numbers around it, from Python's integers.
const std::string most =
    "115792089237316195423570985008687907853269984665640564039457584007913129639935";
const std::string one_too_many =
    "115792089237316195423570985008687907853269984665640564039457584007913129639936";
const std::string two_to_128 = "340282366920938463463374607431768211456";

U256 number(std::string_view decimal) { return U256::from_decimal(decimal).value(); }

U256 any_number(std::mt19937_64& random) {
  std::array<Byte, 32> bytes{};
  const std::size_t size = random() % 33;
  for (std::size_t i = 32 - size; i < 32; ++i) bytes[i] = static_cast<Byte>(random());
  return *U256::from_big_endian(bytes);
}

}  // namespace

TEST_CASE("amounts: plain decimals are read exactly, up to 2^256 - 1") {
  for (const std::string& text :
       {std::string("0"), std::string("1"), std::string("9007199254740993"),
        std::string("18446744073709551615"), std::string("18446744073709551616"), two_to_128,
        most}) {
    CAPTURE(text);
    const auto value = U256::from_decimal(text);
    REQUIRE(value);
    CHECK(value->decimal() == text);
  }
  CHECK(number(most) == U256::max());
  CHECK_FALSE(U256::from_decimal(one_too_many));
  CHECK_FALSE(U256::from_decimal(std::string(78, '9')));
  CHECK_FALSE(U256::from_decimal(std::string(79, '1')));
}

TEST_CASE("amounts: anything but digits without a leading zero is refused") {
  for (const char* text : {"", "-1", "+1", "1e6", "0x10", "01", "00", " 1", "1 ", "1.0", "1,000",
                           "1_000", "\xd9\xa1", "NaN", "1\n"}) {
    CAPTURE(text);
    CHECK_FALSE(U256::from_decimal(text));
  }
  CHECK_FALSE(U256::from_decimal(std::string_view("1\0", 2)));
}

TEST_CASE("amounts: a JSON-RPC quantity has the fewest digits, and words are read with zeros") {
  CHECK(U256{}.quantity() == "0x0");
  CHECK(U256{1}.quantity() == "0x1");
  CHECK(U256{255}.quantity() == "0xff");
  CHECK(U256{256}.quantity() == "0x100");
  CHECK(U256::max().quantity() == "0x" + std::string(64, 'f'));
  CHECK(U256::from_0x("0x0") == U256{});
  CHECK(U256::from_0x("0xFf") == U256{255});
  CHECK(U256::from_0x("0x" + std::string(60, '0') + "0100") == U256{256});
  CHECK(U256::from_0x("0x" + std::string(64, 'f')) == U256::max());
  const std::string too_long = "0x0" + std::string(64, 'f');
  for (const std::string& text :
       {std::string(""), std::string("0x"), std::string("1"), std::string("0xg"),
        std::string("0x-1"), std::string("0X1"), std::string("0x0x1"), too_long}) {
    CAPTURE(text);
    CHECK_FALSE(U256::from_0x(text));
  }
}

TEST_CASE("amounts: big-endian bytes read back, short ones are small numbers, long ones refused") {
  CHECK(U256::from_big_endian({}) == U256{});
  CHECK(U256::from_big_endian(Bytes{1, 0}) == U256{256});
  CHECK_FALSE(U256::from_big_endian(Bytes(33)));
  const U256 value = number(two_to_128);
  CHECK(value.words() == std::array<std::uint64_t, 4>{0, 0, 1, 0});
  CHECK(U256::from_big_endian(value.big_endian()) == value);
}

TEST_CASE("amounts: only what fits into 64 bits is given as such") {
  CHECK(number("18446744073709551615").to_u64() == ~0ULL);
  CHECK_FALSE(number("18446744073709551616").to_u64());
  CHECK_FALSE(U256::max().to_u64());
  CHECK(U256{}.is_zero());
  CHECK_FALSE(number(two_to_128).is_zero());
}

TEST_CASE("amounts: arithmetic that does not fit says so, at exactly the edge") {
  CHECK(*U256::max().plus(0) == U256::max());
  CHECK_FALSE(U256::max().plus(1));
  CHECK_FALSE(U256::max().plus(U256::max()));
  CHECK(*U256{}.minus(0) == U256{});
  CHECK_FALSE(U256{}.minus(1));
  CHECK(*U256::max().minus(U256::max()) == U256{});
  const U256 half = number(two_to_128);
  CHECK_FALSE(half.times(half));
  CHECK(*half.times(*half.minus(1)) == *U256::max().minus(*half.minus(1)));
  CHECK(*U256::max().times(1) == U256::max());
  CHECK_FALSE(U256::max().times(2));
  CHECK(*U256::max().times(0) == U256{});
  // One word each, and one more.
  CHECK(*U256{~0ULL}.times(~0ULL) == number("340282366920938463426481119284349108225"));
  CHECK(*U256{~0ULL}.times(*U256{~0ULL}.plus(1)) ==
        number("340282366920938463444927863358058659840"));
  CHECK(*number(two_to_128).divided_by(~0ULL) == *U256{~0ULL}.plus(2));
  CHECK_FALSE(U256{1}.divided_by(0));
  CHECK(*U256::max().divided_by(U256::max()) == U256{1});
  CHECK(*U256{7}.divided_by(2) == U256{3});
  CHECK(*U256{7}.divided_by(8) == U256{});
}

TEST_CASE("amounts: order is by value, over all four words") {
  CHECK(U256{1} < U256{2});
  CHECK(number("18446744073709551615") < number("18446744073709551616"));
  CHECK(number(two_to_128) > U256{~0ULL});
  CHECK(U256::max() > number(two_to_128));
  CHECK((U256{5} <=> U256{5}) == std::strong_ordering::equal);
}

TEST_CASE("amounts: for any two numbers the operations agree with each other") {
  std::mt19937_64 random(13);
  for (int i = 0; i < 5000; ++i) {
    const U256 a = any_number(random);
    const U256 b = any_number(random);
    CHECK(U256::from_decimal(a.decimal()) == a);
    CHECK(U256::from_0x(a.quantity()) == a);
    CHECK(U256::from_big_endian(a.big_endian()) == a);
    CHECK(a.plus(b) == b.plus(a));
    CHECK(a.times(b) == b.times(a));
    if (const auto sum = a.plus(b)) CHECK(*sum->minus(b) == a);
    CHECK(a.minus(b).has_value() == (a >= b));
    if (b.is_zero()) continue;
    const U256 quotient = *a.divided_by(b);
    const U256 back = *quotient.times(b);
    CHECK(back <= a);
    CHECK(*a.minus(back) < b);
  }
}

}  // namespace holdfast

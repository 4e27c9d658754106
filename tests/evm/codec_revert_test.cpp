#include <array>

#include "evm/abi.hpp"
#include "evm/codec_vectors.hpp"
#include "evm/revert.hpp"
#include "evm/utf8.hpp"

namespace holdfast::evm {
namespace {

using vectors::section;
using vectors::text;

Bytes error_data(std::string_view reason) {
  return abi::CallWriter({0x08, 0xc3, 0x79, 0xa0}).bytes(as_bytes(reason)).finish();
}

TEST_CASE("revert: every vector is read to its text, code or selector") {
  for (const auto& vector : section("reverts", 17)) {
    const std::string error = text(vector.at("error"));
    const std::string value = text(vector.at("value"));
    const Revert revert = decode_revert(vectors::bytes(vector.at("data")));
    CAPTURE(value);
    if (error == "Error") {
      CHECK(revert == Revert{RevertKind::error, value});
    } else if (error == "Panic") {
      CHECK(revert.kind == RevertKind::panic);
      CHECK(revert.text.ends_with(": an unknown code") == (value == "255"));
    } else {
      CHECK(revert ==
            Revert{RevertKind::custom, "custom error " + text(vector.at("data")).substr(0, 10)});
    }
  }
}

TEST_CASE("revert: panics have their names") {
  const auto panic = [](std::uint64_t code) {
    return decode_revert(abi::CallWriter({0x4e, 0x48, 0x7b, 0x71}).uint(code).finish()).text;
  };
  CHECK(panic(0x01) == "panic 0x01: an assertion failed");
  CHECK(panic(0x11) == "panic 0x11: arithmetic overflow or underflow");
  CHECK(panic(0x51) == "panic 0x51: a call of an uninitialised function");
  CHECK(panic(0x1234) == "panic 0x1234: an unknown code");
}

TEST_CASE("revert: nothing, a few bytes and broken encodings all have a reading") {
  CHECK(decode_revert({}) == Revert{RevertKind::empty, "reverted without a reason"});
  CHECK(decode_revert(Bytes{0xab, 0xcd}) == Revert{RevertKind::custom, "custom error 0xabcd"});
  Bytes data = error_data("a reason");
  const std::string by_selector = "custom error 0x08c379a0";
  CHECK(decode_revert(ByteView(data).first(4)) == Revert{RevertKind::custom, by_selector});
  CHECK(decode_revert(ByteView(data).first(67)).text == by_selector);
  CHECK(decode_revert(ByteView(data).first(68)).text == by_selector);  // the text itself is missing
  CHECK(decode_revert(ByteView(data).first(76)).text == "a reason");  // only the padding is
  data[35] = 64;
  CHECK(decode_revert(data).text == by_selector);
  data[35] = 32;
  data[40] = 1;  // a length over 2^64
  CHECK(decode_revert(data).text == by_selector);
}

TEST_CASE("revert: a hostile reason cannot break a line, hide or reorder text, or be endless") {
  CHECK(decode_revert(error_data("a\nb\x1b[31m\x7f")).text == "a?b?[31m?");
  CHECK(decode_revert(error_data("a\xc2\x85"
                                 "b\xe2\x80\xae"
                                 "c\xe2\x80\xa8"))
            .text == "a?b?c?");
  CHECK(decode_revert(error_data("a\xff\xc3")).text == "a??");
  const Revert endless = decode_revert(error_data(std::string(100'000, 'x')));
  CHECK(endless.text == std::string(253, 'x') + "…");
}

TEST_CASE("revert: a text is cut between characters, and only when it must be") {
  const auto cut = [](std::string_view text, std::size_t limit) {
    return printable(as_bytes(text), limit);
  };
  CHECK(cut("12345678", 8) == "12345678");
  CHECK(cut("123456789", 8) == "12345…");
  CHECK(cut("1234✓✓✓", 8) == "1234…");  // another ✓ would leave no room for the mark
  CHECK(cut("✓✓", 6) == "✓✓");
  CHECK(cut("abc", 2) == "");
  for (std::size_t limit = 0; limit < 40; ++limit) {
    const std::string out =
        cut("añb✓c𝄞d\n\xff"
            "añb✓c𝄞d",
            limit);
    CHECK(out.size() <= limit);
    CHECK(is_utf8(as_bytes(out)));
  }
}

TEST_CASE("utf-8: only the shortest form of a real character is one") {
  const auto size = [](std::initializer_list<Byte> bytes) {
    return first_code_point(Bytes(bytes)).size;
  };
  CHECK(size({}) == 0);
  CHECK(size({0x7f}) == 1);
  CHECK(size({0xc2, 0x80}) == 2);
  CHECK(size({0xc1, 0xbf}) == 0);
  CHECK(size({0xe0, 0xa0, 0x80}) == 3);
  CHECK(size({0xe0, 0x9f, 0xbf}) == 0);
  CHECK(size({0xed, 0xbf, 0xbf}) == 0);
  CHECK(size({0xf0, 0x90, 0x80, 0x80}) == 4);
  CHECK(size({0xf4, 0x8f, 0xbf, 0xbf}) == 4);
  CHECK(size({0xf4, 0x90, 0x80, 0x80}) == 0);
  CHECK(size({0xf8, 0x88, 0x80, 0x80, 0x80}) == 0);
  CHECK(size({0xe2, 0x28, 0xa1}) == 0);
}

}  // namespace
}  // namespace holdfast::evm

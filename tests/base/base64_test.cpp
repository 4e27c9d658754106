#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <holdfast/base/base64.hpp>

namespace holdfast {
namespace {

constexpr std::size_t plenty = 1'000;

// RFC 4648, section 10, and bytes that use the last two digits.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> pairs = {{
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xfb\xff\xfe", "+//+"},
    {"{\"a\":1}", "eyJhIjoxfQ=="},
}};

TEST_CASE("base64: the published examples, there and back") {
  for (const auto& [bytes, text] : pairs) {
    CAPTURE(text);
    CHECK(to_base64(as_bytes(bytes)) == text);
    const auto back = from_base64(text, plenty);
    REQUIRE(back.has_value());
    CHECK(as_text(*back) == bytes);
  }
}

TEST_CASE("base64: what would not be written so is not read") {
  for (const std::string_view text :
       {"Zg", "Zg=", "Z", "Zg===", "====", "=", "Zh==", "Zm9=", "Zm 9", "Zm9v\n", " Zm9", "Zm-_",
        "Zg==Zg==", "Z===", "Zm9v=", "Zm9\xc3", "=Zm9"}) {
    CAPTURE(text);
    CHECK_FALSE(from_base64(text, plenty).has_value());
  }
}

TEST_CASE("base64: no more than so many bytes are read") {
  CHECK(from_base64("Zm9vYg==", 4).has_value());
  CHECK_FALSE(from_base64("Zm9vYg==", 3).has_value());
  CHECK(from_base64("", 0).has_value());
}

}  // namespace
}  // namespace holdfast

#include "evm/codec_vectors.hpp"

namespace holdfast::evm {
namespace {

using vectors::code_name;
using vectors::section;
using vectors::text;

TEST_CASE("keccak: every vector's hash is the one of viem and ethers") {
  for (const auto& vector : section("keccak", 16)) {
    CHECK(keccak256(vectors::bytes(vector.at("data"))) == vectors::hash32(vector.at("hash")));
  }
}

TEST_CASE("keccak: it is not SHA3-256, whose padding differs") {
  CHECK(keccak256("").hex() ==
        "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
}

TEST_CASE("address: the checksum is EIP-55's, and all three spellings are read") {
  for (const auto& vector : section("addresses", 45)) {
    const std::string checksummed = text(vector);
    const Address20 address = vectors::address(vector);
    CHECK(to_checksum(address) == checksummed);
    CHECK(parse_address(checksummed).value() == address);

    std::string upper = checksummed;
    for (char& c : upper) c = static_cast<char>(c == 'x' ? c : std::toupper(c));
    CHECK(parse_address(upper).value() == address);
    CHECK(parse_address(address.hex()).value() == address);
  }
}

TEST_CASE("address: the zero address is read; whether it may be paid is not the codec's matter") {
  CHECK(parse_address("0x0000000000000000000000000000000000000000").value().is_zero());
}

TEST_CASE("address: a wrong checksum or shape is refused for its own reason") {
  for (const auto& vector : section("bad_addresses", 11)) {
    const std::string address = text(vector.at("text"));
    CAPTURE(address);
    const auto parsed = parse_address(address);
    CHECK(code_name(parsed) == text(vector.at("code")));
  }
}

TEST_CASE("address: changing the case of any one letter of a mixed address is noticed") {
  for (const auto& vector : section("addresses", 45)) {
    const std::string good = text(vector);
    for (std::size_t i = 2; i < good.size(); ++i) {
      if (std::isdigit(good[i]) != 0) continue;
      std::string changed = good;
      changed[i] =
          static_cast<char>(std::islower(good[i]) ? std::toupper(good[i]) : std::tolower(good[i]));
      const auto parsed = parse_address(changed);
      const bool one_case = changed.substr(2).find_first_of("abcdef") == std::string::npos ||
                            changed.substr(2).find_first_of("ABCDEF") == std::string::npos;
      if (one_case) continue;  // carries no checksum at all
      CHECK(code_name(parsed) == "bad_checksum");
      CHECK(parsed.error().detail.find(changed) != std::string::npos);
    }
  }
}

TEST_CASE("address: two that end alike are written as themselves, in turns") {
  Address20 one;
  Address20 other;
  one.value.fill(0xab);
  other.value.fill(0xab);
  other.value[0] = 0xcd;
  const std::string first = to_checksum(one);
  CHECK(to_checksum(other) != first);
  CHECK(to_checksum(one) == first);
}

TEST_CASE("address: a refused text is not echoed, whatever was in it") {
  const auto parsed = parse_address("\x1b[31mhunter2\n");
  REQUIRE_FALSE(parsed.has_value());
  CHECK(parsed.error().detail ==
        "an address is 0x and 40 hex digits, 42 characters; this text has 13");
  CHECK(parsed.error().code.message() == "not an address");
}

}  // namespace
}  // namespace holdfast::evm

#include <fstream>
#include <optional>
#include <sstream>
#include <type_traits>
#include <vector>

#include "evm/codec_vectors.hpp"

namespace holdfast::evm {
namespace {

using vectors::code_name;
using vectors::section;
using vectors::text;

static_assert(!std::is_copy_constructible_v<SecretKey> && !std::is_copy_assignable_v<SecretKey>);

TEST_CASE("secp: every vector's key has the account that viem and ethers give it") {
  for (const auto& vector : section("keys", 43)) {
    const SecretKey key = vectors::key(vector.at("key"));
    CHECK(to_checksum(address_of(key)) == text(vector.at("address")));
  }
}

TEST_CASE("secp: signing gives the bytes that viem and ethers give, again and again") {
  for (const auto& vector : section("recovered", 40)) {
    const SecretKey key = vectors::key(vector.at("key"));
    const Hash32 digest = vectors::hash32(vector.at("digest"));
    const Signature signature = sign(digest, key);
    CHECK(to_0x(signature_bytes(signature)) == text(vector.at("signature")));
    CHECK(sign(digest, key) == signature);
    CHECK(check_signature(signature).has_value());
  }
}

TEST_CASE("secp: blinding the context leaves every signature as it was") {
  const auto& vector = section("recovered", 40)[5];
  const SecretKey key = vectors::key(vector.at("key"));
  std::array<Byte, 32> entropy{};
  entropy.fill(0x5a);
  blind_signing(entropy);
  const Signature signature = sign(vectors::hash32(vector.at("digest")), key);
  CHECK(to_0x(signature_bytes(signature)) == text(vector.at("signature")));
}

TEST_CASE("secp: recovery names the signer, with v as 27 and 28 or as 0 and 1") {
  for (const auto& vector : section("recovered", 40)) {
    Bytes bytes = vectors::bytes(vector.at("signature"));
    const Hash32 digest = vectors::hash32(vector.at("digest"));
    const Signature signature = parse_signature(bytes).value();
    CHECK(to_checksum(recover(digest, signature).value()) == text(vector.at("signer")));

    bytes[64] = static_cast<Byte>(bytes[64] - 27);
    CHECK(parse_signature(bytes).value() == signature);

    Signature other = signature;
    other.y_parity ^= 1;
    const auto someone = recover(digest, other);
    CHECK((!someone || to_checksum(*someone) != text(vector.at("signer"))));
  }
}

TEST_CASE("secp: what is recovered again is what was recovered, whoever came in between") {
  const SecretKey one = vectors::key(section("keys", 43)[3].at("key"));
  const SecretKey other = vectors::key(section("keys", 43)[4].at("key"));
  Hash32 digest;
  Hash32 beside = digest;  // kept in the same place
  beside.value[31] = 1;
  for (int round = 0; round < 2; ++round) {
    CHECK(recover(digest, sign(digest, one)).value() == address_of(one));
    CHECK(recover(digest, sign(digest, other)).value() == address_of(other));
    CHECK(recover(beside, sign(beside, other)).value() == address_of(other));
    const auto someone = recover(digest, sign(beside, other));
    CHECK((!someone || *someone != address_of(other)));
  }
}

TEST_CASE("secp: a signature out of range, malleable or of nobody is refused by both doors") {
  for (const auto& vector : section("bad_signatures", 17)) {
    CAPTURE(text(vector.at("why")));
    const Bytes bytes = vectors::bytes(vector.at("signature"));
    const Hash32 digest = vectors::hash32(vector.at("digest"));
    const auto parsed = parse_signature(bytes);
    const auto result = parsed ? recover(digest, *parsed) : Result<Address20>(parsed.error());
    CHECK(code_name(result) == text(vector.at("code")));

    // Fields may also come in one by one, past parse_signature: recovery checks them again.
    if (bytes.size() != 65 || (bytes[64] != 27 && bytes[64] != 28)) continue;
    const Signature fields{*U256::from_big_endian(ByteView(bytes).first(32)),
                           *U256::from_big_endian(ByteView(bytes).subspan(32, 32)),
                           static_cast<std::uint8_t>(bytes[64] - 27)};
    CHECK(code_name(recover(digest, fields)) == text(vector.at("code")));
  }
}

TEST_CASE("secp: a parity over 1 is refused though a library would take 2 and 3") {
  const auto& vector = section("recovered", 40)[1];
  Signature signature = parse_signature(vectors::bytes(vector.at("signature"))).value();
  signature.y_parity = 2;
  CHECK(code_name(recover(vectors::hash32(vector.at("digest")), signature)) == "bad_signature");
}

TEST_CASE("secp: the refusal of a signature says what it should have been") {
  CHECK(parse_signature(Bytes(64)).error().detail ==
        "a signature has 65 bytes (r, s and v); this has 64");
  Bytes wrong_v(65, 1);
  wrong_v[64] = 29;
  CHECK(parse_signature(wrong_v).error().detail ==
        "the signature's v must be 27 or 28 (or 0 or 1); this is 29");
}

TEST_CASE("secp: what is no key is refused, and nothing of it is in the sentence") {
  const std::string zero(64, '0');
  const std::string over = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
  for (const std::string& bad : {zero, over, std::string(64, 'f'), std::string("0x12"),
                                 std::string(63, '1'), std::string(64, 'z'), std::string()}) {
    const auto key = SecretKey::parse(bad);
    REQUIRE(code_name(key) == "bad_secret_key");
    CHECK((bad.empty() || key.error().detail.find(bad) == std::string::npos));
  }
  CHECK(SecretKey::from(Bytes(31, 1)).error().detail == "a secret key has 32 bytes; this has 31");
  CHECK(SecretKey::parse("0x" + std::string(63, '0') + "1").has_value());
}

TEST_CASE("secp: a key survives a move, and every key of a row of them signs as itself") {
  std::vector<SecretKey> keys;
  for (const auto& vector : section("keys", 43)) keys.push_back(vectors::key(vector.at("key")));
  SecretKey taken = std::move(keys[3]);
  keys[3] = std::move(taken);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    CHECK(to_checksum(address_of(keys[i])) == text(section("keys", 43)[i].at("address")));
  }
}

/// How many kilobytes of the process stay out of a core dump ("dd" of /proc/self/smaps); empty on a
/// system that does not tell.
std::optional<long> undumped_kb() {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  long size = 0;
  long sum = 0;
  bool told = false;
  while (std::getline(maps, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "Size:") words >> size;
    if (word != "VmFlags:") continue;
    told = true;
    while (words >> word) sum += word == "dd" ? size : 0;
  }
  return told ? std::optional(sum) : std::nullopt;
}

TEST_CASE("secp: a key stays out of core dumps, and its page goes with it") {
  const auto before = undumped_kb();
  if (!before) {
    MESSAGE("this system does not tell which memory stays out of a core dump");
    return;
  }
  {
    std::vector<SecretKey> keys;
    for (const auto& vector : section("keys", 43)) keys.push_back(vectors::key(vector.at("key")));
    CHECK(undumped_kb().value() == *before + 4 * static_cast<long>(keys.size()));
  }
  CHECK(undumped_kb().value() == *before);
}

}  // namespace
}  // namespace holdfast::evm

#include <doctest/doctest.h>

#include <holdfast/base/sha256.hpp>

namespace holdfast {

// FIPS 180-4, the examples of its first pages.
TEST_CASE("sha256: the published examples") {
  CHECK(to_hex(sha256(as_bytes("abc"))) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(to_hex(sha256({})) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

// Computed apart from this code with Python's hashlib: each field behind its length as eight
// big-endian bytes, a number as eight big-endian bytes behind the length eight.
TEST_CASE("sha256: fields are hashed length-prefixed, as pinned by another implementation") {
  CHECK(to_hex(FieldHash("tag")
                   .add(std::string_view("ab"))
                   .add(std::string_view(""))
                   .add(std::uint64_t{7})
                   .finish()) ==
        "986f370054579c40c5a1572ee9766c91f0e07e8a1ad6bcda15735d24ed624426");
  CHECK(to_hex(FieldHash("").finish()) ==
        "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc");
}

TEST_CASE("sha256: fields cut elsewhere, or one more of them, give another digest") {
  const auto hash = [](std::string_view first, std::string_view second) {
    return FieldHash("t").add(first).add(second).finish();
  };
  CHECK(hash("ab", "c") != hash("a", "bc"));
  CHECK(hash("ab", "") != hash("", "ab"));
  CHECK(hash("ab", "") != FieldHash("t").add(std::string_view("ab")).finish());
  CHECK(FieldHash("ta").add(std::string_view("g")).finish() !=
        FieldHash("t").add(std::string_view("ag")).finish());
}

TEST_CASE("sha256: finishing does not spend the fields collected so far") {
  FieldHash hash("t");
  hash.add(std::string_view("a"));
  const Digest first = hash.finish();
  CHECK(hash.finish() == first);
  CHECK(hash.add(std::string_view("b")).finish() != first);
}

}  // namespace holdfast

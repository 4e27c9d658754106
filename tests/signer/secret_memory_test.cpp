// Where a key is in this process's memory: nowhere but in pages kept out of swap and core files.
#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <string.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <doctest/doctest.h>

#include "key_folder.hpp"
#include "signer/local_signer.hpp"
#include "signer/secret_page.hpp"

namespace holdfast::signer {
namespace {

struct Region {
  std::uintptr_t from = 0;
  std::uintptr_t to = 0;
  std::string flags;  // VmFlags of /proc/…/smaps: "dd" is "not in a core", "lo" is "locked"
  bool has(const std::string& flag) const { return flags.find(" " + flag) != flags.npos; }
};

/// Every writable region of a size that is not a sanitizer's shadow.
std::vector<Region> writable_regions() {
  std::vector<Region> out;
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool wanted = false;
  while (std::getline(maps, line)) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    char dash = 0;
    std::string rights;
    std::istringstream words(line);
    if (words >> std::hex >> from >> dash >> to >> rights && dash == '-') {
      wanted = rights.starts_with("rw") && to - from <= (std::uintptr_t{64} << 20);
      if (wanted) out.push_back({from, to, ""});
    } else if (wanted && line.starts_with("VmFlags:")) {
      out.back().flags = line.substr(8);
    }
  }
  return out;
}

// Sanitizers make mlock do nothing.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool can_lock = false;
#else
constexpr bool can_lock = true;
#endif

constexpr Byte mask = 0x5a;  // so that what is looked for is not found in the looking glass

/// Looks straight at the memory: a copy would itself be found.
__attribute__((no_sanitize("address", "thread", "undefined"))) bool found_in(const Region& region,
                                                                             const Byte* masked,
                                                                             std::size_t size) {
  const auto* const memory = reinterpret_cast<const volatile Byte*>(region.from);
  const std::size_t length = region.to - region.from;
  for (std::size_t at = 0; at + size <= length; ++at) {
    std::size_t same = 0;
    while (same < size && (memory[at + same] ^ mask) == masked[same]) ++same;
    if (same == size) return true;
  }
  return false;
}

/// A bit of each place that holds these bytes, the first `most` of them, changes: as in memory that
/// fails.
__attribute__((no_sanitize("address", "thread", "undefined"))) int flip_a_bit(const Region& region,
                                                                              const Byte* masked,
                                                                              std::size_t size,
                                                                              int most) {
  auto* const memory = reinterpret_cast<volatile Byte*>(region.from);
  const std::size_t length = region.to - region.from;
  int flipped = 0;
  for (std::size_t at = 0; at + size <= length && flipped < most; ++at) {
    std::size_t same = 0;
    while (same < size && (memory[at + same] ^ mask) == masked[same]) ++same;
    if (same < size) continue;
    memory[at + size - 1] = static_cast<Byte>(memory[at + size - 1] ^ 1U);
    ++flipped;
  }
  return flipped;
}

struct Masked {
  std::array<Byte, 32> raw{};
  std::array<Byte, 64> hex{};
};

/// A key file whose text this program never holds unmasked, once this function has returned.
Masked make_key_file(const tests::KeyFolder& folder, std::string& path) {
  std::array<char, 66> text{'0', 'x'};
  Masked out;
  for (std::size_t at = 0; at < 64; ++at) {
    text[2 + at] = "1b7e5c90d3a8f246"[(at * 7 + at / 5) % 16];
    out.hex[at] = static_cast<Byte>(static_cast<Byte>(text[2 + at]) ^ mask);
  }
  from_hex_into({text.data(), text.size()}, out.raw);
  for (Byte& byte : out.raw) byte ^= mask;
  path = folder.file("key", {text.data(), text.size()});
  explicit_bzero(text.data(), text.size());
  return out;
}

}  // namespace

TEST_CASE("signer memory: a key is only where no core file and no swap will have it") {
  const tests::KeyFolder folder;
  std::string path;
  const Masked key = make_key_file(folder, path);
  LocalSigner signer([](ByteView point) { return domain::Address{to_0x(point)}; });
  REQUIRE(signer.add_key_file(path).has_value());
  int safe = 0;
  for (const Region& region : writable_regions()) {
    CAPTURE(region.flags);
    CHECK_FALSE(found_in(region, key.hex.data(), key.hex.size()));
    if (!found_in(region, key.raw.data(), key.raw.size())) continue;
    CHECK(region.has("dd"));
    CHECK((region.has("lo") || !can_lock));
    ++safe;
  }
  CHECK(safe == 1);
}

TEST_CASE("signer memory: nothing of a key is left when its signer has gone") {
  const tests::KeyFolder folder;
  std::string path;
  const Masked key = make_key_file(folder, path);
  {
    LocalSigner signer([](ByteView point) { return domain::Address{to_0x(point)}; });
    REQUIRE(signer.add_key_file(path).has_value());
  }
  for (const Region& region : writable_regions()) {
    CHECK_FALSE(found_in(region, key.hex.data(), key.hex.size()));
    CHECK_FALSE(found_in(region, key.raw.data(), key.raw.size()));
  }
}

TEST_CASE("signer memory: a key that changed where it lies signs nothing") {
  const tests::KeyFolder folder;
  std::string path;
  const Masked key = make_key_file(folder, path);
  LocalSigner signer([](ByteView point) { return domain::Address{to_0x(point)}; });
  const auto account = signer.add_key_file(path);
  REQUIRE(account.has_value());
  const auto sign = [&] {
    boost::asio::io_context context;
    ports::Outcome<Bytes> out;
    boost::asio::co_spawn(
        context, signer.sign(*account, sha256(as_bytes("x"))),
        [&](std::exception_ptr, ports::Outcome<Bytes> outcome) { out = std::move(outcome); });
    context.run();
    return out;
  };
  REQUIRE(sign().ok() != nullptr);
  int flipped = 0;
  for (const Region& region : writable_regions()) {
    flipped += flip_a_bit(region, key.raw.data(), key.raw.size(), 1 - flipped);
  }
  REQUIRE(flipped == 1);
  const auto refused = sign();
  REQUIRE(refused.unknown() != nullptr);
  CHECK(refused.unknown()->reason.find("does not sign the same twice") != std::string::npos);
}

TEST_CASE("signer memory: a page is moved, not copied, and wiped on demand") {
  SecretPage first;
  first.bytes()[0] = 7;
  const Byte* const at = first.bytes().data();
  SecretPage second = std::move(first);
  CHECK(second.bytes().data() == at);
  CHECK(second.bytes()[0] == 7);
  SecretPage third;
  third = std::move(second);
  CHECK(third.bytes().data() == at);
  third.wipe();
  CHECK(third.bytes()[0] == 0);
}

}  // namespace holdfast::signer

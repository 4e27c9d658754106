#include "signer/local_signer.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <secp256k1.h>
#include <secp256k1_recovery.h>
#include <sys/stat.h>
#include <unistd.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <doctest/doctest.h>

#include <holdfast/base/log.hpp>
#include "key_folder.hpp"

namespace holdfast::signer {
namespace {

using tests::KeyFolder;

constexpr const char* one = "0x0000000000000000000000000000000000000000000000000000000000000001";
// anvil's first account, known to everybody.
constexpr const char* known = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
constexpr const char* order = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
constexpr const char* below = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140";

/// The wing knows no chain: here an account is named by its whole public key.
domain::Address by_public_key(ByteView key) { return {to_0x(key)}; }

ports::Outcome<Bytes> sign(LocalSigner& signer, const domain::Address& account,
                           const Digest& digest) {
  boost::asio::io_context context;
  ports::Outcome<Bytes> out;
  boost::asio::co_spawn(context, signer.sign(account, digest),
                        [&](std::exception_ptr failure, ports::Outcome<Bytes> outcome) {
                          REQUIRE_FALSE(failure);
                          out = std::move(outcome);
                        });
  context.run();
  return out;
}

/// The public key that made this signature, as text; empty when none did.
std::string recovered(const Bytes& signature, const Digest& digest) {
  secp256k1_context* const context = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
  secp256k1_ecdsa_recoverable_signature parsed;
  secp256k1_pubkey key;
  std::string out;
  if (secp256k1_ecdsa_recoverable_signature_parse_compact(context, &parsed, signature.data(),
                                                          signature[64]) == 1 &&
      secp256k1_ecdsa_recover(context, &key, &parsed, digest.data()) == 1) {
    Bytes point(65);
    std::size_t size = point.size();
    secp256k1_ec_pubkey_serialize(context, point.data(), &size, &key, SECP256K1_EC_UNCOMPRESSED);
    out = to_0x(point);
  }
  secp256k1_context_destroy(context);
  return out;
}

/// Neither the key nor a part of it that would help to guess it.
void check_says_nothing(const std::string& text, std::string_view key) {
  CAPTURE(text);
  for (std::size_t at = 0; at + 8 <= key.size(); ++at) {
    const std::string part(key.substr(at, 8));
    if (part.find_first_not_of("0xf") == part.npos) continue;
    CHECK(text.find(part) == std::string::npos);
  }
}

Error refused(const Result<domain::Address>& result, SignerError code) {
  REQUIRE(result.has_error());
  CHECK(result.error().code == code);
  return result.error();
}

}  // namespace

TEST_CASE("signer: a key file gives its account, and signs for it in the low-s form") {
  const KeyFolder folder;
  LocalSigner signer(by_public_key);
  const auto account = signer.add_key_file(folder.file("key", known));
  REQUIRE(account.has_value());
  CHECK(signer.accounts() == std::vector<domain::Address>{*account});
  CHECK(signer.local());
  for (Byte round = 0; round < 50; ++round) {
    Digest digest = sha256(ByteView(&round, 1));
    const auto outcome = sign(signer, *account, digest);
    REQUIRE(outcome.ok() != nullptr);
    const Bytes& signature = *outcome.ok();
    REQUIRE(signature.size() == 65);
    CHECK(signature[64] <= 1);
    CHECK(recovered(signature, digest) == account->value);
    // s is at most half the order, whose first byte is 0x7f.
    CHECK(signature[32] <= 0x7f);
    const auto again = sign(signer, *account, digest);
    CHECK(*again.ok() == signature);
  }
}

TEST_CASE("signer: signatures are those of RFC 6979, blinded or not") {
  const KeyFolder folder;
  LocalSigner signer(by_public_key);
  const auto account = signer.add_key_file(folder.file("key", one));
  REQUIRE(account.has_value());
  const Digest digest = sha256(as_bytes("Satoshi Nakamoto"));
  // A published vector for the key 1 over this text.
  const std::string expected =
      "934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8"
      "2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5";
  CHECK(to_hex(ByteView(*sign(signer, *account, digest).ok()).first(64)) == expected);
  signer.blind(sha256(as_bytes("some entropy")));
  CHECK(to_hex(ByteView(*sign(signer, *account, digest).ok()).first(64)) == expected);
}

TEST_CASE("signer: several keys, each for its own account, and none for a stranger") {
  const KeyFolder folder;
  LocalSigner signer(by_public_key);
  const auto first = signer.add_key_file(folder.file("a", one));
  const auto second = signer.add_key_file(folder.file("b", below));
  const auto again = signer.add_key_file(folder.file("c", one));
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  REQUIRE(again.has_value());
  CHECK(*again == *first);  // several chains may name one key
  CHECK(signer.accounts() == std::vector<domain::Address>{*first, *second});
  const Digest digest = sha256(as_bytes("x"));
  CHECK(recovered(*sign(signer, *first, digest).ok(), digest) == first->value);
  CHECK(recovered(*sign(signer, *second, digest).ok(), digest) == second->value);
  const auto stranger = sign(signer, {"0x00"}, digest);
  REQUIRE(stranger.refused() != nullptr);
  CHECK(stranger.refused()->kind == ports::RefusalKind::other);
}

TEST_CASE("signer: blanks and line ends around a key, and a missing 0x, do no harm") {
  const KeyFolder folder;
  for (const std::string& text :
       {std::string(known), std::string(known) + "\n", " \t" + std::string(known) + "\r\n",
        std::string(known).substr(2) + "\n"}) {
    LocalSigner signer(by_public_key);
    CHECK(signer.add_key_file(folder.file("key", text)).has_value());
  }
}

TEST_CASE("signer: what is not one key is refused, and never repeated") {
  const KeyFolder folder;
  const std::string key(known);
  for (const std::string& text :
       {std::string(), std::string("\n"), key.substr(0, 64), key + "ab", key + " " + key,
        key + "\n" + key + "\n", "0x" + key, key.substr(0, 40) + "zz" + key.substr(42),
        std::string("{\"crypto\":{}}"), key + std::string(300, ' '), std::string(100'000, 'a'),
        std::string(order), std::string("0x") + std::string(64, '0'),
        std::string("0x") + std::string(64, 'f')}) {
    CAPTURE(text.size());
    LocalSigner signer(by_public_key);
    const std::string path = folder.file("key", text);
    const Error error = refused(signer.add_key_file(path), SignerError::bad_key);
    CHECK(error.detail.starts_with("the key file " + path + " "));
    check_says_nothing(error.detail, known);
    CHECK(signer.accounts().empty());
  }
  LocalSigner signer(by_public_key);
  CHECK(signer.add_key_file(folder.file("key", below)).has_value());
}

TEST_CASE("signer: a file that others may use is refused, whatever the bit") {
  const KeyFolder folder;
  const std::string path = folder.file("key", known);
  for (const mode_t bit : {0001, 0002, 0004, 0010, 0020, 0040, 0100, 01000, 02000, 04000}) {
    CAPTURE(bit);
    REQUIRE(::chmod(path.c_str(), 0600 | bit) == 0);
    LocalSigner signer(by_public_key);
    const Error error = refused(signer.add_key_file(path), SignerError::bad_key_file);
    CHECK(error.detail.find("chmod 600") != std::string::npos);
    check_says_nothing(error.detail, known);
  }
  for (const mode_t mode : {0600, 0400}) {
    CAPTURE(mode);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    LocalSigner signer(by_public_key);
    CHECK(signer.add_key_file(path).has_value());
  }
}

TEST_CASE("signer: only a regular file of our own is a key file") {
  const KeyFolder folder;
  const std::string path = folder.file("key", known);
  const std::string link = folder.path("link");
  REQUIRE(::symlink(path.c_str(), link.c_str()) == 0);
  const std::string pipe = folder.path("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string directory = folder.path("directory");
  REQUIRE(::mkdir(directory.c_str(), 0700) == 0);
  LocalSigner signer(by_public_key);
  const auto why = [&](const std::string& name) {
    return refused(signer.add_key_file(name), SignerError::bad_key_file).detail;
  };
  CHECK(why(link) == "the key file " + link + " is a symbolic link; name the file it leads to");
  CHECK(why(pipe) == "the key file " + pipe + " is not a regular file");
  CHECK(why(directory) == "the key file " + directory + " is not a regular file");
  CHECK(why("/dev/null") == "the key file /dev/null is not a regular file");
  CHECK(why(folder.path("none")).find("No such file") != std::string::npos);
  CHECK(signer.accounts().empty());
}

TEST_CASE("signer: a file of another user is refused" * doctest::skip(::geteuid() != 0)) {
  const KeyFolder folder;  // only root can give a file away
  const std::string path = folder.file("key", known);
  REQUIRE(::chown(path.c_str(), 12345, 12345) == 0);
  LocalSigner signer(by_public_key);
  const Error error = refused(signer.add_key_file(path), SignerError::bad_key_file);
  CHECK(error.detail == "the key file " + path + " belongs to another user");
}

TEST_CASE("signer: an environment variable is read once and gone afterwards") {
  ::setenv("HOLDFAST_TEST_KEY", known, 1);
  const char* const text = std::getenv("HOLDFAST_TEST_KEY");
  LocalSigner signer(by_public_key);
  const auto account = signer.add_key_variable("HOLDFAST_TEST_KEY");
  REQUIRE(account.has_value());
  CHECK(std::getenv("HOLDFAST_TEST_KEY") == nullptr);
  // The text itself was wiped where it stood: that is what a core or /proc/…/environ would show.
  CHECK(std::string_view(text, std::strlen(known)) == std::string(std::strlen(known), '\0'));
  const auto again = signer.add_key_variable("HOLDFAST_TEST_KEY");
  REQUIRE(again.has_value());
  CHECK(*again == *account);
  CHECK(signer.accounts().size() == 1);
}

TEST_CASE("signer: a bad variable is named, wiped, and not repeated") {
  LocalSigner signer(by_public_key);
  const Error missing =
      refused(signer.add_key_variable("HOLDFAST_TEST_NONE"), SignerError::bad_variable);
  CHECK(missing.detail == "the environment variable HOLDFAST_TEST_NONE is not set");
  for (const std::string& value : {std::string(known).substr(0, 60), std::string(1000, 'a'),
                                   std::string(order), std::string()}) {
    ::setenv("HOLDFAST_TEST_KEY", value.c_str(), 1);
    const Error error = refused(signer.add_key_variable("HOLDFAST_TEST_KEY"), SignerError::bad_key);
    CHECK(error.detail.starts_with("the environment variable HOLDFAST_TEST_KEY "));
    check_says_nothing(error.detail, known);
    CHECK(std::getenv("HOLDFAST_TEST_KEY") == nullptr);
  }
}

}  // namespace holdfast::signer

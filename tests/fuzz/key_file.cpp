// Bytes as a key file, and as the same key in an environment variable. A key that is taken signs as
// its account; of one that is refused, no byte is told.
#include <array>
#include <cstdlib>
#include <fstream>
#include <set>

#include <sys/stat.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "evm/account_name.hpp"
#include "evm/secp.hpp"
#include "fuzz/input.hpp"
#include "signer/local_signer.hpp"
#include "support/temp_folder.hpp"

namespace holdfast {
namespace {

using signer::LocalSigner;

const char* const variable = "HOLDFAST_FUZZ_KEY";

/// Word for word, and so without anything of the key.
bool is_known_sentence(const std::string& detail, const std::string& from) {
  const std::set<std::string> known{
      from + " is longer than 256 bytes; it should hold one key",
      from + " does not hold one key of 32 bytes: 0x and 64 hex digits",
      from + " holds a number that is no key: zero, or not below the curve's order"};
  return known.contains(detail);
}

Bytes sign(LocalSigner& signer, const domain::Address& account, const Digest& digest) {
  boost::asio::io_context context;
  Bytes out;
  boost::asio::co_spawn(context, signer.sign(account, digest),
                        [&](const std::exception_ptr& thrown, ports::Outcome<Bytes> signature) {
                          ensure(!thrown && signature.ok() != nullptr, "an account's key signs");
                          out = *signature.ok();
                        });
  context.run();
  return out;
}

void check_signs(LocalSigner& signer, const domain::Address& account) {
  const Digest digest = sha256(as_bytes("what is signed"));
  const auto signature = evm::parse_signature(sign(signer, account, digest));
  ensure(signature.has_value(), "a signature is in its one form");
  const auto who = evm::recover({digest}, *signature);
  ensure(who && evm::to_checksum(*who) == account.value, "a signature is the account's");
}

/// In memory of ours, which setenv would take anew each time and never give back.
bool set_variable(std::string_view text) {
  static std::array<char, 8'192> place{};
  const std::string all = std::string(variable) + "=" + std::string(text);
  if (all.size() >= place.size()) return false;
  place.fill('\0');
  std::ranges::copy(all, place.begin());
  return putenv(place.data()) == 0;  // NOLINT(concurrency-mt-unsafe): there is one thread
}

void check_file(const test::TempFolder& folder, std::string_view text) {
  const std::string path = folder / "key";
  std::filesystem::remove(path);  // a file that is written anew may be written to the disk at once
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  ensure(chmod(path.c_str(), 0600) == 0, "the file is ours alone");

  LocalSigner signer(evm::account_of_public_key);
  const auto account = signer.add_key_file(path);
  if (account) {
    check_signs(signer, *account);
  } else {
    ensure(is_known_sentence(account.error().detail, "the key file " + path),
           "a refusal tells nothing of the file");
  }
  if (text.find('\0') != text.npos || !set_variable(text)) return;

  LocalSigner other(evm::account_of_public_key);
  const auto again = other.add_key_variable(variable);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
  ensure(std::getenv(variable) == nullptr, "a variable that was read is gone");
  ensure(again.has_value() == account.has_value() && (!again || *again == *account),
         "a key is the same from a variable");
  ensure(again || is_known_sentence(again.error().detail,
                                    std::string("the environment variable ") + variable),
         "a refusal tells nothing of the variable");
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const holdfast::test::TempFolder folder;
  holdfast::check_file(folder, holdfast::as_text({data, size}));
  return 0;
}

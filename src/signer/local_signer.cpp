#include "signer/local_signer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <secp256k1.h>
#include <secp256k1_recovery.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <boost/system/error_category.hpp>

#include <holdfast/base/ensure.hpp>
#include <holdfast/base/log.hpp>

#include "signer/secret_page.hpp"

namespace holdfast::signer {
namespace {

constexpr std::size_t key_size = 32;
constexpr std::size_t longest_text = 256;
/// Where the second copy of a key is in its page: not beside the first, nor in its cache line.
constexpr std::size_t second_copy = 2048;

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "holdfast.signer"; }
  std::string message(int value) const override {
    switch (static_cast<SignerError>(value)) {
      case SignerError::bad_key_file: return "not a key file to be trusted";
      case SignerError::bad_variable: return "no such environment variable";
      case SignerError::bad_key: return "not a secret key";
    }
    return "an unknown signer error";
  }
};

struct File {
  int number = -1;
  ~File() {
    if (number >= 0) ::close(number);
  }
};

std::string words_of(int error_number) {
  return std::error_code(error_number, std::generic_category()).message();
}

/// Why this open file is not to be trusted with a key; empty when it is.
std::string fault_of(const struct stat& file) {
  if (!S_ISREG(file.st_mode)) return "is not a regular file";
  if (file.st_uid != ::geteuid()) return "belongs to another user";
  if ((file.st_mode & 07777U & ~0600U) != 0) {
    return "may be used by others; make it readable by its owner only (chmod 600)";
  }
  return {};
}

std::string_view without_blanks(std::string_view text) {
  static constexpr std::string_view blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Fills `page` from the file; the count of bytes, at most one more than a text may have.
Result<std::size_t> read_key_file(const std::string& path, SecretPage& page) {
  const auto bad = [&](const std::string& why) {
    return refuse(SignerError::bad_key_file, "the key file " + path + " " + why);
  };
  // Not blocking: a named pipe would wait for a writer before it can be refused.
  const File file{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (file.number < 0) {
    return bad(errno == ELOOP ? "is a symbolic link; name the file it leads to"
                              : "cannot be opened: " + words_of(errno));
  }
  struct stat facts{};
  if (::fstat(file.number, &facts) != 0) return bad("cannot be examined: " + words_of(errno));
  if (const std::string fault = fault_of(facts); !fault.empty()) return bad(fault);
  std::size_t count = 0;
  while (count <= longest_text) {
    const auto got = ::read(file.number, page.bytes().data() + count, longest_text + 1 - count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return bad("cannot be read: " + words_of(errno));
    if (got == 0) break;
    count += static_cast<std::size_t>(got);
  }
  return count;
}

}  // namespace

boost::system::error_code make_error_code(SignerError error) {
  static const Category category;
  return {static_cast<int>(error), category};
}

struct LocalSigner::Keys {
  struct Entry {
    domain::Address account;
    SecretPage page;  // the key twice, at its beginning and at `second_copy`
  };

  explicit Keys(NameAccount name)
      : name_account(std::move(name)), context(secp256k1_context_create(SECP256K1_CONTEXT_NONE)) {}
  ~Keys() { secp256k1_context_destroy(context); }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  Result<domain::Address> add(std::string_view text, const std::string& from);
  /// r, s, y-parity, with the key at this place of the page; empty when that is no key any more.
  Bytes signature(const Entry& entry, std::size_t copy, const Digest& digest) const;
  std::optional<domain::Address> account_of(const SecretPage& page) const;
  const Entry* find(const domain::Address& account) const {
    const auto at = std::ranges::find(entries, account, &Entry::account);
    return at == entries.end() ? nullptr : &*at;
  }

  NameAccount name_account;
  secp256k1_context* context;
  std::vector<Entry> entries;
  std::map<std::string, domain::Address> variables;  // those that were read, and are gone since
};

/// `from` says where the text came from; nothing of the text itself goes into an error.
Result<domain::Address> LocalSigner::Keys::add(std::string_view text, const std::string& from) {
  if (text.size() > longest_text) {
    return refuse(SignerError::bad_key, from + " is longer than 256 bytes; it should hold one key");
  }
  SecretPage page;
  if (!from_hex_into(without_blanks(text), page.bytes().first(key_size))) {
    return refuse(SignerError::bad_key,
                  from + " does not hold one key of 32 bytes: 0x and 64 hex digits");
  }
  const std::optional<domain::Address> account = account_of(page);
  if (!account) {
    return refuse(SignerError::bad_key,
                  from + " holds a number that is no key: zero, or not below the curve's order");
  }
  if (find(*account) != nullptr) return *account;
  std::ranges::copy(page.bytes().first(key_size), page.bytes().subspan(second_copy).begin());
  entries.push_back({*account, std::move(page)});
  return *account;
}

/// Empty when the page holds no key of the curve.
std::optional<domain::Address> LocalSigner::Keys::account_of(const SecretPage& page) const {
  const Byte* const key = page.bytes().data();
  secp256k1_pubkey made;
  if (secp256k1_ec_seckey_verify(context, key) != 1 ||
      secp256k1_ec_pubkey_create(context, &made, key) != 1) {
    return std::nullopt;
  }
  std::array<Byte, 65> point{};
  std::size_t size = point.size();
  secp256k1_ec_pubkey_serialize(context, point.data(), &size, &made, SECP256K1_EC_UNCOMPRESSED);
  return name_account(point);
}

LocalSigner::LocalSigner(NameAccount name_account)
    : keys_(std::make_unique<Keys>(std::move(name_account))) {}
LocalSigner::~LocalSigner() = default;

Result<domain::Address> LocalSigner::add_key_file(const std::string& path) {
  SecretPage text;
  const auto count = read_key_file(path, text);
  if (!count) return count.error();
  return keys_->add(as_text(text.bytes().first(*count)), "the key file " + path);
}

Result<domain::Address> LocalSigner::add_key_variable(const std::string& name) {
  if (const auto read = keys_->variables.find(name); read != keys_->variables.end()) {
    return read->second;
  }
  // The contract says: before other threads start.
  char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  if (value == nullptr) {
    return refuse(SignerError::bad_variable, "the environment variable " + name + " is not set");
  }
  const std::size_t size = std::strlen(value);
  auto added = keys_->add({value, size}, "the environment variable " + name);
  explicit_bzero(value, size);
  ::unsetenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  if (added) keys_->variables.emplace(name, *added);
  return added;
}

void LocalSigner::blind(const std::array<Byte, 32>& entropy) {
  const int ok = secp256k1_context_randomize(keys_->context, entropy.data());
  ensure(ok == 1, "the signing context takes blinding");
}

std::vector<domain::Address> LocalSigner::accounts() const {
  std::vector<domain::Address> out;
  for (const auto& entry : keys_->entries) out.push_back(entry.account);
  return out;
}

Bytes LocalSigner::Keys::signature(const Entry& entry, std::size_t copy,
                                   const Digest& digest) const {
  secp256k1_ecdsa_recoverable_signature made;
  // The library's own nonce is RFC 6979's, and its signatures are in the low-s form.
  const int ok = secp256k1_ecdsa_sign_recoverable(
      context, &made, digest.data(), entry.page.bytes().subspan(copy).data(), nullptr, nullptr);
  if (ok != 1) return {};
  Bytes out(65);
  int recovery_id = 0;
  secp256k1_ecdsa_recoverable_signature_serialize_compact(context, out.data(), &recovery_id, &made);
  out[64] = static_cast<Byte>(recovery_id);
  return out;
}

// That the key is this account's was shown when it was added. That it still is that key, and that
// nothing went wrong in between, is shown by signing twice, from two copies: the signature is a
// function of key and digest. A fault that comes twice alike is not found; recovering the signer
// would find it, and takes twice as long.
boost::asio::awaitable<ports::Outcome<Bytes>> LocalSigner::sign(domain::Address account,
                                                                Digest digest) {
  const auto* entry = keys_->find(account);
  if (entry == nullptr) {
    co_return ports::Refused{ports::RefusalKind::other, "no key here signs for this account"};
  }
  Bytes out = keys_->signature(*entry, 0, digest);
  if (out.empty() || out != keys_->signature(*entry, second_copy, digest)) {
    log::alarm("signer_fault", {{"account", account.value}});
    co_return ports::Unknown{"the key of " + account.value +
                             " does not sign the same twice: this machine's memory or processor is "
                             "at fault"};
  }
  // 2 and 3 say that r wrapped around the order: one in 2^127, and no chain can express it.
  ensure(out[64] == 0 || out[64] == 1, "the signature's r did not wrap around");
  co_return out;
}

}  // namespace holdfast::signer

// Owns: the keys of our sending accounts that this process holds itself, and signing with them:
// ECDSA on secp256k1.
// Must never: let a key, or a part of one, into a log, an error, an answer or a core file.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/system/error_code.hpp>

#include <holdfast/base/result.hpp>
#include <holdfast/ports/signer.hpp>

namespace holdfast::signer {

/// All of them are faults of the configuration: a retry is useless.
enum class SignerError {
  bad_key_file = 1,  ///< missing, a link, no plain file, another's, or open to others
  bad_variable,      ///< the environment variable is not set
  bad_key,           ///< not one key in hex, or no key of the curve
};
boost::system::error_code make_error_code(SignerError error);

/// The chain's canonical text of the account that this public key owns. The key is 65 bytes: 0x04,
/// x, y. A chain's wing offers it (this one knows no chain): evm/account_name.hpp.
using NameAccount = std::function<domain::Address(ByteView public_key)>;

class LocalSigner final : public ports::Signer {
 public:
  explicit LocalSigner(NameAccount name_account);
  ~LocalSigner() override;
  LocalSigner(const LocalSigner&) = delete;
  LocalSigner& operator=(const LocalSigner&) = delete;

  /// Reads one key: "0x" (or nothing) and 64 hex digits, with blanks and line ends around them, at
  /// most 256 bytes. The file must be a regular one, ours, and of mode 0600 or stricter; the checks
  /// are made on the file that was opened. A path that ends in a symbolic link is refused: whoever
  /// may change a link should not choose our key. Returns the key's account, also when that is here
  /// already: several chains may name one key.
  /// Errors: bad_key_file, bad_key, each with a sentence that names the file.
  Result<domain::Address> add_key_file(const std::string& path);
  /// Reads the same from an environment variable, then wipes its text and removes it, whether the
  /// key was good or not; a name that was read here before gives its account again. Call before
  /// other threads start: the environment is not locked.
  /// Errors: bad_variable, bad_key, each with a sentence that names the variable.
  Result<domain::Address> add_key_variable(const std::string& name);
  /// Mixes 32 secret random bytes into the signing context, against side channels. Signatures stay
  /// the same. Once, at start; leaving it out is safe against remote attackers.
  void blind(const std::array<Byte, 32>& entropy);

  /// In the order they were added.
  std::vector<domain::Address> accounts() const override;
  bool local() const override { return true; }
  bool checks_itself() const override { return true; }
  /// r, s, y-parity (0 or 1): 65 bytes, s in the lower half (EIP-2). Deterministic (RFC 6979): the
  /// same digest gives the same bytes, for ever. Made twice, from two copies of the key, and given
  /// out only when both are the same. Answers at once, after some 60 µs on the calling thread.
  /// `refused` (other) when there is no such account; `unknown` when the two differ.
  boost::asio::awaitable<ports::Outcome<Bytes>> sign(domain::Address account,
                                                     Digest digest) override;

 private:
  struct Keys;
  std::unique_ptr<Keys> keys_;
};

}  // namespace holdfast::signer

template <>
struct boost::system::is_error_code_enum<holdfast::signer::SignerError> : std::true_type {};

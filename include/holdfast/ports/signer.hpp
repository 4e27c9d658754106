// Owns: the port to whoever holds the keys of our sending accounts.
// Must never: let a key out.
#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include <holdfast/base/sha256.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/ports/outcome.hpp>

namespace holdfast::ports {

class Signer {
 public:
  virtual ~Signer() = default;

  /// The accounts it can sign for.
  virtual std::vector<domain::Address> accounts() const = 0;
  /// True when signing happens in this process: then the attempt is stored after signing. A remote
  /// signer may keep what it signed, so its attempt row is stored before the call.
  virtual bool local() const = 0;
  /// True when `sign` gives out only what it has checked itself: that account's signature of that
  /// digest. The sender need not be read out of the signature then (Chain::seal_checked). False for
  /// whoever cannot vouch for it, and for any signer outside of this process.
  virtual bool checks_itself() const { return false; }
  /// Signs a 32-byte digest; the form is the chain's (secp256k1: r, s, y-parity, 65 bytes).
  /// Safe to repeat. `refused` when it has no such account.
  virtual boost::asio::awaitable<Outcome<Bytes>> sign(domain::Address account, Digest digest) = 0;
};

}  // namespace holdfast::ports

// Owns: whose word counts for who signed: the signer's where it checks what it gives out, else the
// chain's, which reads it out of the signature.
#pragma once

#include <holdfast/ports/chain.hpp>
#include <holdfast/ports/signer.hpp>

namespace holdfast::engine {

/// Bytes that say what the order says, signed by its sender. `signed_digest` is what the signer was
/// given. Errors: as Chain::seal.
inline Result<ports::SignedTx> seal(const ports::Chain& chain, const ports::Signer& signer,
                                    const ports::Order& order, ByteView signature,
                                    const Digest& signed_digest) {
  return signer.checks_itself() ? chain.seal_checked(order, signature, signed_digest)
                                : chain.seal(order, signature);
}

}  // namespace holdfast::engine

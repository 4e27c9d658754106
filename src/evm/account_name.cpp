#include "evm/account_name.hpp"

#include <holdfast/base/ensure.hpp>

#include "evm/address.hpp"
#include "evm/keccak.hpp"

namespace holdfast::evm {

domain::Address account_of_public_key(ByteView public_key) {
  ensure(public_key.size() == 65 && public_key[0] == 0x04, "an uncompressed public key");
  const Hash32 hash = keccak256(public_key.subspan(1));
  return {to_checksum(*Address20::from(hash.view().last(Address20::size)))};
}

}  // namespace holdfast::evm

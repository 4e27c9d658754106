#include "evm/keccak.hpp"

#include <cryptopp/keccak.h>

namespace holdfast::evm {

Hash32 keccak256(ByteView bytes) {
  Hash32 out;
  CryptoPP::Keccak_256 keccak;
  keccak.Update(bytes.data(), bytes.size());
  keccak.Final(out.value.data());
  return out;
}

}  // namespace holdfast::evm

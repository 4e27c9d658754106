#include "evm/eip712.hpp"

#include <optional>
#include <utility>

#include "evm/abi.hpp"

namespace holdfast::evm {

namespace {

Hash32 hash_of(const Domain& domain) {
  static const Hash32 type_hash = keccak256(
      "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
  Bytes words;
  words.reserve(160);
  abi::append_word(words, type_hash.view());
  abi::append_word(words, keccak256(domain.name).view());
  abi::append_word(words, keccak256(domain.version).view());
  abi::append_word(words, U256(domain.chain_id));
  abi::append_word(words, domain.verifying_contract);
  return keccak256(words);
}

}  // namespace

// Most payments in a row are of one token.
Hash32 domain_separator(const Domain& domain) {
  thread_local std::optional<std::pair<Domain, Hash32>> last;
  if (!last || last->first != domain) last.emplace(domain, hash_of(domain));
  return last->second;
}

Hash32 typed_data_digest(const Hash32& separator, const Hash32& struct_hash) {
  Bytes bytes{0x19, 0x01};
  bytes.reserve(66);
  abi::append_word(bytes, separator.view());
  abi::append_word(bytes, struct_hash.view());
  return keccak256(bytes);
}

}  // namespace holdfast::evm

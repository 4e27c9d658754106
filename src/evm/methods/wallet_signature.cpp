#include "evm/methods/wallet_signature.hpp"

#include <algorithm>

#include <holdfast/ports/method.hpp>

#include "evm/abi.hpp"
#include "evm/codec_error.hpp"
#include "evm/secp.hpp"

namespace holdfast::evm {

using ports::VerifyError;

namespace {

constexpr Bytes32 magic =
    bytes32_literal("6492649264926492649264926492649264926492649264926492649264926492");
/// isValidSignature(bytes32,bytes), whose answer begins with the same four bytes.
constexpr abi::Selector is_valid_signature{0x16, 0x26, 0xba, 0x7e};

Error not_the_payers() {
  return refuse(VerifyError::wrong_signer,
                "signature: not the payer's over exactly this payment (asset, payee, amount, "
                "window and nonce)");
}

Error node_trouble() {
  return refuse(VerifyError::node_trouble,
                "the node did not answer for the payer's wallet; try again");
}

/// Nobody's code is there: the signature is a key's, or none.
Error refusal_of_key(const Address20& payer, const Hash32& digest, ByteView bytes) {
  const Result<Signature> signature = parse_signature(bytes);
  if (!signature) {
    return refuse(VerifyError::bad_signature, "signature: " + signature.error().detail);
  }
  const Result<Address20> signer = recover(digest, *signature);
  if (!signer) return refuse(VerifyError::bad_signature, "signature: " + signer.error().detail);
  if (*signer != payer) return not_the_payers();
  return refuse(VerifyError::node_trouble, "the payer's code changed between two reads; try again");
}

}  // namespace

bool is_counterfactual(ByteView signature) {
  return signature.size() >= Bytes32::size &&
         std::ranges::equal(signature.last(Bytes32::size), magic.value);
}

Result<Counterfactual> read_counterfactual(ByteView signature) {
  if (!is_counterfactual(signature)) {
    return refuse(CodecError::bad_abi, "the signature is not wrapped as EIP-6492 says");
  }
  abi::Reader read(signature.first(signature.size() - Bytes32::size), 3, "the wrapped signature");
  Counterfactual out;
  out.factory = read.address("factory");
  out.factory_call = read.bytes("factory call", longest_wallet_signature);
  out.inner = read.bytes("signature", longest_wallet_signature);
  if (const Result<void> done = read.finish(); !done) return done.error();
  if (is_counterfactual(out.inner)) {
    return refuse(CodecError::bad_abi, "the wrapped signature is wrapped once more");
  }
  return out;
}

Bytes as_contracts_take_it(ByteView signature) {
  Bytes out(signature.begin(), signature.end());
  if (out.size() == 65 && out.back() <= 1) out.back() = static_cast<Byte>(out.back() + 27);
  return out;
}

bool is_signed_by_key(const Address20& payer, const Hash32& digest, ByteView signature) {
  const Result<Signature> parsed = parse_signature(signature);
  if (!parsed) return false;
  const Result<Address20> signer = recover(digest, *parsed);
  return signer && *signer == payer;
}

bool says_valid(ByteView answer) {
  return answer.size() == 32 &&
         std::ranges::equal(answer.first(is_valid_signature.size()), is_valid_signature);
}

Bytes encode_is_valid_signature(const Hash32& digest, ByteView signature) {
  const Result<Counterfactual> wrapped = read_counterfactual(signature);
  return abi::CallWriter(is_valid_signature)
      .bytes32(Bytes32{digest.value})
      .bytes(as_contracts_take_it(wrapped ? ByteView(wrapped->inner) : signature))
      .finish();
}

ports::Awaitable<Result<Payer>> check_signature(EvmChain& chain, Address20 payer, Hash32 digest,
                                                Bytes signature) {
  if (is_signed_by_key(payer, digest, signature)) co_return Payer::key;
  if (signature.empty() || signature.size() > longest_wallet_signature) {
    co_return refuse(VerifyError::bad_signature,
                     "signature: a signature has 1 to " + std::to_string(longest_wallet_signature) +
                         " bytes; this has " + std::to_string(signature.size()));
  }
  const ports::Outcome<bool> has_code = co_await chain.has_code({to_checksum(payer)});
  if (has_code.ok() == nullptr) co_return node_trouble();
  if (!*has_code.ok()) co_return refusal_of_key(payer, digest, signature);
  const ports::Outcome<Bytes> answer =
      co_await chain.call_contract(payer, encode_is_valid_signature(digest, signature), "latest");
  const bool reverted =
      answer.refused() != nullptr && answer.refused()->kind == ports::RefusalKind::reverted;
  if (answer.ok() == nullptr && !reverted) co_return node_trouble();
  if (reverted || !says_valid(*answer.ok())) {
    co_return refuse(VerifyError::wrong_signer,
                     "signature: the payer is a contract, and says that this is not its signature "
                     "over exactly this payment");
  }
  co_return Payer::wallet;
}

}  // namespace holdfast::evm

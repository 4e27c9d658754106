#include "evm/eip3009.hpp"

#include <algorithm>

#include <holdfast/base/ensure.hpp>

#include "evm/codec_error.hpp"

namespace holdfast::evm {
namespace {

constexpr std::size_t longest_signature = 8192;

void write(abi::CallWriter& call, const TransferAuthorization& authorization) {
  call.address(authorization.from)
      .address(authorization.to)
      .uint(authorization.value)
      .uint(authorization.valid_after)
      .uint(authorization.valid_before)
      .bytes32(authorization.nonce);
}

void write(abi::CallWriter& call, const Signature& signature) {
  call.uint(27ULL + signature.y_parity)
      .bytes32(Bytes32{signature.r.big_endian()})
      .bytes32(Bytes32{signature.s.big_endian()});
}

TransferAuthorization read_authorization(abi::Reader& read) {
  TransferAuthorization out;
  out.from = read.address("from");
  out.to = read.address("to");
  out.value = read.uint();
  out.valid_after = read.uint();
  out.valid_before = read.uint();
  out.nonce = read.bytes32();
  return out;
}

}  // namespace

Hash32 struct_hash(const TransferAuthorization& authorization) {
  static const Hash32 type_hash = keccak256(
      "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,"
      "uint256 validBefore,bytes32 nonce)");
  Bytes words;
  words.reserve(224);
  abi::append_word(words, type_hash.view());
  abi::append_word(words, authorization.from);
  abi::append_word(words, authorization.to);
  abi::append_word(words, authorization.value);
  abi::append_word(words, authorization.valid_after);
  abi::append_word(words, authorization.valid_before);
  abi::append_word(words, authorization.nonce.view());
  return keccak256(words);
}

Hash32 struct_hash(const CancelAuthorization& authorization) {
  static const Hash32 type_hash =
      keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
  Bytes words;
  words.reserve(96);
  abi::append_word(words, type_hash.view());
  abi::append_word(words, authorization.authorizer);
  abi::append_word(words, authorization.nonce.view());
  return keccak256(words);
}

Hash32 authorization_digest(const Domain& domain, const TransferAuthorization& authorization) {
  return typed_data_digest(domain_separator(domain), struct_hash(authorization));
}

Hash32 authorization_digest(const Domain& domain, const CancelAuthorization& authorization) {
  return typed_data_digest(domain_separator(domain), struct_hash(authorization));
}

Bytes encode_transfer_with_authorization(const TransferAuthorization& authorization,
                                         const Signature& signature) {
  abi::CallWriter call(selectors::transfer_with_authorization);
  write(call, authorization);
  write(call, signature);
  return call.finish();
}

Bytes encode_transfer_with_authorization(const TransferAuthorization& authorization,
                                         ByteView signature) {
  abi::CallWriter call(selectors::transfer_with_authorization_bytes);
  write(call, authorization);
  return call.bytes(signature).finish();
}

Bytes encode_transfer_with_authorization_by_parts(const TransferAuthorization& authorization,
                                                  ByteView signature) {
  ensure(signature.size() == 65, "r, s and v are 65 bytes");
  abi::CallWriter call(selectors::transfer_with_authorization);
  write(call, authorization);
  return call.uint(signature[64])
      .bytes32(*Bytes32::from(signature.first(32)))
      .bytes32(*Bytes32::from(signature.subspan(32, 32)))
      .finish();
}

Bytes encode_cancel_authorization(const CancelAuthorization& authorization,
                                  const Signature& signature) {
  abi::CallWriter call(selectors::cancel_authorization);
  call.address(authorization.authorizer).bytes32(authorization.nonce);
  write(call, signature);
  return call.finish();
}

Bytes encode_authorization_state(const Address20& authorizer, const Bytes32& nonce) {
  return abi::CallWriter(selectors::authorization_state)
      .address(authorizer)
      .bytes32(nonce)
      .finish();
}

Result<bool> decode_authorization_state(ByteView answer) {
  abi::Reader read(answer, 1, "the answer to authorizationState");
  const bool state = read.boolean("the state");
  if (const Result<void> done = read.finish(); !done) return done.error();
  return state;
}

Result<TransferAuthorizationCall> decode_transfer_with_authorization(ByteView call_data) {
  const auto calls = [&](const abi::Selector& selector) {
    return call_data.size() >= selector.size() &&
           std::ranges::equal(call_data.first(selector.size()), selector);
  };
  const bool by_parts = calls(selectors::transfer_with_authorization);
  if (!by_parts && !calls(selectors::transfer_with_authorization_bytes)) {
    return refuse(CodecError::other_call, "the call data is not of transferWithAuthorization");
  }
  abi::Reader read(call_data.subspan(abi::Selector{}.size()), by_parts ? 9 : 7,
                   "the call data of transferWithAuthorization");
  TransferAuthorizationCall out;
  out.authorization = read_authorization(read);
  if (by_parts) {
    const std::uint64_t v = read.small_uint("v", 8);
    const U256 r = read.uint();
    const U256 s = read.uint();
    if (const Result<void> done = read.finish(); !done) return done.error();
    if (v != 27 && v != 28) {
      return refuse(CodecError::bad_abi, "the call's v is neither 27 nor 28");
    }
    out.signature = Signature{r, s, static_cast<std::uint8_t>(v - 27)};
  } else {
    out.signature = read.bytes("signature", longest_signature);
    if (const Result<void> done = read.finish(); !done) return done.error();
  }
  return out;
}

}  // namespace holdfast::evm

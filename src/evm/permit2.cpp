#include "evm/permit2.hpp"

#include <algorithm>

#include "evm/codec_error.hpp"
#include "evm/eip712.hpp"

namespace holdfast::evm {
namespace {

constexpr std::size_t permit_words = 7;  // token, amount, nonce, deadline, owner, to, validAfter
constexpr std::size_t eip2612_words = 5;

const abi::Selector& settle_selector() {
  static const abi::Selector out = abi::selector_of(
      "settle(((address,uint256),uint256,uint256),address,(address,uint256),bytes)");
  return out;
}

const abi::Selector& settle_with_permit_selector() {
  static const abi::Selector out = abi::selector_of(
      "settleWithPermit((uint256,uint256,bytes32,bytes32,uint8),"
      "((address,uint256),uint256,uint256),address,(address,uint256),bytes)");
  return out;
}

Hash32 permit2_separator(std::uint64_t chain_id) {
  static const Hash32 type_hash =
      keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");
  static const Hash32 name = keccak256("Permit2");
  Bytes words;
  abi::append_word(words, type_hash.view());
  abi::append_word(words, name.view());
  abi::append_word(words, U256(chain_id));
  abi::append_word(words, permit2_address);
  return keccak256(words);
}

Hash32 hash_of_permitted(const ExactPermit& permit) {
  static const Hash32 type_hash = keccak256("TokenPermissions(address token,uint256 amount)");
  Bytes words;
  abi::append_word(words, type_hash.view());
  abi::append_word(words, permit.token);
  abi::append_word(words, permit.amount);
  return keccak256(words);
}

Hash32 hash_of_witness(const ExactPermit& permit) {
  static const Hash32 type_hash = keccak256("Witness(address to,uint256 validAfter)");
  Bytes words;
  abi::append_word(words, type_hash.view());
  abi::append_word(words, permit.to);
  abi::append_word(words, permit.valid_after);
  return keccak256(words);
}

bool begins_with(ByteView call_data, const abi::Selector& selector) {
  return call_data.size() >= selector.size() &&
         std::ranges::equal(call_data.first(selector.size()), selector);
}

/// U256 has no shifts: word and bit of a nonce by its bytes.
U256 word_of(const U256& nonce) {
  const auto bytes = nonce.big_endian();
  std::array<Byte, 32> out{};
  std::copy_n(bytes.begin(), 31, out.begin() + 1);
  return *U256::from_big_endian(out);
}

}  // namespace

Hash32 exact_permit_digest(std::uint64_t chain_id, const ExactPermit& permit) {
  static const Hash32 type_hash = keccak256(
      "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,"
      "uint256 deadline,Witness witness)TokenPermissions(address token,uint256 amount)"
      "Witness(address to,uint256 validAfter)");
  Bytes words;
  words.reserve(192);
  abi::append_word(words, type_hash.view());
  abi::append_word(words, hash_of_permitted(permit).view());
  abi::append_word(words, exact_proxy_address);
  abi::append_word(words, permit.nonce);
  abi::append_word(words, permit.deadline);
  abi::append_word(words, hash_of_witness(permit).view());
  return typed_data_digest(permit2_separator(chain_id), keccak256(words));
}

Bytes encode_settle(const ExactPermit& permit, ByteView signature) {
  return abi::CallWriter(settle_selector())
      .address(permit.token)
      .uint(permit.amount)
      .uint(permit.nonce)
      .uint(permit.deadline)
      .address(permit.owner)
      .address(permit.to)
      .uint(permit.valid_after)
      .bytes(signature)
      .finish();
}

Result<ExactPermit> decode_settle(ByteView call_data) {
  std::size_t skipped = 0;
  if (begins_with(call_data, settle_with_permit_selector())) {
    skipped = eip2612_words * 32;
  } else if (!begins_with(call_data, settle_selector())) {
    return refuse(CodecError::other_call, "the call data is not of settle");
  }
  const std::size_t from = abi::Selector{}.size() + skipped;
  if (call_data.size() < from + permit_words * 32) {
    return refuse(CodecError::bad_abi, "the call data of settle is cut short");
  }
  abi::Reader read(call_data.subspan(from, permit_words * 32), permit_words,
                   "the call data of settle");
  ExactPermit out;
  out.token = read.address("token");
  out.amount = read.uint();
  out.nonce = read.uint();
  out.deadline = read.uint();
  out.owner = read.address("owner");
  out.to = read.address("to");
  out.valid_after = read.uint();
  if (const Result<void> done = read.finish(); !done) return done.error();
  return out;
}

Bytes encode_nonce_bitmap(const Address20& owner, const U256& nonce) {
  static const abi::Selector selector = abi::selector_of("nonceBitmap(address,uint256)");
  return abi::CallWriter(selector).address(owner).uint(word_of(nonce)).finish();
}

Result<bool> decode_nonce_used(ByteView answer, const U256& nonce) {
  abi::Reader read(answer, 1, "the answer to nonceBitmap");
  const auto bitmap = read.bytes32();
  if (const Result<void> done = read.finish(); !done) return done.error();
  const unsigned bit = nonce.big_endian()[31];
  return (bitmap.value[31 - bit / 8] >> (bit % 8) & 1) == 1;
}

Bytes encode_allowance(const Address20& owner, const Address20& spender) {
  static const abi::Selector selector = abi::selector_of("allowance(address,address)");
  return abi::CallWriter(selector).address(owner).address(spender).finish();
}

}  // namespace holdfast::evm

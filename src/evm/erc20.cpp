#include "evm/erc20.hpp"

#include <algorithm>

#include "evm/codec_error.hpp"
#include "evm/utf8.hpp"

namespace holdfast::evm {
namespace {

constexpr std::size_t transfer_size = 4 + 2 * 32;
constexpr std::size_t longest_string = 256;

Bytes bare_call(const abi::Selector& selector) { return Bytes(selector.begin(), selector.end()); }

}  // namespace

Bytes encode_transfer(const TransferCall& call) {
  Bytes out = abi::CallWriter(selectors::transfer).address(call.to).uint(call.amount).finish();
  if (call.ref) out.insert(out.end(), call.ref->value.begin(), call.ref->value.end());
  return out;
}

Result<TransferCall> decode_transfer(ByteView call_data) {
  const auto& selector = selectors::transfer;
  if (call_data.size() < selector.size() ||
      !std::ranges::equal(call_data.first(selector.size()), selector)) {
    return refuse(CodecError::other_call, "the call data is not of transfer(address,uint256)");
  }
  const bool with_ref = call_data.size() == transfer_size + Bytes32::size;
  abi::Reader read(call_data.subspan(selector.size()), with_ref ? 3 : 2,
                   "the call data of transfer");
  TransferCall out;
  out.to = read.address("to");
  out.amount = read.uint();
  if (with_ref) out.ref = read.bytes32();
  if (const Result<void> done = read.finish(); !done) return done.error();
  return out;
}

Bytes encode_balance_of(const Address20& account) {
  return abi::CallWriter(selectors::balance_of).address(account).finish();
}

Bytes encode_decimals() { return bare_call(selectors::decimals); }
Bytes encode_name() { return bare_call(selectors::name); }
Bytes encode_version() { return bare_call(selectors::version); }
Bytes encode_domain_separator() { return bare_call(selectors::domain_separator); }

Result<U256> decode_uint_answer(ByteView answer, std::string_view what) {
  abi::Reader read(answer, 1, what);
  const U256 out = read.uint();
  if (const Result<void> done = read.finish(); !done) return done.error();
  return out;
}

Result<std::uint8_t> decode_uint8_answer(ByteView answer, std::string_view what) {
  abi::Reader read(answer, 1, what);
  const std::uint64_t out = read.small_uint("the number", 8);
  if (const Result<void> done = read.finish(); !done) return done.error();
  return static_cast<std::uint8_t>(out);
}

Result<Bytes32> decode_bytes32_answer(ByteView answer, std::string_view what) {
  abi::Reader read(answer, 1, what);
  const Bytes32 out = read.bytes32();
  if (const Result<void> done = read.finish(); !done) return done.error();
  return out;
}

Result<std::string> decode_string_answer(ByteView answer, std::string_view what) {
  abi::Reader read(answer, 1, what);
  const Bytes out = read.bytes("the text", longest_string);
  if (const Result<void> done = read.finish(); !done) return done.error();
  if (!is_utf8(out)) {
    return refuse(CodecError::bad_abi, std::string(what) + " is not UTF-8");
  }
  return std::string(as_text(out));
}

}  // namespace holdfast::evm

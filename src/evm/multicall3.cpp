#include "evm/multicall3.hpp"

namespace holdfast::evm {

Bytes encode_aggregate3(const std::vector<BundledCall>& calls) {
  std::vector<Bytes> items;
  for (const BundledCall& call : calls) {
    Bytes item;
    abi::append_word(item, call.target);
    abi::append_word(item, U256(call.may_fail ? 1 : 0));
    abi::append_word(item, U256(96));
    abi::append_word(item, U256(call.payload.size()));
    item.insert(item.end(), call.payload.begin(), call.payload.end());
    item.resize((item.size() + 31) / 32 * 32);
    items.push_back(std::move(item));
  }
  Bytes out(selectors::aggregate3.begin(), selectors::aggregate3.end());
  abi::append_word(out, U256(32));
  abi::append_word(out, U256(calls.size()));
  std::size_t at = 32 * calls.size();
  for (const Bytes& item : items) {
    abi::append_word(out, U256(at));
    at += item.size();
  }
  for (const Bytes& item : items) out.insert(out.end(), item.begin(), item.end());
  return out;
}

}  // namespace holdfast::evm

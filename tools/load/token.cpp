#include "token.hpp"

#include <algorithm>
#include <string_view>

#include "evm/abi.hpp"
#include "evm/eip3009.hpp"
#include "evm/erc20.hpp"
#include "evm/keccak.hpp"
#include "token_code.hpp"

namespace holdfast::load {

namespace {

namespace json = boost::json;

// Where the contract's variables lie, by their order in its source.
constexpr std::uint64_t name_slot = 0;
constexpr std::uint64_t version_slot = 1;
constexpr std::uint64_t balances_slot = 3;

Bytes word(const U256& number) {
  Bytes out;
  evm::abi::append_word(out, number);
  return out;
}

json::array store(ByteView slot, ByteView value) {
  return json::array{token, to_0x(slot), to_0x(value)};
}

// A text of less than 32 bytes lies in its slot, with twice its length in the last byte.
json::array store_text(std::uint64_t slot, std::string_view text) {
  Bytes value(32);
  std::ranges::copy(as_bytes(text), value.begin());
  value.back() = static_cast<Byte>(2 * text.size());
  return store(word(U256(slot)), value);
}

}  // namespace

evm::Domain token_domain(std::uint64_t chain_number) {
  return {.name = token_name,
          .version = token_version,
          .chain_id = chain_number,
          .verifying_contract = *evm::parse_address(token)};
}

std::optional<Bytes> token_answer(ByteView call_data, std::uint64_t chain_number,
                                  const std::function<bool(const AuthorizationKey&)>& is_used) {
  const auto is = [&](const evm::abi::Selector& selector) {
    return call_data.size() >= selector.size() &&
           std::ranges::equal(call_data.first(selector.size()), selector);
  };
  if (is(evm::selectors::domain_separator)) {
    const evm::Hash32 separator = evm::domain_separator(token_domain(chain_number));
    return Bytes(separator.value.begin(), separator.value.end());
  }
  if (is(evm::selectors::balance_of)) return word(U256(std::uint64_t{1} << 63U));
  if (is(evm::selectors::authorization_state)) {
    evm::abi::Reader reader(call_data.subspan(4), 2, "authorizationState");
    AuthorizationKey key;
    key.payer = reader.address("authorizer");
    key.nonce = reader.bytes32();
    if (!reader.finish()) return std::nullopt;
    return word(U256(is_used(key) ? 1 : 0));
  }
  return std::nullopt;
}

json::array code_params() { return json::array{token, json::string(token_code)}; }
json::array name_params() { return store_text(name_slot, token_name); }
json::array version_params() { return store_text(version_slot, token_version); }

// A mapping's entry lies at the hash of its key and the mapping's own place.
json::array balance_params(const evm::Address20& owner) {
  Bytes key;
  evm::abi::append_word(key, owner);
  evm::abi::append_word(key, U256(balances_slot));
  const evm::Hash32 slot = evm::keccak256(key);
  Bytes value(32);
  value[23] = 1;  // 2^64
  return store(slot.value, value);
}

}  // namespace holdfast::load

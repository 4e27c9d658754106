#include "support/scripted_chain.hpp"

#include "evm/eip3009.hpp"
#include "evm/erc20.hpp"

namespace holdfast::test {
namespace {

using evm::Address20;
using evm::Bytes32;

Bytes32 word_of(const Address20& address) {
  Bytes32 out;
  std::copy(address.value.begin(), address.value.end(), out.value.begin() + 12);
  return out;
}

RunResult reverted(std::string reason) { return {false, std::move(reason), {}}; }

template <class Key>
U256 of(const std::map<Key, U256>& amounts, const Key& key) {
  const auto found = amounts.find(key);
  return found == amounts.end() ? U256{} : found->second;
}

RunResult move(ScriptedToken& token, const Address20& at, const Address20& from,
               const Address20& to, const U256& value) {
  const auto left = of(token.balances, from).minus(value);
  if (!left) return reverted("transfer amount exceeds balance");
  token.balances[from] = *left;
  token.balances[to] = *of(token.balances, to).plus(value);
  const auto data = value.big_endian();
  return {true,
          "",
          {{at, {evm::topics::transfer, word_of(from), word_of(to)}, {data.begin(), data.end()}}}};
}

RunResult use(ScriptedToken& token, const Address20& at, const evm::TransferAuthorizationCall& call,
              std::int64_t time_s) {
  const evm::TransferAuthorization& terms = call.authorization;
  const U256 now(static_cast<std::uint64_t>(time_s));
  if (!(now > terms.valid_after)) return reverted("authorization is not yet valid");
  if (!(now < terms.valid_before)) return reverted("authorization is expired");
  bool& ended = token.ended[{terms.from, terms.nonce}];
  if (ended) return reverted("authorization is used or canceled");
  const auto* bytes = std::get_if<Bytes>(&call.signature);
  const auto signature = bytes == nullptr
                             ? Result<evm::Signature>(std::get<evm::Signature>(call.signature))
                             : evm::parse_signature(*bytes);
  if (!signature) return reverted("invalid signature");
  const auto signer = evm::recover(evm::authorization_digest(token.domain, terms), *signature);
  if (!signer || *signer != terms.from) return reverted("invalid signature");
  RunResult out = move(token, at, terms.from, terms.to, terms.value);
  if (!out.succeeded) return out;
  ended = true;
  out.logs.insert(out.logs.begin(),
                  {at, {evm::topics::authorization_used, word_of(terms.from), terms.nonce}, {}});
  return out;
}

}  // namespace

std::uint64_t ScriptedState::nonce(const Address20& account) const {
  const auto found = nonces.find(account);
  return found == nonces.end() ? 0 : found->second;
}

U256 ScriptedState::balance(const Address20& account) const { return of(native, account); }

RunResult run_call(ScriptedState& state, const Address20& from, const Address20& to,
                   const U256& value, ByteView data, std::int64_t time_s) {
  const auto token = state.tokens.find(to);
  if (token != state.tokens.end()) {
    if (const auto transfer = evm::decode_transfer(data)) {
      return move(token->second, to, from, transfer->to, transfer->amount);
    }
    if (const auto call = evm::decode_transfer_with_authorization(data)) {
      ScriptedToken next = token->second;
      RunResult out = use(next, to, *call, time_s);
      if (out.succeeded) token->second = std::move(next);
      return out;
    }
    return reverted("no such function");
  }
  const auto left = state.balance(from).minus(value);
  if (!left) return reverted("not enough money");
  state.native[from] = *left;
  state.native[to] = *state.balance(to).plus(value);
  return {true, "", {}};
}

}  // namespace holdfast::test

#include "sim/books.hpp"

#include <algorithm>
#include <utility>

#include <holdfast/base/ensure.hpp>

namespace holdfast::sim {

domain::Amount Books::balance(const domain::Address& owner, const domain::AssetId& asset) const {
  const auto at = balances_.find({asset, owner});
  return at == balances_.end() ? domain::Amount{} : at->second;
}

void Books::give(const domain::Address& owner, const domain::AssetId& asset,
                 const domain::Amount& amount) {
  domain::Amount& held = balances_[{asset, owner}];
  const auto sum = held.plus(amount);
  ensure(sum.has_value(), "a simulated balance fits into 256 bits");
  held = *sum;
}

bool Books::take(const domain::Address& owner, const domain::AssetId& asset,
                 const domain::Amount& amount) {
  const auto left = balance(owner, asset).minus(amount);
  if (!left) return false;
  balances_[{asset, owner}] = *left;
  return true;
}

std::uint64_t Books::count(const domain::Address& account) const {
  const auto at = counts_.find(account);
  return at == counts_.end() ? 0 : at->second;
}

Books::Authorized Books::authorization(const domain::AssetId& asset,
                                       const domain::Address& authorizer,
                                       const domain::Nonce& nonce) const {
  const auto at = authorizations_.find({asset, authorizer, nonce});
  return at == authorizations_.end() ? Authorized::unused : at->second;
}

Books::Ran Books::run(const domain::Address& sender, const ports::Call& call, std::int64_t time_s) {
  Ran ran;
  const auto read = read_call(call);
  if (!read) {
    ran.why = "execution reverted: no such function";
    return ran;
  }
  switch (read->kind) {
    case SimCall::Kind::nothing:
      ran.succeeded =
          read->amount.is_zero() || move(ran, domain::native_asset, sender, read->to, read->amount);
      break;
    case SimCall::Kind::transfer:
      ran.succeeded = transfer(ran, read->asset, sender, read->to, read->amount);
      break;
    case SimCall::Kind::authorized_transfer: run_authorized(ran, *read, time_s); break;
    case SimCall::Kind::cancel_authorization: run_cancel(ran, sender, *read); break;
  }
  return ran;
}

void Books::undo(const domain::MinedTx& tx) {
  undo(tx.transfers, tx.authorizations);
  give(tx.sender, domain::native_asset, tx.fee_paid);
  std::uint64_t& count = counts_[tx.sender];
  ensure(count > 0, "a mined transaction raised its sender's count");
  --count;
}

void Books::undo(const Ran& ran) { undo(ran.transfers, ran.authorizations); }

void Books::undo(const std::vector<domain::Transfer>& transfers,
                 const std::vector<domain::AuthorizationEvent>& authorizations) {
  for (auto moved = transfers.rbegin(); moved != transfers.rend(); ++moved) {
    ensure(take(moved->to, moved->asset, moved->amount), "what moved can move back");
    give(moved->from, moved->asset, moved->amount);
  }
  for (const domain::AuthorizationEvent& event : authorizations) {
    authorizations_.erase({event.asset, event.authorizer, event.nonce});
  }
}

TokenKind Books::token(const domain::AssetId& asset) const {
  const auto at = tokens_.find(asset);
  return at == tokens_.end() ? TokenKind::honest : at->second;
}

bool Books::transfer(Ran& ran, const domain::AssetId& asset, const domain::Address& from,
                     const domain::Address& to, const domain::Amount& amount) {
  switch (token(asset)) {
    case TokenKind::honest:
    case TokenKind::silent: return move(ran, asset, from, to, amount);
    case TokenKind::returns_false: return true;
    case TokenKind::reverts: ran.why = "execution reverted: paused"; return false;
    case TokenKind::takes_fee: break;
  }
  const U256 fee = std::max(*amount.divided_by(U256(100)), U256(1));
  const auto rest = amount.minus(fee);
  ensure(rest.has_value(), "a fee is never more than the amount");
  if (rest->is_zero()) return move(ran, asset, from, {asset.value}, amount);
  return move(ran, asset, from, to, *rest) && move(ran, asset, from, {asset.value}, fee);
}

bool Books::move(Ran& ran, const domain::AssetId& asset, const domain::Address& from,
                 const domain::Address& to, const domain::Amount& amount) {
  if (!take(from, asset, amount)) {
    ran.why = "execution reverted: transfer amount exceeds balance";
    return false;
  }
  give(to, asset, amount);
  ran.transfers.push_back(
      {asset, from, to, amount, static_cast<std::uint32_t>(ran.authorizations.size())});
  return true;
}

void Books::run_authorized(Ran& ran, const SimCall& call, std::int64_t time_s) {
  const domain::Authorization& shown = call.authorization;
  domain::Terms terms;
  terms.asset = call.asset;
  terms.payer = call.from;
  terms.payee = call.to;
  terms.amount = call.amount;
  Authorized& state = authorizations_[{call.asset, call.from, shown.nonce}];
  // The order of EIP-3009's reference implementation.
  if (time_s <= shown.validity.after_s) {
    ran.why = "execution reverted: authorization is not yet valid";
  } else if (time_s >= shown.validity.before_s) {
    ran.why = "execution reverted: authorization is expired";
  } else if (state != Authorized::unused) {
    ran.why = "execution reverted: authorization is used or canceled";
  } else if (shown.signature !=
             sign_as(call.from, authorization_digest(terms, shown.nonce, shown.validity))) {
    ran.why = "execution reverted: invalid signature";
  } else {
    ran.authorizations.push_back({call.asset, call.from, shown.nonce, false, 0});
    ran.succeeded = transfer(ran, call.asset, call.from, call.to, call.amount);
    if (ran.succeeded) {
      state = Authorized::used;
    } else {
      ran.authorizations.clear();
    }
  }
}

void Books::run_cancel(Ran& ran, const domain::Address& sender, const SimCall& call) {
  Authorized& state = authorizations_[{call.asset, call.from, call.authorization.nonce}];
  if (sender != call.from || state != Authorized::unused) {
    ran.why = "execution reverted: authorization cannot be canceled";
    return;
  }
  state = Authorized::canceled;
  ran.authorizations.push_back({call.asset, call.from, call.authorization.nonce, true, 0});
  ran.succeeded = true;
}

}  // namespace holdfast::sim

#include "sim/mempool.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace holdfast::sim {

namespace {

using ports::RefusalKind;

/// Everything this transaction may cost its sender in the native asset; empty: over 2^256.
std::optional<U256> most_it_costs(const ports::Order& order) {
  const auto gas = order.fees.max_fee.times(U256(order.fees.gas_limit));
  return gas ? gas->plus(order.call.value) : std::nullopt;
}

/// Ten per cent more on both fees, as common nodes ask for a replacement.
bool replaces(const domain::Fees& dearer, const domain::Fees& old) {
  const auto enough = [](const U256& now, const U256& before) {
    const auto ten = now.times(U256(10));
    const auto eleven = before.times(U256(11));
    return ten && eleven && *ten >= *eleven;
  };
  return enough(dearer.max_fee, old.max_fee) && enough(dearer.priority_fee, old.priority_fee);
}

}  // namespace

ports::Outcome<ports::Posted> Mempool::admit(SimTx tx, Bytes bytes, domain::TxHash hash,
                                             const Books& books, std::size_t limit) {
  if (has(hash)) return ports::Posted{true};
  const ports::Order& order = tx.order;
  if (order.sequence.value < books.count(order.sender)) {
    return ports::Refused{RefusalKind::nonce_too_low, "nonce too low"};
  }
  const auto cost = most_it_costs(order);
  if (!cost || books.balance(order.sender, domain::native_asset) < *cost) {
    return ports::Refused{RefusalKind::unfunded, "insufficient funds for gas * price + value"};
  }
  const Place key(order.sender, order.sequence.value);
  const auto old = pending_.find(key);
  if (old != pending_.end()) {
    if (!replaces(order.fees, old->second.tx.order.fees)) {
      return ports::Refused{RefusalKind::replacement_underpriced,
                            "replacement transaction underpriced"};
    }
    remove(old);
  } else if (pending_.size() >= limit) {
    return ports::Refused{RefusalKind::pool_full, "txpool is full"};
  }
  by_hash_.emplace(hash, key);
  pending_.emplace(key, Pending{std::move(tx), std::move(bytes), hash, arrivals_++});
  return ports::Posted{false};
}

std::vector<Mempool::Pending> Mempool::ready(const Books& books) const {
  // Each account's unbroken run of numbers, then merged by arrival without disturbing a run.
  std::map<domain::Address, std::uint64_t> next;
  std::vector<const Pending*> able;
  for (const auto& [key, pending] : pending_) {
    auto [at, is_new] = next.try_emplace(key.first, books.count(key.first));
    if (key.second != at->second) continue;
    ++at->second;
    able.push_back(&pending);
  }
  std::map<domain::Address, std::uint64_t> latest;
  std::vector<std::tuple<std::uint64_t, std::size_t, const Pending*>> order;
  for (const Pending* pending : able) {
    // A later number that arrived earlier goes no sooner than the one before it.
    std::uint64_t& when = latest[pending->tx.order.sender];
    when = std::max(when, pending->arrival);
    order.emplace_back(when, order.size(), pending);
  }
  std::sort(order.begin(), order.end());
  std::vector<Pending> out;
  out.reserve(order.size());
  for (const auto& [when, place, pending] : order) out.push_back(*pending);
  return out;
}

void Mempool::settle(const Books& books) {
  for (auto at = pending_.begin(); at != pending_.end();) {
    const auto next = std::next(at);
    if (at->first.second < books.count(at->first.first)) remove(at);
    at = next;
  }
}

bool Mempool::has(const domain::TxHash& hash) const { return by_hash_.contains(hash); }

const Mempool::Pending* Mempool::find(const domain::TxHash& hash) const {
  const auto place = by_hash_.find(hash);
  return place == by_hash_.end() ? nullptr : &pending_.at(place->second);
}

std::optional<ports::Call> Mempool::call_at(const domain::Address& account,
                                            std::uint64_t number) const {
  const auto at = pending_.find({account, number});
  return at == pending_.end() ? std::nullopt : std::optional(at->second.tx.order.call);
}

std::vector<domain::TxHash> Mempool::hashes() const {
  std::vector<domain::TxHash> out;
  out.reserve(by_hash_.size());
  for (const auto& [hash, place] : by_hash_) out.push_back(hash);
  return out;
}

std::uint64_t Mempool::count(const domain::Address& account, const Books& books,
                             const std::function<bool(const domain::TxHash&)>& known) const {
  std::uint64_t next = books.count(account);
  for (auto at = pending_.find({account, next});
       at != pending_.end() && (!known || known(at->second.hash));
       at = pending_.find({account, next})) {
    ++next;
  }
  return next;
}

bool Mempool::drop(const domain::TxHash& hash) {
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return false;
  remove(pending_.find(found->second));
  return true;
}

void Mempool::clear() {
  pending_.clear();
  by_hash_.clear();
}

void Mempool::remove(std::map<Place, Pending>::iterator at) {
  by_hash_.erase(at->second.hash);
  pending_.erase(at);
}

}  // namespace holdfast::sim

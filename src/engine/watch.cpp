#include "engine/watch.hpp"

#include <algorithm>

#include "base/teeth.hpp"
namespace holdfast::engine {

domain::RedemptionKey authorization_key(const domain::AssetId& asset,
                                        const domain::Address& authorizer,
                                        const domain::Nonce& nonce) {
  domain::Terms terms;
  terms.asset = asset;
  terms.payer = authorizer;
  return domain::derive_redemption_key(terms, nonce);
}

namespace {

std::optional<domain::RedemptionKey> key_of(const domain::Intent& intent) {
  if (!intent.authorization) return std::nullopt;
  return authorization_key(intent.terms.asset, intent.terms.payer, intent.authorization->nonce);
}

}  // namespace

std::optional<std::int64_t> unchanged_s(Watched& watched, std::int64_t record_ms,
                                        std::int64_t chain_s) {
  if (chain_s <= 0) return std::nullopt;
  if (watched.record_seen_s == 0 || watched.record_ms != record_ms) {
    watched.record_ms = record_ms;
    watched.record_seen_s = chain_s;
  }
  return chain_s - watched.record_seen_s;
}

Watched* Watch::put(const domain::Facts& facts, std::int64_t mono_ms) {
  const domain::Intent& intent = facts.intent;
  if (domain::is_terminal(intent.state)) {
    erase(intent.id);
    return nullptr;
  }
  Watched& watched = watched_[intent.id];
  const bool now_confirming = intent.state == domain::IntentState::confirming &&
                              watched.intent.state != domain::IntentState::confirming;
  if (now_confirming) {
    watched.quiet_since_ms = mono_ms;
    watched.lost = false;
  }
  watched.intent = intent;
  watched.slot = facts.slot ? std::optional(facts.slot->id) : std::nullopt;
  for (const domain::Attempt& attempt : facts.attempts) {
    if (attempt.kind != domain::AttemptKind::pay || !attempt.hash) continue;
    if (planted(Tooth::forget_replaced) && &attempt != &facts.attempts.back()) continue;
    if (by_hash_.emplace(*attempt.hash, intent.id).second) watched.hashes.push_back(*attempt.hash);
  }
  if (!facts.ref_found_in.empty()) {
    std::vector<domain::TxHash> carriers;
    carriers.reserve(facts.ref_found_in.size());
    for (const domain::CarriesRef& one : facts.ref_found_in) carriers.push_back(one.hash);
    watched.carriers = std::move(carriers);
  }
  if (const auto key = key_of(intent)) by_authorization_[*key] = intent.id;
  return &watched;
}

void Watch::erase(const domain::IntentId& id) {
  const auto found = watched_.find(id);
  if (found == watched_.end()) return;
  Watched& watched = found->second;
  forget_inclusion(watched);
  for (const domain::TxHash& hash : watched.hashes) by_hash_.erase(hash);
  if (const auto key = key_of(watched.intent)) by_authorization_.erase(*key);
  watched_.erase(found);
}

Watched* Watch::find(const domain::IntentId& id) {
  const auto found = watched_.find(id);
  return found == watched_.end() ? nullptr : &found->second;
}

std::vector<Watch::Match> Watch::match(const domain::MinedTx& tx) const {
  std::vector<Match> out;
  if (const auto own = by_hash_.find(tx.hash); own != by_hash_.end()) {
    out.push_back({own->second, true});
  }
  for (const domain::AuthorizationEvent& event : tx.authorizations) {
    if (event.canceled) continue;
    const auto used =
        by_authorization_.find(authorization_key(event.asset, event.authorizer, event.nonce));
    if (used == by_authorization_.end()) continue;
    const auto same = [&](const Match& match) { return match.id == used->second; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back({used->second, false});
  }
  return out;
}

void Watch::include(Watched& watched, domain::MinedTx tx, bool own_hash) {
  if (watched.inclusion && watched.inclusion->tx.succeeded && !tx.succeeded) return;
  forget_inclusion(watched);
  by_height_.emplace(tx.block.height, watched.intent.id);
  watched.inclusion = Inclusion{std::move(tx), own_hash};
  watched.lost = false;
}

void Watch::forget_inclusion(Watched& watched) {
  if (!watched.inclusion) return;
  by_height_.erase({watched.inclusion->tx.block.height, watched.intent.id});
  watched.inclusion.reset();
}

void Watch::lose(Watched& watched) {
  forget_inclusion(watched);
  watched.lost = true;
}

std::vector<domain::IntentId> Watch::take_back(const domain::BlockRef& block) {
  std::vector<domain::IntentId> out;
  if (planted(Tooth::reorg_unnoticed)) return out;
  auto at = by_height_.lower_bound({block.height, domain::IntentId{}});
  while (at != by_height_.end() && at->first == block.height) {
    const domain::IntentId id = at->second;
    ++at;
    Watched& watched = watched_.at(id);
    if (watched.inclusion->tx.block != block) continue;
    lose(watched);
    out.push_back(id);
  }
  return out;
}

std::vector<domain::IntentId> Watch::included_up_to(std::uint64_t height) const {
  std::vector<domain::IntentId> out;
  for (const auto& [at, id] : by_height_) {
    if (at > height) break;
    out.push_back(id);
  }
  return out;
}

void Watch::posted(const domain::IntentId& id, std::int64_t mono_ms, std::uint64_t height) {
  Watched* const watched = find(id);
  if (watched == nullptr) return;
  watched->posted_mono_ms = mono_ms;
  watched->posted_height = height;
  watched->quiet_since_ms = mono_ms;
}

std::vector<domain::IntentId> Watch::quiet_since(std::int64_t mono_ms) const {
  std::vector<domain::IntentId> out;
  for (const auto& [id, watched] : watched_) {
    const bool awaited = watched.intent.state == domain::IntentState::confirming;
    if (awaited && !watched.inclusion && watched.quiet_since_ms <= mono_ms) out.push_back(id);
  }
  std::sort(out.begin(), out.end());  // the hash map's order must not show
  return out;
}

std::vector<domain::IntentId> Watch::all() const {
  std::vector<domain::IntentId> out;
  out.reserve(watched_.size());
  for (const auto& [id, watched] : watched_) out.push_back(id);
  std::sort(out.begin(), out.end());
  return out;
}

void Watch::put_ended(const domain::Intent& intent) {
  const auto key = key_of(intent);
  if (key) ended_[*key] = {intent.id, intent.authorization->validity.before_s};
}

std::vector<domain::IntentId> Watch::match_ended(const domain::MinedTx& tx) const {
  std::vector<domain::IntentId> out;
  for (const domain::AuthorizationEvent& event : tx.authorizations) {
    if (event.canceled) continue;
    const auto key = authorization_key(event.asset, event.authorizer, event.nonce);
    const auto ended = ended_.find(key);
    if (ended != ended_.end() && !by_authorization_.contains(key)) out.push_back(ended->second.id);
  }
  return out;
}

std::vector<domain::IntentId> Watch::ended() const {
  std::vector<domain::IntentId> out;
  out.reserve(ended_.size());
  for (const auto& [key, ended] : ended_) out.push_back(ended.id);
  std::sort(out.begin(), out.end());
  return out;
}

void Watch::forget_expired(std::int64_t chain_s) {
  std::erase_if(ended_, [&](const auto& each) { return each.second.until_s <= chain_s; });
}

}  // namespace holdfast::engine

#include "engine/chain_view.hpp"

#include <algorithm>

#include <holdfast/base/ensure.hpp>

namespace holdfast::engine {

void ChainView::see(const ports::Head& head) {
  heights_.latest = head.latest.height;
  heights_.safe = std::max(heights_.safe, head.safe_height);
  latest_time_s_ = head.latest_time_s;
  if (head.finalized.height >= told_final_.height) {
    told_final_ = head.finalized;
    told_final_time_s_ = head.finalized_time_s;
  }
  hold();
}

std::optional<domain::BlockRef> ChainView::strays() const {
  const auto followed = hash_at(told_final_.height);
  if (!followed || *followed == told_final_.hash) return std::nullopt;
  return told_final_;
}

// One below what is followed is an ancestor of it; one above is not reached yet.
void ChainView::hold() {
  if (blocks_.empty() || told_final_.height > blocks_.back().height || strays()) return;
  if (told_final_.height > final_.height) final_ = told_final_;
  heights_.finalized = std::max(heights_.finalized, told_final_.height);
  finalized_time_s_ = std::max(finalized_time_s_, told_final_time_s_);
}

void ChainView::forget_finality() {
  heights_.safe = 0;
  heights_.finalized = 0;
  finalized_time_s_ = 0;
  told_final_ = {};
  final_ = {};
  told_final_time_s_ = 0;
  final_hashes_.clear();
}

std::optional<domain::BlockRef> ChainView::tip() const {
  if (blocks_.empty()) return std::nullopt;
  return blocks_.back();
}

void ChainView::restart(const domain::BlockRef& ref) {
  blocks_.assign(1, ref);
  hold();
}

bool ChainView::push(const ports::Block& block) {
  ensure(!blocks_.empty(), "a chain is followed from a block");
  const domain::BlockRef& tip = blocks_.back();
  if (block.ref.height != tip.height + 1 || block.parent != tip.hash) return false;
  blocks_.push_back(block.ref);
  if (blocks_.size() > most_blocks) blocks_.pop_front();
  hold();
  return true;
}

domain::BlockRef ChainView::pop() {
  ensure(!blocks_.empty(), "only a followed block can be taken back");
  const domain::BlockRef gone = blocks_.back();
  blocks_.pop_back();
  return gone;
}

std::optional<domain::BlockHash> ChainView::hash_at(std::uint64_t height) const {
  if (blocks_.empty() || height < blocks_.front().height || height > blocks_.back().height) {
    return std::nullopt;
  }
  return blocks_[height - blocks_.front().height].hash;
}

std::optional<domain::BlockHash> ChainView::final_hash_at(std::uint64_t height) const {
  const auto found = final_hashes_.find(height);
  return found == final_hashes_.end() ? std::nullopt : std::optional(found->second);
}

void ChainView::note_final_hash(const domain::BlockRef& block) {
  final_hashes_.insert_or_assign(block.height, block.hash);
  if (final_hashes_.size() > most_blocks) final_hashes_.erase(final_hashes_.begin());
}

}  // namespace holdfast::engine

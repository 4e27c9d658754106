#include "sim/endpoints.hpp"

#include <utility>

namespace holdfast::sim {

void Endpoints::level() {
  for (Endpoint& one : all_) one = {};
  old_.clear();
}

std::size_t Endpoints::next() {
  const auto at = static_cast<std::size_t>(chance_.below(all_.size()));
  if (all_[at].lag > 0) ++counts_.behind;
  return at;
}

void Endpoints::posted(const domain::TxHash& hash, std::size_t at, std::int64_t now_ms) {
  first_.try_emplace(hash, First{at, now_ms});
}

bool Endpoints::knows(const domain::TxHash& hash, std::size_t at, std::int64_t now_ms) {
  const auto first = first_.find(hash);
  const bool has_heard = first == first_.end() || first->second.at == at ||
                         now_ms >= first->second.ms + all_[at].hears_ms;
  if (!has_heard) ++counts_.unheard;
  return has_heard;
}

void Endpoints::taken_back(std::vector<ports::Block> blocks) { old_ = std::move(blocks); }

bool Endpoints::follows_old(std::size_t at, std::uint64_t newest, std::uint64_t finalized) const {
  return !old_.empty() && newest < old_.back().ref.height + all_[at].lag &&
         finalized < old_.front().ref.height;
}

const ports::Block* Endpoints::old_block(std::size_t at, std::uint64_t height, std::uint64_t newest,
                                         std::uint64_t finalized) {
  if (!follows_old(at, newest, finalized) || height < old_.front().ref.height ||
      height > old_.back().ref.height) {
    return nullptr;
  }
  ++counts_.old_branch;
  return &old_[static_cast<std::size_t>(height - old_.front().ref.height)];
}

const domain::MinedTx* Endpoints::old_tx(std::size_t at, const domain::TxHash& hash,
                                         std::uint64_t newest, std::uint64_t finalized) const {
  if (!follows_old(at, newest, finalized)) return nullptr;
  for (const ports::Block& block : old_) {
    for (const domain::MinedTx& tx : block.txs) {
      if (tx.hash == hash) return &tx;
    }
  }
  return nullptr;
}

}  // namespace holdfast::sim

#include "evm/endpoint_heads.hpp"

namespace holdfast::evm {
namespace {
constexpr std::int64_t noted_every_ms = 1'000;
}

void HeadsOfOne::note(std::uint64_t height, std::int64_t now_ms) {
  if (!said_.empty() && now_ms - said_.back().at_ms < noted_every_ms) return;
  said_.push_back({now_ms, height});
  // The newest of those that are old enough stays.
  while (said_.size() > 1 && now_ms - said_[1].at_ms >= behind_after_ms) said_.pop_front();
}

std::optional<std::uint64_t> HeadsOfOne::a_while_ago(std::int64_t now_ms) const {
  std::optional<std::uint64_t> out;
  for (const One& one : said_) {
    if (now_ms - one.at_ms >= behind_after_ms) out = one.height;
  }
  return out;
}

bool is_behind(const HeadSeen& head, std::optional<std::uint64_t> others_had,
               std::int64_t wall_ms) {
  if (!others_had || head.height >= *others_had) return false;
  return wall_ms / 1000 - head.time_s >= behind_after_ms / 1000;
}

}  // namespace holdfast::evm

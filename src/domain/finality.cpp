#include <holdfast/domain/finality.hpp>

#include <algorithm>

#include "base/teeth.hpp"
#include "domain/enum_text.hpp"

namespace holdfast::domain {
namespace {

constexpr EnumText<Verdict> verdict_texts[] = {
    {Verdict::pending, "pending"},
    {Verdict::final, "final"},
    {Verdict::failed, "failed"},
    {Verdict::lost, "lost"},
};

constexpr EnumText<FinalityTag> tag_texts[] = {
    {FinalityTag::latest, "latest"},
    {FinalityTag::safe, "safe"},
    {FinalityTag::finalized, "finalized"},
};

std::uint64_t height_of(FinalityTag tag, const ChainHeights& heights) {
  switch (tag) {
    case FinalityTag::latest: return heights.latest;
    case FinalityTag::safe: return heights.safe;
    case FinalityTag::finalized: return heights.finalized;
  }
  return 0;
}

}  // namespace

std::string_view to_text(Verdict verdict) { return text_of(verdict_texts, verdict); }
std::string_view to_text(FinalityTag tag) { return text_of(tag_texts, tag); }

std::optional<FinalityTag> finality_tag_from(std::string_view text) {
  return enum_of(tag_texts, text);
}

std::optional<std::uint64_t> deep_enough(const ChainHeights& heights, const FinalityRule& rule) {
  const std::uint64_t above = std::max<std::uint32_t>(rule.confirmations, 1) - 1;
  if (heights.latest < above) return std::nullopt;
  if (planted(Tooth::trust_latest)) return heights.latest;
  const std::uint64_t deep = std::min(heights.latest - above, height_of(rule.tag, heights));
  return planted(Tooth::one_block_early) ? deep + 1 : deep;
}

// The block's hash is asked before its depth: a deep height under another hash is another block.
Verdict verdict(const std::optional<Inclusion>& inclusion,
                const std::optional<BlockHash>& canonical, const ChainHeights& heights,
                const FinalityRule& rule) {
  if (!inclusion || !canonical) return Verdict::pending;
  if (*canonical != inclusion->block.hash) return Verdict::lost;
  const auto deep = deep_enough(heights, rule);
  if (!deep || inclusion->block.height > *deep) return Verdict::pending;
  return inclusion->succeeded ? Verdict::final : Verdict::failed;
}

}  // namespace holdfast::domain

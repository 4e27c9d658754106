// Owns: when an inclusion counts as irreversible, as one verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <holdfast/domain/ids.hpp>

namespace holdfast::domain {

enum class Verdict {
  pending,  ///< included or not, not deep enough yet
  final,    ///< at the depth asked for, and it succeeded
  failed,   ///< at the depth asked for, and it reverted
  lost,     ///< its block is not canonical any more
};
std::string_view to_text(Verdict verdict);

enum class FinalityTag { latest, safe, finalized };
std::string_view to_text(FinalityTag tag);
std::optional<FinalityTag> finality_tag_from(std::string_view text);

/// Both must hold: at or below the tag's height, and so many blocks deep (1 = just included).
struct FinalityRule {
  FinalityTag tag = FinalityTag::finalized;
  std::uint32_t confirmations = 1;
  bool operator==(const FinalityRule&) const = default;
};

/// Heights as the engine believes them; `safe` and `finalized` never go down.
struct ChainHeights {
  std::uint64_t latest = 0;
  std::uint64_t safe = 0;
  std::uint64_t finalized = 0;
};

/// The highest block that is as deep as the rule asks; empty: none is yet.
std::optional<std::uint64_t> deep_enough(const ChainHeights& heights, const FinalityRule& rule);

struct Inclusion {
  BlockRef block;
  bool succeeded = false;
};

/// `canonical` is the hash now at the inclusion's height; empty when that height is unknown.
Verdict verdict(const std::optional<Inclusion>& inclusion,
                const std::optional<BlockHash>& canonical, const ChainHeights& heights,
                const FinalityRule& rule);

}  // namespace holdfast::domain

#include "sender.hpp"

#include <algorithm>
#include <iterator>

#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/refs.hpp>

namespace holdfast::campaign {

namespace {

constexpr std::int64_t block_ms = 2'000;

enum class Says { yes, yes_without_hash, nothing, not_sent, no };

struct Way {
  std::string_view name;
  std::uint64_t odds;  ///< of a hundred
  Says says;
  bool pays;
  std::uint64_t most_blocks;  ///< later, at most
};

constexpr Way ways[] = {
                          // NOLINT(*-avoid-c-arrays): a table
    {"yes, and pays", 50, Says::yes, true, 3},
    {"yes, and pays late", 10, Says::yes, true, 90},
    {"yes, and never pays", 5, Says::yes, false, 1},
    {"yes without a hash, and pays", 5, Says::yes_without_hash, true, 20},
    {"no answer, and pays", 10, Says::nothing, true, 90},
    {"no answer, and never pays", 10, Says::nothing, false, 1},
    {"never reached", 4, Says::not_sent, false, 1},
    {"refuses", 3, Says::no, false, 1},
    {"refuses, and pays", 3, Says::no, true, 90},
};

const Way& way_of(std::uint64_t roll) {
  for (const Way& one : ways) {
    if (roll < one.odds) return one;
    roll -= one.odds;
  }
  return ways[0];
}

}  // namespace

Sender::Sender(std::uint64_t seed, sim::SimWorld& world, Watch& watch, Tally& tally)
    : chain(world.clock(), name(), block_ms),
      payouts(chain),
      chance_(seed),
      watch_(watch),
      tally_(tally) {
  chain.on_order(
      [this](const domain::IntentId& id, const domain::Terms& terms) { return take(id, terms); });
}

const domain::ChainId& Sender::name() {
  static const domain::ChainId id{"opaque:1"};
  return id;
}

void Sender::expect(Tally& tally) {
  for (const Way& one : ways) tally.expect("sender", one.name);
}

sim::OpaqueChain::SendAnswer Sender::take(const domain::IntentId& id, const domain::Terms& terms) {
  if (chain.sends(id) > 1) watch_.say(7, text(id), "an outside sender was asked a second time");
  const Way& way = way_of(chance_.below(100));
  tally_.count("sender", way.name);
  const std::uint64_t later = chance_.below(way.most_blocks);
  const domain::TxHash hash = chain.hash_of(id);
  if (way.pays) chain.land(id, domain::derive_ref(id, terms), later);
  switch (way.says) {
    case Says::yes: return std::optional(hash);
    case Says::yes_without_hash: return std::optional<domain::TxHash>{};
    case Says::nothing: return ports::Unknown{"no answer", false};
    case Says::not_sent: return ports::NotSent{"connection refused"};
    case Says::no: return ports::Refused{ports::RefusalKind::other, "no, says the sender"};
  }
  return std::optional(hash);
}

}  // namespace holdfast::campaign

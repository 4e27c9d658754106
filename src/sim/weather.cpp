#include "sim/weather.hpp"

#include <iterator>

namespace holdfast::sim {

std::string_view to_text(Mishap mishap) {
  switch (mishap) {
    case Mishap::read_lost: return "read_lost";
    case Mishap::read_lagging: return "read_lagging";
    case Mishap::reply_late: return "reply_late";
    case Mishap::post_reply_lost: return "post_reply_lost";
    case Mishap::post_lost: return "post_lost";
    case Mishap::post_not_sent: return "post_not_sent";
    case Mishap::post_late: return "post_late";
    case Mishap::post_doubled: return "post_doubled";
    case Mishap::post_forgotten: return "post_forgotten";
    case Mishap::post_refused: return "post_refused";
    case Mishap::post_refused_kept: return "post_refused_kept";
  }
  return "";
}

std::optional<Mishap> ChainWeather::read() { return draw(Mishap::read_lost, Mishap::reply_late); }

std::optional<Mishap> ChainWeather::post() {
  return draw(Mishap::reply_late, Mishap::post_refused_kept);
}

std::optional<Mishap> ChainWeather::draw(Mishap first, Mishap last) {
  std::uint64_t roll = chance_.below(1'000);
  for (auto at = static_cast<std::size_t>(first); at <= static_cast<std::size_t>(last); ++at) {
    if (roll < odds_[at]) {
      ++counts_[at];
      return static_cast<Mishap>(at);
    }
    roll -= odds_[at];
  }
  return std::nullopt;
}

Failure ChainWeather::refusal() {
  using Kind = ports::RefusalKind;
  constexpr Kind kinds[] = {
                              // NOLINT(*-avoid-c-arrays): a table
      Kind::nonce_too_low, Kind::nonce_too_high, Kind::replacement_underpriced,
      Kind::underpriced,   Kind::unfunded,       Kind::gas,
      Kind::pool_full,     Kind::malformed,      Kind::other};
  return ports::Refused{kinds[chance_.below(std::size(kinds))], "no, says the node"};
}

}  // namespace holdfast::sim

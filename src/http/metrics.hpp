// Owns: what is counted about requests, and the text of /metrics.
// Must never: make a label of anything a client can choose: routes are the table's, methods the
// known ones, statuses ours.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <holdfast/engine/engine.hpp>

namespace holdfast::http {

class RequestMetrics {
 public:
  /// `route` is a path of the table, or empty for a request that reached none.
  void count(std::string_view method, std::string_view route, unsigned status, std::int64_t ms);

  /// `route`: verify or settle; `reason`: of x402/reasons.hpp, empty for a success.
  void count_x402(std::string_view route, std::string_view reason);
  /// How long a settle with terms in order took to its answer.
  void x402_settle_took(std::string_view reason, std::int64_t ms);

  std::uint64_t connections = 0;          ///< now
  std::uint64_t connections_refused = 0;  ///< over the cap

 private:
  friend /// `desk` empty: the store cannot be asked now, so its gauges are left out.
      std::string
      metrics_text(const RequestMetrics&, const engine::Stats&,
                   std::span<const engine::ChainStatus>, bool,
                   const std::optional<engine::DeskCounts>&);
  static constexpr std::array<std::int64_t, 13> bounds_ms = {1,   2,   5,    10,   25,    50,   100,
                                                             250, 500, 1000, 2500, 10000, 60000};
  struct Histogram {
    std::array<std::uint64_t, bounds_ms.size()> at_most{};  ///< not cumulative
    std::uint64_t count = 0;
    std::int64_t sum_ms = 0;
  };
  using Key = std::tuple<std::string, std::string, unsigned>;  ///< method, route, status
  void add(Histogram& histogram, std::int64_t ms);

  std::map<Key, Histogram> requests_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> x402_;  ///< by route and reason
  std::map<std::string, Histogram> x402_settles_;                      ///< by reason
};

/// The Prometheus text format, version 0.0.4.
inline constexpr std::string_view metrics_type = "text/plain; version=0.0.4; charset=utf-8";
std::string metrics_text(const RequestMetrics& requests, const engine::Stats& stats,
                         std::span<const engine::ChainStatus> chains, bool broken,
                         const std::optional<engine::DeskCounts>& desk);

}  // namespace holdfast::http

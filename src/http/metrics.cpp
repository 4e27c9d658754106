#include "http/metrics.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

namespace holdfast::http {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::array<std::string_view, 8> known_methods = {"GET",    "HEAD",    "POST",  "PUT",
                                                           "DELETE", "OPTIONS", "PATCH", "none"};

struct CounterRow {
  const char* name;
  const char* help;
  std::uint64_t engine::Stats::* value;
};

constexpr CounterRow counters[] = {
    {"holdfast_jobs_leased_total", "Jobs handed to a worker", &engine::Stats::leased},
    {"holdfast_jobs_acked_total", "Jobs that are done", &engine::Stats::acked},
    {"holdfast_jobs_nacked_total", "Jobs put back to be looked at again", &engine::Stats::nacked},
    {"holdfast_attempts_stored_total", "Transactions signed and stored",
     &engine::Stats::attempts_stored},
    {"holdfast_posts_total", "Posts of signed bytes to a node", &engine::Stats::posts},
    {"holdfast_posts_unknown_total", "Posts whose outcome is not known",
     &engine::Stats::posts_unknown},
    {"holdfast_payments_settled_total", "Payments settled", &engine::Stats::settled},
    {"holdfast_payments_failed_total", "Payments failed, with proof", &engine::Stats::failed},
    {"holdfast_payments_canceled_total", "Payments canceled", &engine::Stats::canceled},
    {"holdfast_payments_reviewed_total", "Payments put before a person", &engine::Stats::reviews},
    {"holdfast_reorgs_total", "Reorganisations seen", &engine::Stats::reorgs},
    {"holdfast_alarms_total", "Things a person must look at", &engine::Stats::alarms},
    {"holdfast_slot_mismatches_total", "Slots that differ from the chain",
     &engine::Stats::slot_mismatches},
};

std::string_view outcome_of(std::string_view reason) { return reason.empty() ? "none" : reason; }

double number(std::uint64_t value) { return static_cast<double>(value); }

MetricFamily family(std::string name, std::string help, MetricType type) {
  return {std::move(name), std::move(help), type, {}};
}

MetricFamily counter(const char* name, const char* help, std::uint64_t value) {
  MetricFamily out = family(name, help, MetricType::Counter);
  out.metric.emplace_back().counter.value = number(value);
  return out;
}

MetricFamily gauge(const char* name, const char* help, double value) {
  MetricFamily out = family(name, help, MetricType::Gauge);
  out.metric.emplace_back().gauge.value = value;
  return out;
}

template <class Value>
MetricFamily chain_gauge(const char* name, const char* help,
                         std::span<const engine::ChainStatus> chains, Value value) {
  MetricFamily out = family(name, help, MetricType::Gauge);
  for (const engine::ChainStatus& chain : chains) {
    ClientMetric& metric = out.metric.emplace_back();
    metric.label = {{"chain", chain.id.value}};
    metric.gauge.value = value(chain);
  }
  return out;
}

template <class Histogram, class Bounds>
void fill(const Histogram& histogram, const Bounds& bounds_ms, ClientMetric& metric) {
  metric.histogram.sample_count = histogram.count;
  metric.histogram.sample_sum = static_cast<double>(histogram.sum_ms) / 1000;
  std::uint64_t below = 0;
  for (std::size_t at = 0; at < bounds_ms.size(); ++at) {
    below += histogram.at_most.at(at);
    metric.histogram.bucket.push_back({below, static_cast<double>(bounds_ms.at(at)) / 1000});
  }
}

template <class Counts>
MetricFamily x402_requests(const Counts& counts) {
  MetricFamily out =
      family("holdfast_x402_requests_total",
             "x402 requests by route and by the reason they were told", MetricType::Counter);
  for (const auto& [key, value] : counts) {
    ClientMetric& metric = out.metric.emplace_back();
    metric.label = {{"route", key.first}, {"reason", key.second}};
    metric.counter.value = number(value);
  }
  return out;
}

template <class Settles, class Bounds>
MetricFamily x402_settles(const Settles& settles, const Bounds& bounds_ms) {
  MetricFamily out = family("holdfast_x402_settle_seconds",
                            "x402 settles by the reason they were told; time to their answer",
                            MetricType::Histogram);
  for (const auto& [reason, histogram] : settles) {
    ClientMetric& metric = out.metric.emplace_back();
    metric.label = {{"reason", reason}};
    fill(histogram, bounds_ms, metric);
  }
  return out;
}

}  // namespace

void RequestMetrics::count(std::string_view method, std::string_view route, unsigned status,
                           std::int64_t ms) {
  const bool known = std::ranges::find(known_methods, method) != known_methods.end();
  Histogram& histogram = requests_[{std::string(known ? method : "other"),
                                    std::string(route.empty() ? "none" : route), status}];
  add(histogram, ms);
}

void RequestMetrics::count_x402(std::string_view route, std::string_view reason) {
  ++x402_[{std::string(route), std::string(outcome_of(reason))}];
}

void RequestMetrics::x402_settle_took(std::string_view reason, std::int64_t ms) {
  add(x402_settles_[std::string(outcome_of(reason))], ms);
}

void RequestMetrics::add(Histogram& histogram, std::int64_t ms) {
  const auto bound = std::ranges::lower_bound(bounds_ms, ms);
  if (bound != bounds_ms.end()) {
    ++histogram.at_most.at(static_cast<std::size_t>(bound - bounds_ms.begin()));
  }
  ++histogram.count;
  histogram.sum_ms += ms;
}

std::string metrics_text(const RequestMetrics& requests, const engine::Stats& stats,
                         std::span<const engine::ChainStatus> chains, bool broken,
                         const std::optional<engine::DeskCounts>& desk) {
  std::vector<MetricFamily> families;
  MetricFamily seconds =
      family("holdfast_http_request_seconds",
             "Requests by method, route and status; time to their answer", MetricType::Histogram);
  for (const auto& [key, histogram] : requests.requests_) {
    const auto& [method, route, status] = key;
    ClientMetric& metric = seconds.metric.emplace_back();
    metric.label = {{"method", method}, {"route", route}, {"status", std::to_string(status)}};
    fill(histogram, RequestMetrics::bounds_ms, metric);
  }
  families.push_back(std::move(seconds));
  families.push_back(x402_requests(requests.x402_));
  families.push_back(x402_settles(requests.x402_settles_, RequestMetrics::bounds_ms));
  families.push_back(
      gauge("holdfast_http_connections", "Connections open now", number(requests.connections)));
  families.push_back(counter("holdfast_http_connections_refused_total", "Connections over the cap",
                             requests.connections_refused));
  for (const CounterRow& row : counters) {
    families.push_back(counter(row.name, row.help, stats.*row.value));
  }
  families.push_back(
      gauge("holdfast_jobs_in_flight", "Jobs being worked on now", number(stats.in_flight_now)));
  families.push_back(gauge("holdfast_payments_watched", "Payments watched on a chain now",
                           number(stats.watched_now)));
  families.push_back(gauge("holdfast_engine_broken",
                           "1: the engine stopped itself and must be started anew",
                           broken ? 1 : 0));
  families.push_back(gauge("holdfast_store_writable",
                           "0: the store takes no writes, so nothing new is begun",
                           stats.store_writable ? 1 : 0));
  if (desk) {
    families.push_back(gauge("holdfast_dead_letters_open", "Jobs that are parked now",
                             number(desk->dead_letters)));
    families.push_back(
        gauge("holdfast_reviews_open", "Payments before a person now", number(desk->reviews)));
  }
  using Chain = engine::ChainStatus;
  families.push_back(chain_gauge("holdfast_chain_usable", "1: payments run on this chain", chains,
                                 [](const Chain& chain) { return chain.usable ? 1.0 : 0.0; }));
  families.push_back(chain_gauge("holdfast_chain_latest_block", "Height of the newest block",
                                 chains, [](const Chain& chain) { return number(chain.latest); }));
  families.push_back(chain_gauge(
      "holdfast_chain_latest_block_age_seconds", "Since the newest block was last another one",
      chains, [](const Chain& chain) { return static_cast<double>(chain.latest_age_ms) / 1000; }));
  families.push_back(chain_gauge("holdfast_chain_finalized_block",
                                 "Height of the newest final block", chains,
                                 [](const Chain& chain) { return number(chain.finalized); }));
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return std::move(out).str();
}

}  // namespace holdfast::http

#include "progress.hpp"

#include <array>
#include <cstdio>
#include <iostream>

#include <unistd.h>

namespace holdfast::load {

std::string progress_line(const Moment& now, const Moment& before, const Driven& driven) {
  const double seconds = now.at_s > before.at_s ? now.at_s - before.at_s : 1;
  const auto per_s = [&](std::uint64_t after, std::uint64_t earlier) {
    return static_cast<double>(after - earlier) / seconds;
  };
  const std::uint64_t commits = now.commits - before.commits;
  const double batch =
      commits == 0 ? 0
                   : static_cast<double>(now.steps - before.steps) / static_cast<double>(commits);
  std::array<char, 240> text{};
  std::snprintf(text.data(), text.size(),  // NOLINT(cppcoreguidelines-pro-type-vararg)
                "%6.1f s  %7.0f/s  p50 %.0f p99 %.0f ms  in flight %llu  commits %.0f/s  "
                "batch %.0f  rpc %.0f/s  rss %llu MB",
                now.at_s, per_s(now.settled, before.settled), driven.settled.percentile_ms(0.5),
                driven.settled.percentile_ms(0.99), static_cast<unsigned long long>(now.in_flight),
                per_s(now.commits, before.commits), batch, per_s(now.calls, before.calls),
                static_cast<unsigned long long>(now.rss_bytes >> 20U));
  return text.data();
}

Line::Line() : shown_(::isatty(STDERR_FILENO) == 1) {}

Line::~Line() {
  if (shown_) std::cerr << "\r\x1b[K";
}

void Line::show(const Moment& now, const Driven& driven) {
  if (shown_) std::cerr << '\r' << progress_line(now, before_, driven) << "\x1b[K";
  before_ = now;
}

}  // namespace holdfast::load

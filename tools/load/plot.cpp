#include "plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace holdfast::load {

namespace {

constexpr double width = 640;
constexpr double height = 260;
constexpr double left = 64;
constexpr double right = 16;
constexpr double top = 34;
constexpr double bottom = 44;

std::string number(double value, const char* format = "%.1f") {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, value);  // NOLINT(*-vararg): one number
  return text.data();
}

std::string label(double x, double y, std::string_view anchor, std::string_view text) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" +
         std::string(anchor) + "\">" + escaped(text) + "</text>";
}

std::string rule(double x1, double y1, double x2, double y2) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
         "\" y2=\"" + number(y2) + "\"/>";
}

/// Where values lie on the page.
struct Scale {
  double x_from = 0;
  double x_to = 1;
  double y_to = 1;
  bool log_x = false;

  double x(double value) const {
    const auto at = [&](double of) { return log_x ? std::log10(of) : of; };
    const double share = (at(value) - at(x_from)) / (at(x_to) - at(x_from));
    return left + std::clamp(share, 0.0, 1.0) * (width - left - right);
  }
  double y(double value) const { return height - bottom - value / y_to * (height - top - bottom); }
};

Scale scale_for(const Plot& plot) {
  Scale out;
  out.log_x = plot.log_x;
  double most_y = 0;
  for (const Point& point : plot.points) most_y = std::max(most_y, point.y);
  out.y_to = ticks(most_y).back();
  const double first = plot.points.empty() ? 0 : plot.points.front().x;
  const double last = plot.points.empty() ? 0 : plot.points.back().x;
  if (plot.log_x) {
    out.x_from = std::pow(10, std::floor(std::log10(std::max(first, 1e-3))));
    out.x_to = std::pow(10, std::ceil(std::log10(std::max(last, out.x_from * 1.01))));
  } else {
    out.x_to = ticks(last).back();
  }
  return out;
}

std::string axes(const Plot& plot, const Scale& scale) {
  std::string out;
  for (const double tick : ticks(scale.y_to)) {
    out += rule(left, scale.y(tick), width - right, scale.y(tick));
    out += label(left - 8, scale.y(tick) + 4, "end", short_number(tick));
  }
  if (plot.log_x) {
    for (double tick = scale.x_from; tick <= scale.x_to * 1.001; tick *= 10) {
      out += rule(scale.x(tick), top, scale.x(tick), height - bottom);
      out += label(scale.x(tick), height - bottom + 16, "middle", short_number(tick));
    }
  } else {
    for (const double tick : ticks(scale.x_to)) {
      out += label(scale.x(tick), height - bottom + 16, "middle", short_number(tick));
    }
  }
  out += label((left + width - right) / 2, height - 8, "middle", plot.x_name);
  return out;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

std::vector<double> ticks(double most) {
  if (!(most > 0) || !std::isfinite(most)) return {0, 1};
  const double rough = most / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double nice : {1.0, 2.0, 5.0}) {
    if (nice * power >= rough) {
      step = nice * power;
      break;
    }
  }
  std::vector<double> out{0};
  while (out.back() < most) out.push_back(step * static_cast<double>(out.size()));
  return out;
}

std::string short_number(double value) {
  constexpr std::array<std::string_view, 4> letters{"", "k", "M", "G"};
  std::size_t at = 0;
  while (std::abs(value) >= 1'000 && at + 1 < letters.size()) {
    value /= 1'000;
    ++at;
  }
  return number(value, "%.3g") + std::string(letters[at]);
}

std::string svg(const Plot& plot) {
  const Scale scale = scale_for(plot);
  std::string line;
  for (const Point& point : plot.points) {
    line += number(scale.x(point.x)) + ',' + number(scale.y(point.y)) + ' ';
  }
  return "<svg viewBox=\"0 0 " + number(width, "%.0f") + ' ' + number(height, "%.0f") +
         "\" role=\"img\"><title>" + escaped(plot.title) + "</title>" +
         "<text class=\"title\" x=\"" + number(left) + "\" y=\"20\">" + escaped(plot.title) +
         " <tspan class=\"unit\">" + escaped(plot.y_name) + "</tspan></text><g>" +
         axes(plot, scale) + "</g><polyline points=\"" + line + "\"/></svg>";
}

}  // namespace holdfast::load

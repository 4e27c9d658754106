#include "story.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <holdfast/base/log.hpp>

#include "machine.hpp"

namespace holdfast::campaign {

namespace {

std::string stamp(std::int64_t ms) {
  std::string out = std::to_string(ms / 1'000) + "." + std::to_string(ms % 1'000 + 1'000).substr(1);
  return std::string(out.size() < 9 ? 9 - out.size() : 0, ' ') + out + "  ";
}

}  // namespace

Story::Story(sim::SimWorld& world, std::string of) : world_(world), of_(std::move(of)) {
  if (of_.empty()) {
    log::set_sink([](log::Level, std::string_view) {});
    return;
  }
  log::set_level(log::Level::debug);
  log::set_sink([this](log::Level, std::string_view line) { add(false, std::string(line)); });
}

Story::~Story() {
  log::set_sink([](log::Level, std::string_view) {});
}

void Story::add(bool of_all, std::string text) {
  lines_.push_back({world_.clock().mono_ms(), of_all, std::move(text), 0});
}

void Story::line(std::string text) {
  const bool attempt = text.find(" attempt ") != std::string::npos;
  if (attempt && !attempts_.insert(text).second) return;
  add(text.starts_with(Watch::broken_mark), std::move(text));
}

void Story::note(const std::string& sentence) {
  if (!of_.empty()) add(true, sentence);
}

std::vector<std::string> Story::take(Machine& machine) {
  std::vector<std::string> out;
  if (of_.empty()) return out;
  std::vector<Line> all = lines_;
  for (const sim::PostRecord& post : machine.chain.posts()) {
    all.push_back({post.at_ms, false, "posted " + post.hash.hex() + ": " + post.answer, 0});
  }
  // A payment is known by its id, and by the hashes of its attempts; each hash by its payment.
  std::vector<std::string> names{of_};
  for (const Line& line : lines_) {
    const std::size_t hash = line.text.find(" 0x");
    const bool attempt = line.text.find(" attempt ") != std::string::npos;
    if (!attempt || hash == std::string::npos) continue;
    if (line.text.starts_with(of_)) names.push_back(line.text.substr(hash + 3, 64));
    const bool is_of_payment = line.text.starts_with("pi_") && line.text.find(of_) == hash + 1;
    if (is_of_payment) names.push_back(line.text.substr(0, line.text.find(' ')));
  }
  for (std::size_t place = 0; place < all.size(); ++place) all[place].place = place;
  std::sort(all.begin(), all.end(), [](const Line& a, const Line& b) {
    return std::tie(a.at_ms, a.place) < std::tie(b.at_ms, b.place);
  });
  for (const Line& line : all) {
    const bool named = of_ == "all" || line.of_all ||
                       std::any_of(names.begin(), names.end(), [&](const std::string& name) {
                         return line.text.find(name) != std::string::npos;
                       });
    if (named) out.push_back(stamp(line.at_ms) + line.text);
  }
  return out;
}

}  // namespace holdfast::campaign

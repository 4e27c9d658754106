#include "sim/script.hpp"

#include <utility>

namespace holdfast::sim {

void ChainScript::fail_next(ChainCall call, Failure failure, std::size_t times) {
  failures_[call].insert(failures_[call].end(), times, failure);
}

std::uint64_t ChainScript::calls(ChainCall call) const {
  const auto at = calls_.find(call);
  return at == calls_.end() ? 0 : at->second;
}

std::optional<Failure> ChainScript::enter(ChainCall call) {
  ++calls_[call];
  if (down_) {
    if (call == ChainCall::post || call == ChainCall::send_order) {
      return ports::NotSent{"connection refused"};
    }
    return ports::Unknown{"connection refused", false};
  }
  auto& failures = failures_[call];
  if (failures.empty()) return std::nullopt;
  Failure first = std::move(failures.front());
  failures.pop_front();
  return first;
}

std::optional<domain::BlockRef> ChainScript::take_latest() {
  if (latest_.empty()) return std::nullopt;
  const domain::BlockRef next = latest_.front();
  latest_.pop_front();
  return next;
}

NextPost ChainScript::take_post() {
  if (posts_.empty()) return NextPost::accept();
  NextPost next = std::move(posts_.front());
  posts_.pop_front();
  return next;
}

}  // namespace holdfast::sim

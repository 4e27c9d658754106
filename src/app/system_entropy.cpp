#include "app/system_entropy.hpp"

#include <algorithm>

#include <sys/random.h>

#include <holdfast/base/ensure.hpp>

namespace holdfast::app {

namespace {

void from_kernel(std::span<Byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::getrandom(out.data() + done, out.size() - done, 0);
    ensure(got > 0, "the kernel gives random bytes");
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace

void SystemEntropy::fill(std::span<Byte> out) {
  if (out.size() > ahead_.size() / 4) return from_kernel(out);
  if (left_ < out.size()) {
    from_kernel(ahead_);
    left_ = ahead_.size();
  }
  left_ -= out.size();
  const auto given = std::span(ahead_).subspan(left_, out.size());
  std::ranges::copy(given, out.begin());
  std::ranges::fill(given, Byte{0});
}

}  // namespace holdfast::app

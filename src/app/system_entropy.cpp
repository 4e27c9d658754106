#include "app/system_entropy.hpp"

#include <sys/random.h>

#include <holdfast/base/ensure.hpp>

namespace holdfast::app {

void SystemEntropy::fill(std::span<Byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::getrandom(out.data() + done, out.size() - done, 0);
    ensure(got > 0, "the kernel gives random bytes");
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace holdfast::app

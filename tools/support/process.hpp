// Owns: what this process has used so far, as the kernel counts it.
#pragma once

#include <cstdint>

namespace holdfast::tools {

struct ProcessUse {
  double cpu_seconds = 0;          ///< of all threads, in user and in kernel
  std::uint64_t rss_bytes = 0;       ///< now
  std::uint64_t rss_peak_bytes = 0;  ///< since the start
  /// Handed to the block layer, or to be; 0 where the kernel does not count it (a container).
  std::uint64_t bytes_written = 0;
};

/// Reads /proc: some ten microseconds.
ProcessUse process_use();

}  // namespace holdfast::tools

#include "process.hpp"

#include <fstream>
#include <string>

#include <sys/resource.h>

namespace holdfast::tools {

namespace {

// The number behind `name` in a file of "name: number" lines; 0 when there is none.
std::uint64_t number_in(const char* file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name)) return std::stoull(line.substr(name.size()));
  }
  return 0;
}

}  // namespace

ProcessUse process_use() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  ProcessUse out;
  out.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  out.rss_bytes = number_in("/proc/self/status", "VmRSS:") * 1024;
  out.rss_peak_bytes = number_in("/proc/self/status", "VmHWM:") * 1024;
  out.bytes_written = number_in("/proc/self/io", "write_bytes:");
  return out;
}

}  // namespace holdfast::tools

// A library for LD_PRELOAD: a machine that goes wrong while a test looks on. Files in the folder
// HOLDFAST_FAULTS are the switches:
//   full         writes to files under HOLDFAST_FAULTS_IN fail with ENOSPC
//   sync_fails   and their fsyncs with EIO
//   wall_ahead   holds the seconds by which the wall clock is ahead; other clocks go on as they are
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

const std::string& switches() {
  static const std::string folder = variable("HOLDFAST_FAULTS");
  return folder;
}

bool is_on(const char* name) {
  return !switches().empty() && ::access((switches() + "/" + name).c_str(), F_OK) == 0;
}

bool is_watched(int fd) {
  static const std::string in = variable("HOLDFAST_FAULTS_IN");
  std::array<char, 4096> buffer{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(link.c_str(), buffer.data(), buffer.size());
  if (size <= 0 || in.empty()) return false;
  return std::string(buffer.data(), static_cast<std::size_t>(size)).starts_with(in);
}

bool is_full(int fd) {
  if (!is_on("full") || !is_watched(fd)) return false;
  errno = ENOSPC;
  return true;
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

int sync(const char* name, int fd) {
  if (is_on("sync_fails") && is_watched(fd)) {
    errno = EIO;
    return -1;
  }
  return real<int (*)(int)>(name)(fd);
}

using ClockGettime = int (*)(clockid_t, timespec*);

// Read twenty times a second at most: programs ask for the time very often.
std::int64_t wall_ahead_s(std::int64_t mono_ms) {
  static std::atomic<std::int64_t> ahead_s = 0;
  static std::atomic<std::int64_t> due_ms = 0;
  if (mono_ms < due_ms) return ahead_s;
  due_ms = mono_ms + 50;
  const int fd = ::open((switches() + "/wall_ahead").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ahead_s = 0;
  std::array<char, 32> text{};
  const ssize_t size = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  return ahead_s = size > 0 ? std::strtoll(text.data(), nullptr, 10) : 0;
}

}  // namespace

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  if (is_full(fd)) return -1;
  return real<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite")(fd, bytes, size, at);
}
extern "C" ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
  if (is_full(fd)) return -1;
  return real<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64")(fd, bytes, size, at);
}
extern "C" ssize_t write(int fd, const void* bytes, size_t size) {
  if (is_full(fd)) return -1;
  return real<ssize_t (*)(int, const void*, size_t)>("write")(fd, bytes, size);
}
extern "C" int fsync(int fd) { return sync("fsync", fd); }
extern "C" int fdatasync(int fd) { return sync("fdatasync", fd); }

extern "C" int clock_gettime(clockid_t clock, timespec* out) {
  static const auto ask = real<ClockGettime>("clock_gettime");
  const int answer = ask(clock, out);
  if (answer != 0 || clock != CLOCK_REALTIME || switches().empty()) return answer;
  timespec mono{};
  ask(CLOCK_MONOTONIC, &mono);
  out->tv_sec += wall_ahead_s(mono.tv_sec * 1'000 + mono.tv_nsec / 1'000'000);
  return answer;
}

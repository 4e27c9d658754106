// A library for LD_PRELOAD: what a disk would still have after the power failed. Each file under
// HOLDFAST_MIRROR_FROM is copied to HOLDFAST_MIRROR_TO as it is at each of its fsyncs; that its
// folder was synced, too, is told by the file "folder.synced".
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

std::string path_of(int fd) {
  std::array<char, 4096> buffer{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(link.c_str(), buffer.data(), buffer.size());
  return size <= 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(size));
}

void write_all(int to, const char* bytes, ssize_t size) {
  while (size > 0) {
    const ssize_t n = ::write(to, bytes, static_cast<std::size_t>(size));
    if (n <= 0) ::abort();
    bytes += n;
    size -= n;
  }
}

/// The copy appears whole or not at all: the process may be killed in here.
void copy(int fd, const std::string& to) {
  const std::string part = to + ".part";
  const int out = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) return;
  std::array<char, 65'536> buffer{};
  off_t at = 0;
  for (ssize_t n = 0; (n = ::pread(fd, buffer.data(), buffer.size(), at)) > 0; at += n) {
    write_all(out, buffer.data(), n);
  }
  ::close(out);
  ::rename(part.c_str(), to.c_str());
}

void mirror(int fd) {
  const std::string from = variable("HOLDFAST_MIRROR_FROM");
  const std::string to = variable("HOLDFAST_MIRROR_TO");
  const std::string path = path_of(fd);
  if (from.empty() || to.empty() || !path.starts_with(from)) return;
  struct stat about{};
  if (::fstat(fd, &about) != 0) return;
  if (S_ISDIR(about.st_mode)) {
    ::close(::open((to + "/folder.synced").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return;
  }
  const std::size_t slash = path.rfind('/');
  copy(fd, to + path.substr(slash));
}

int real(const char* name, int fd) {
  using Sync = int (*)(int);
  const auto sync = reinterpret_cast<Sync>(::dlsym(RTLD_NEXT, name));
  const int answer = sync(fd);
  if (answer == 0) mirror(fd);
  return answer;
}

}  // namespace

extern "C" int fsync(int fd) { return real("fsync", fd); }
extern "C" int fdatasync(int fd) { return real("fdatasync", fd); }

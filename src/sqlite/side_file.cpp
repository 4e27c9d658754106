#include "sqlite/side_file.hpp"

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace holdfast::sqlite {
namespace {

using sql::Cause;

constexpr std::size_t largest = 65'536;

/// Closed when it goes.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Cause cause_of_errno(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return Cause::full;
    case EROFS:
    case EACCES:
    case EPERM: return Cause::read_only;
    default: return Cause::io;
  }
}

[[noreturn]] void fail(const std::string& store, const std::string& file, const char* doing,
                       int error) {
  throw sql::Failure(cause_of_errno(error), store + ": " + file + " cannot be " + doing + ": " +
                                                std::generic_category().message(error));
}

// True when all of it went out.
bool write_all(int fd, ByteView content) {
  while (!content.empty()) {
    const ssize_t size = ::write(fd, content.data(), content.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    content = content.subspan(static_cast<std::size_t>(size));
  }
  return true;
}

}  // namespace

std::string real_path_of(const std::string& database) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(database, error);
  return error ? database : real.string();
}

SideFile::SideFile(const std::string& database, const char* ending, std::string store)
    : path_(real_path_of(database) + ending), store_(std::move(store)) {}

std::string SideFile::name() const { return std::filesystem::path(path_).filename().string(); }

std::optional<Bytes> SideFile::read() {
  const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT) return std::nullopt;
    fail(store_, name(), "opened", errno);
  }
  Bytes out;
  std::array<Byte, 4'096> piece{};
  for (;;) {
    const ssize_t size = ::read(file.get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail(store_, name(), "read", errno);
    if (size == 0 || out.size() > largest) return out;
    out.insert(out.end(), piece.begin(), piece.begin() + size);
  }
}

void SideFile::write(ByteView content) {
  const std::string fresh = path_ + ".new";
  {
    const Descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.get() < 0) fail(store_, name(), "written", errno);
    if (!write_all(file.get(), content)) fail(store_, name(), "written", errno);
    if (::fsync(file.get()) != 0) fail(store_, name(), "synced", errno);
  }
  if (::rename(fresh.c_str(), path_.c_str()) != 0) fail(store_, name(), "renamed", errno);
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  const Descriptor parent(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() < 0 || ::fsync(parent.get()) != 0) {
    fail(store_, name(), "synced in its folder", errno);
  }
}

}  // namespace holdfast::sqlite

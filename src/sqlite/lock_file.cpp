#include "sqlite/lock_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <holdfast/ports/sql.hpp>
#include "sqlite/side_file.hpp"

namespace holdfast::sqlite {

namespace {

using sql::Cause;

std::string text_of_errno(int error) { return std::generic_category().message(error); }

[[noreturn]] void throw_open_failure(const std::string& store, int error) {
  switch (error) {
    case EROFS:
    case EACCES:
    case EPERM:
      throw sql::Failure(
          Cause::read_only,
          store + " is read-only: its lock file cannot be written (" + text_of_errno(error) + ")");
    case ENOENT:
    case ENOTDIR:
      throw sql::Failure(Cause::io, store + " cannot be opened: its folder does not exist");
    case ENOSPC:
    case EDQUOT: throw sql::Failure(Cause::full, store + " cannot be locked: the disk is full");
    default: throw sql::Failure(Cause::io, store + " cannot be locked: " + text_of_errno(error));
  }
}

// The pid that the owner wrote, digits only; empty while it has not yet.
std::string owner_of(int fd) {
  std::array<char, 20> text{};
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  const std::string_view all(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return std::string(all.substr(0, all.find_first_not_of("0123456789")));
}

void write_pid(int fd, const std::string& store) {
  const std::string text = std::to_string(getpid()) + "\n";
  const bool written = ftruncate(fd, 0) == 0 &&
                       pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  if (!written) throw_open_failure(store, errno);
}

}  // namespace

LockFile::LockFile(const std::string& database, const std::string& store) {
  const std::filesystem::path real = real_path_of(database) + ".lock";
  fd_ = open(real.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) throw_open_failure(store, errno);
  try {
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      if (error != EWOULDBLOCK) throw_open_failure(store, error);
      const std::string owner = owner_of(fd_);
      throw sql::Failure(Cause::busy, store + " is in use by process " +
                                          (owner.empty() ? "unknown" : owner) + ", which holds " +
                                          real.filename().string());
    }
    write_pid(fd_, store);
  } catch (...) {
    close(fd_);
    throw;
  }
}

LockFile::~LockFile() { close(fd_); }

}  // namespace holdfast::sqlite

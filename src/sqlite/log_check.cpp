#include "sqlite/log_check.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <holdfast/base/bytes.hpp>
#include <holdfast/ports/sql.hpp>
#include "sqlite/side_file.hpp"

namespace holdfast::sqlite {
namespace {

using sql::Cause;
using sql::Failure;

// https://www.sqlite.org/fileformat2.html#the_write_ahead_log
constexpr std::size_t head_size = 32;
constexpr std::size_t frame_head = 24;

std::uint32_t word(ByteView bytes, std::size_t at, bool big_endian = true) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t from = big_endian ? at + i : at + 3 - i;
    out = (out << 8) | bytes[from];
  }
  return out;
}

struct Sum {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool operator==(const Sum&) const = default;

  static Sum at(ByteView bytes, std::size_t at) { return {word(bytes, at), word(bytes, at + 4)}; }
  Sum over(ByteView bytes, bool big_endian) const {
    Sum out = *this;
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      out.first += word(bytes, at, big_endian) + out.second;
      out.second += word(bytes, at + 4, big_endian) + out.first;
    }
    return out;
  }
};

class LogFile {
 public:
  explicit LogFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~LogFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  bool is_open() const { return fd_ >= 0; }
  /// False at the end, and where it cannot be read: SQLite will say why.
  bool read(std::span<Byte> out) const {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t size = ::read(fd_, out.data() + done, out.size() - done);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return false;
      done += static_cast<std::size_t>(size);
    }
    return true;
  }

 private:
  int fd_;
};

struct Head {
  bool big_endian = false;  ///< of the words that are summed
  std::size_t page = 0;
  std::array<Byte, 8> salts{};
  Sum sum;
};

std::optional<Head> read_head(ByteView bytes) {
  constexpr std::uint32_t magic = 0x377f0682;
  Head head;
  head.big_endian = (word(bytes, 0) & 1) != 0;
  head.page = word(bytes, 8);
  std::copy_n(bytes.begin() + 16, 8, head.salts.begin());
  head.sum = Sum::at(bytes, 24);
  const bool known = (word(bytes, 0) & ~1U) == magic && head.page >= 512 && head.page <= 65'536 &&
                     (head.page & (head.page - 1)) == 0;
  if (!known || Sum{}.over(bytes.first(24), head.big_endian) != head.sum) return std::nullopt;
  return head;
}

bool is_blank(ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](Byte byte) { return byte == 0; });
}

[[noreturn]] void damaged(const std::string& store, const std::string& what) {
  throw Failure(Cause::corrupt, store + " is damaged: " + what +
                                    ", and commits that were made after it stand behind it");
}

// A frame follows another when its sum goes on from that one's: from the sum that is written there,
// or from the one that should be.
class Walk {
 public:
  Walk(const Head& head, const std::string& store)
      : head_(head), store_(store), written_(head.sum), computed_(head.sum) {}

  void take(ByteView frame) {
    ++number_;
    const bool ours = std::equal(head_.salts.begin(), head_.salts.end(), frame.begin() + 8);
    const Sum from_written = sum_of(written_, frame);
    const Sum from_computed = sum_of(computed_, frame);
    const Sum here = Sum::at(frame, 16);
    const bool follows = ours && (here == from_written || here == from_computed);
    if (bad_ == 0 && (!ours || here != from_written)) bad_ = number_;
    if (follows && bad_ != 0 && number_ > bad_ && after_commit_) {
      const std::size_t at = head_size + (bad_ - 1) * (frame_head + head_.page);
      damaged(store_, "frame " + std::to_string(bad_) + " of its log (at byte " +
                          std::to_string(at) + ") does not check");
    }
    after_commit_ = word(frame, 4) != 0;
    written_ = here;
    computed_ = from_computed;
  }

 private:
  Sum sum_of(const Sum& before, ByteView frame) const {
    return before.over(frame.first(8), head_.big_endian)
        .over(frame.subspan(frame_head), head_.big_endian);
  }

  const Head& head_;
  const std::string& store_;
  Sum written_;
  Sum computed_;
  std::size_t number_ = 0;
  std::size_t bad_ = 0;  ///< the first frame that does not check; zero: none yet
  bool after_commit_ = false;
};

}  // namespace

void refuse_other_names(const std::string& database, const std::string& store) {
  struct statx seen{};
  const std::string real = real_path_of(database);
  if (::statx(AT_FDCWD, real.c_str(), 0, STATX_NLINK, &seen) != 0) return;
  if ((seen.stx_mask & STATX_NLINK) != 0 && seen.stx_nlink > 1) {
    throw Failure(Cause::busy,
                  store + " has " + std::to_string(seen.stx_nlink) +
                      " names (hard links): its log and its lock go by its name, so under another "
                      "one it would be opened twice, or without its newest commits; remove the "
                      "others");
  }
  if ((seen.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) {
    throw Failure(Cause::busy,
                  store +
                      " is mounted as a single file: its log and its lock would not lie beside "
                      "it; mount its folder");
  }
}

void refuse_damaged_log(const std::string& database, const std::string& store) {
  const LogFile log(real_path_of(database) + "-wal");
  std::array<Byte, head_size> start{};
  if (!log.is_open() || !log.read(start)) return;
  const auto head = read_head(start);
  std::vector<Byte> frame(frame_head + (head ? head->page : 512));
  if (!head) {
    // It is synced before the first frame is written.
    if (log.read(frame) && !is_blank(frame)) damaged(store, "the head of its log does not check");
    return;
  }
  Walk walk(*head, store);
  while (log.read(frame)) walk.take(frame);
}

}  // namespace holdfast::sqlite

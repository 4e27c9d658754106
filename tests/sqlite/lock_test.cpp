// Who owns a store, seen from a second process; and what a folder that cannot be written gives.
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "sqlite/opening.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace holdfast;
using test::TempFolder;

constexpr const char* schema[] = {"CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT) STRICT"};

std::unique_ptr<sql::Connection> open(const std::string& path) {
  return sqlite::open_sqlite_with({.path = path}, schema)->open_writer();
}

// What opening says: the sentence of its failure, or "opened".
std::string said_by_opening(const std::string& path) {
  try {
    open(path);
    return "opened";
  } catch (const sql::Failure& failure) {
    return failure.what();
  }
}

// A process of its own that runs `work`, then waits to be ended.
class Child {
 public:
  explicit Child(const std::function<void()>& work) {
    int ready[2];
    int stay[2];
    REQUIRE(pipe(ready) == 0);
    REQUIRE(pipe(stay) == 0);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      close(stay[1]);
      work();
      char byte = 1;
      if (write(ready[1], &byte, 1) == 1 && read(stay[0], &byte, 1) == 0) _exit(0);
      _exit(1);
    }
    close(ready[1]);
    close(stay[0]);
    stay_ = stay[1];
    char byte = 0;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
  }
  ~Child() {
    close(stay_);
    int status = 0;
    waitpid(pid_, &status, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  int stay_ = -1;
};

}  // namespace

TEST_CASE("sqlite: a store owned by another process is refused, naming its pid") {
  const TempFolder folder;
  const std::string path = folder / "pay.db";
  {
    std::unique_ptr<sql::Connection> kept;
    const Child owner([&] { kept = open(path); });
    CHECK(said_by_opening(path) == "the store pay.db is in use by process " +
                                       std::to_string(owner.pid()) + ", which holds pay.db.lock");
  }
  CHECK(said_by_opening(path) == "opened");
  CHECK(std::filesystem::exists(path + ".lock"));
}

TEST_CASE("sqlite: a store is opened once within a process as well") {
  const TempFolder folder;
  const std::string path = folder / "pay.db";
  const auto owner = open(path);
  CHECK(said_by_opening(path) == "the store pay.db is in use by process " +
                                     std::to_string(getpid()) + ", which holds pay.db.lock");
}

TEST_CASE("sqlite: a symbolic link to a store does not go around its lock") {
  const TempFolder folder;
  const auto owner = open(folder / "pay.db");
  std::filesystem::create_symlink("pay.db", folder / "alias.db");
  CHECK(said_by_opening(folder / "alias.db").find("is in use by process") != std::string::npos);
}

TEST_CASE("sqlite: a store with a second name is not opened, by neither of them") {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "other");
  const std::string path = folder / "pay.db";
  const std::string link = folder / "other/pay.db";
  {
    const auto owner = open(path);
    std::filesystem::create_hard_link(path, link);
    CHECK(said_by_opening(link).find("the store pay.db has 2 names (hard links)") == 0);
    CHECK_THROWS_AS(sqlite::open_sqlite_with({.path = link}, schema)->open_reader(), sql::Failure);
  }
  CHECK(said_by_opening(path).find("has 2 names") != std::string::npos);
  std::filesystem::remove(link);
  CHECK(said_by_opening(path) == "opened");
}

TEST_CASE("sqlite: a folder or a file that cannot be written is told in a sentence") {
  const TempFolder folder;
  const std::string path = folder / "pay.db";
  open(path);
  const auto as_nobody = [&](const char* expected) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
      _exit(said_by_opening(path).find(expected) != std::string::npos ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  };
  chmod((folder / "pay.db.lock").c_str(), 0444);
  chmod(folder.path().c_str(), 0555);
  as_nobody("the store pay.db is read-only: its lock file cannot be written");
  chmod((folder / "pay.db.lock").c_str(), 0666);
  chmod(path.c_str(), 0444);
  as_nobody("the store pay.db is read-only: the file cannot be written");
  chmod(folder.path().c_str(), 0700);
}

TEST_CASE("sqlite: a folder that does not exist is told in a sentence") {
  const TempFolder folder;
  CHECK(said_by_opening(folder / "none/pay.db") ==
        "the store pay.db cannot be opened: its folder does not exist");
}

// In a process and a mount namespace of its own, where that is allowed.
TEST_CASE("lock: a store that is mounted as a single file is refused, for writers and readers") {
  const TempFolder folder;
  open(folder / "a.db");
  std::ofstream(folder / "b.db").flush();
  enum : int { refused = 0, opened = 1, opened_unsaid = 2, not_allowed = 77 };
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const bool alone = unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    const bool apart = alone && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    const std::string from = folder / "a.db";
    const std::string to = folder / "b.db";
    if (!apart || mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) != 0) {
      _exit(not_allowed);
    }
    const bool says_why = said_by_opening(to).find("mounted as a single file") != std::string::npos;
    int ended = says_why ? opened : opened_unsaid;
    try {
      sqlite::open_sqlite_with({.path = to}, schema)->open_reader();
    } catch (const sql::Failure&) {
      ended = says_why ? refused : opened_unsaid;
    }
    _exit(ended);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == not_allowed) {
    MESSAGE("no mount is allowed here: not tried");
    return;
  }
  CHECK(WEXITSTATUS(status) == refused);
  CHECK(said_by_opening(folder / "a.db") == "opened");
}

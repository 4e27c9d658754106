// Owns: one run of the built binary: its arguments, environment, output, exit code.
// Must never: outlive its test: what still runs is ended by its pid, and waited for.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast::test {

struct RunOptions {
  std::vector<std::string> environment = {};  ///< "NAME=value", on top of this process's own
  bool as_nobody = false;  ///< as a user who may write nothing, where this process is root
};

struct Ended {
  int code = -1;  ///< -1: by a signal
  std::string out;
  std::string err;
};

class Process {
 public:
  explicit Process(std::vector<std::string> arguments, RunOptions options = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  /// Reads stderr until it has a whole line with `text` in it, which it returns, or ends: then
  /// empty. Throws after a minute of silence.
  std::string line_with(const std::string& text);
  const std::string& err() const { return ended_.err; }
  void signal(int number) const;
  /// Reads to the end. Throws after a minute of silence.
  Ended wait();

 private:
  bool read_more();
  void reap();

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  Ended ended_;
};

/// Runs it to its end.
Ended run(std::vector<std::string> arguments, RunOptions options = {});

}  // namespace holdfast::test

// Owns: one run of `holdfast serve`, as a process of its own: started, killed, waited for, its
// output in a file. Must never: outlive its test.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::cases {

struct Ended {
  int code = -1;       ///< -1: by a signal
  int by_signal = 0;
};

/// Runs a binary to its end; stdout and stderr together go to `output` when it is given.
int run_binary(const std::string& binary, const std::vector<std::string>& arguments,
               std::string* output);

class Server {
 public:
  /// Output is appended to `log_file`; `more` of the environment: "NAME=value".
  Server(const std::string& binary, const std::string& config, const std::string& log_file,
         const std::vector<std::string>& more);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Waits until it serves: its port, or 0 when it ended or did not within `ms`.
  std::uint16_t port_within(std::int64_t ms);
  pid_t pid() const { return pid_; }
  bool running();
  void signal(int number) const;
  /// Stopped by a signal, all its threads: it sleeps until SIGCONT.
  bool asleep() const;
  /// Waits for its end; throws std::runtime_error when it lives on after `ms`.
  Ended wait(std::int64_t ms);
  /// What it printed since it was started.
  std::string output() const;

 private:
  pid_t pid_ = -1;
  std::string log_file_;
  std::size_t log_begin_ = 0;
  Ended ended_;
};

}  // namespace holdfast::cases

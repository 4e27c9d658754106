// Owns: a process beside this one that tells its lines over a pipe, and how it came to its end.
// Must never: be waited for in silence: what ends it is a sentence.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::campaign {

/// Writes all of it, or ends this process: nobody hears it any more.
void say(int out, std::string_view text);

class Child {
 public:
  /// Forks. `work` runs in the new process, says its lines to `out`, and the process ends with it.
  explicit Child(const std::function<void(int out)>& work);

  /// Lines that have come. False: the process has ended.
  bool read(const std::function<void(std::string_view line)>& take);
  /// After its end: how it ended where that was not in order; empty: it was.
  const std::string& why() const { return why_; }
  /// After its end: the signal that ended it; 0: none.
  int signal() const { return signal_; }
  /// It was ended by Ctrl-C, or as it was asked to.
  bool was_interrupted() const;
  /// Ends it now, whatever it does.
  void stop();
  int in() const { return in_; }

 private:
  pid_t pid_ = 0;
  int in_ = -1;
  std::string unread_;
  std::string why_;
  int signal_ = 0;
};

/// From now on SIGINT (Ctrl-C), SIGTERM and SIGHUP no longer end this process, unless they were
/// ignored: it is to end by itself, with a report of what was run. A child they end as ever.
void heed_interrupts();
void note_interrupt();
bool is_interrupted();

/// Until one of these has something to say, a second at most; which ones have.
std::vector<bool> wait_for_any(const std::vector<int>& ins);

}  // namespace holdfast::campaign

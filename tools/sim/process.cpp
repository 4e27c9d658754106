#include "process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include <poll.h>

#include <holdfast/base/ensure.hpp>

namespace holdfast::campaign {

namespace {

constexpr std::array<int, 3> interrupts{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int) { interrupted = 1; }

void on_interrupts(void (*then)(int)) {
  for (const int one : interrupts) {
    if (std::signal(one, then) == SIG_IGN) std::signal(one, SIG_IGN);
  }
}

std::string why_of(int status) {
  if (WIFSIGNALED(status)) {
    switch (WTERMSIG(status)) {
      case SIGALRM: return "the seed did not end in time";
      case SIGABRT: return "the engine's own ensure stopped it";
      default: return "the process ended by signal " + std::to_string(WTERMSIG(status));
    }
  }
  if (WEXITSTATUS(status) == 0) return {};
  return "the process ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

void say(int out, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(out, text.data(), text.size());
    if (wrote <= 0) _exit(1);
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

Child::Child(const std::function<void(int out)>& work) {
  std::array<int, 2> ends{};
  ensure(::pipe(ends.data()) == 0, "a pipe can be made");
  pid_ = ::fork();
  ensure(pid_ >= 0, "a process can be started");
  if (pid_ == 0) {
    ::close(ends[0]);
    on_interrupts(SIG_DFL);
    work(ends[1]);
    _exit(0);
  }
  ::close(ends[1]);
  in_ = ends[0];
}

bool Child::read(const std::function<void(std::string_view line)>& take) {
  std::array<char, 65'536> buffer{};
  const ssize_t got = ::read(in_, buffer.data(), buffer.size());
  if (got > 0) {
    unread_.append(buffer.data(), static_cast<std::size_t>(got));
    std::size_t from = 0;
    for (std::size_t end = unread_.find('\n'); end != std::string::npos;
         end = unread_.find('\n', from)) {
      take(std::string_view(unread_).substr(from, end - from));
      from = end + 1;
    }
    unread_.erase(0, from);
    return true;
  }
  ::close(in_);
  in_ = -1;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  why_ = why_of(status);
  signal_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return false;
}

bool Child::was_interrupted() const {
  return std::find(interrupts.begin(), interrupts.end(), signal_) != interrupts.end();
}

void Child::stop() {
  ::kill(pid_, SIGKILL);
  ::close(in_);
  in_ = -1;
  ::waitpid(pid_, nullptr, 0);
}

void heed_interrupts() { on_interrupts(on_interrupt); }
void note_interrupt() { interrupted = 1; }
bool is_interrupted() { return interrupted != 0; }

std::vector<bool> wait_for_any(const std::vector<int>& ins) {
  std::vector<pollfd> waiting;
  waiting.reserve(ins.size());
  for (const int in : ins) waiting.push_back({in, POLLIN, 0});
  if (::poll(waiting.data(), waiting.size(), 1'000) < 0) return std::vector<bool>(ins.size());
  std::vector<bool> out;
  out.reserve(ins.size());
  for (const pollfd& one : waiting) out.push_back(one.revents != 0);
  return out;
}

}  // namespace holdfast::campaign

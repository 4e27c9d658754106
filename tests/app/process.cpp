#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace holdfast::test {
namespace {

constexpr int patience_ms = 60'000;
constexpr uid_t nobody = 65'534;

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read = ends[0];
    write = ends[1];
  }
  int read = -1;
  int write = -1;
};

// True while there may be more.
bool read_into(int& from, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t size = ::read(from, buffer.data(), buffer.size());
  if (size > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
    return true;
  }
  ::close(from);
  from = -1;
  return false;
}

}  // namespace

Process::Process(std::vector<std::string> arguments, RunOptions options) {
  arguments.insert(arguments.begin(), "holdfast");
  for (char** one = environ; *one != nullptr; ++one) options.environment.emplace_back(*one);
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> envp = pointers_to(options.environment);
  // By descriptor: a user who may not look into the build folder can still run it.
  const int binary = ::open(HOLDFAST_BINARY, O_RDONLY | O_CLOEXEC);
  if (binary < 0) throw std::runtime_error("there is no " HOLDFAST_BINARY);
  const Pipe out;
  const Pipe err;
  const bool drop = options.as_nobody && getuid() == 0;
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("no process");
  if (pid_ == 0) {
    dup2(out.write, STDOUT_FILENO);
    dup2(err.write, STDERR_FILENO);
    if (drop && (setgid(nobody) != 0 || setuid(nobody) != 0)) _exit(125);
    fexecve(binary, argv.data(), envp.data());
    _exit(126);
  }
  ::close(binary);
  ::close(out.write);
  ::close(err.write);
  out_ = out.read;
  err_ = err.read;
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    reap();
  }
  if (out_ >= 0) ::close(out_);
  if (err_ >= 0) ::close(err_);
}

void Process::reap() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  ended_.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool Process::read_more() {
  std::array<pollfd, 2> wanted{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
  if (::poll(wanted.data(), wanted.size(), patience_ms) <= 0) {
    throw std::runtime_error("holdfast said nothing for a minute; until then: " + ended_.err);
  }
  if (wanted[0].revents != 0) read_into(out_, ended_.out);
  if (wanted[1].revents != 0) read_into(err_, ended_.err);
  return out_ >= 0 || err_ >= 0;
}

std::string Process::line_with(const std::string& text) {
  for (;;) {
    const std::size_t at = ended_.err.find(text);
    const std::size_t end = at == std::string::npos ? at : ended_.err.find('\n', at);
    if (end != std::string::npos) {
      const std::size_t before = ended_.err.rfind('\n', at);
      const std::size_t begin = before == std::string::npos ? 0 : before + 1;
      return ended_.err.substr(begin, end - begin);
    }
    if (err_ < 0 || !read_more()) return "";
  }
}

void Process::signal(int number) const { ::kill(pid_, number); }

Ended Process::wait() {
  while (out_ >= 0 || err_ >= 0) read_more();
  if (pid_ > 0) reap();
  return ended_;
}

Ended run(std::vector<std::string> arguments, RunOptions options) {
  return Process(std::move(arguments), std::move(options)).wait();
}

}  // namespace holdfast::test

#include "server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <stdexcept>

#include "support/real_time.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::cases {
namespace {

/// A child with both outputs on `out`.
pid_t spawn(const std::string& binary, std::vector<std::string> arguments,
            std::vector<std::string> environment, int out) {
  arguments.insert(arguments.begin(), "holdfast");
  for (char** one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> pointed;
    pointed.reserve(texts.size() + 1);
    for (std::string& text : texts) pointed.push_back(text.data());
    pointed.push_back(nullptr);
    return pointed;
  };
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child > 0) return child;
  // A test that crashes takes its server with it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execve(binary.c_str(), argv.data(), envp.data());
  ::_exit(127);
}

Ended ended_from(int status) {
  if (WIFEXITED(status)) return {WEXITSTATUS(status), 0};
  return {-1, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

}  // namespace

int run_binary(const std::string& binary, const std::vector<std::string>& arguments,
               std::string* output) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const pid_t child = spawn(binary, arguments, {}, ends[1]);
  ::close(ends[1]);
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    if (output != nullptr) output->append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return ended_from(status).code;
}

Server::Server(const std::string& binary, const std::string& config, const std::string& log_file,
               const std::vector<std::string>& more)
    : log_file_(log_file) {
  const int log = ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) throw std::runtime_error("no log file");
  log_begin_ = std::filesystem::file_size(log_file);
  pid_ = spawn(binary, {"serve", "--config", config}, more, log);
  ::close(log);
}

Server::~Server() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string Server::output() const {
  const std::string all = test::content_of(log_file_);
  return all.size() < log_begin_ ? all : all.substr(log_begin_);
}

std::uint16_t Server::port_within(std::int64_t ms) {
  std::uint16_t port = 0;
  test::within_ms(ms, [&] {
    const std::string said = output();
    const std::size_t at = said.find(" serving ");
    const std::size_t place = at == std::string::npos ? at : said.find("port=", at);
    if (place != std::string::npos && said.find('\n', place) != std::string::npos) {
      port = static_cast<std::uint16_t>(std::stoul(said.substr(place + 5)));
    }
    return port != 0 || !running();
  });
  return port;
}

bool Server::running() {
  if (pid_ <= 0) return false;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return true;
  ended_ = ended_from(status);
  pid_ = -1;
  return false;
}

void Server::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

// "15711 (holdfast) T …": the state follows the name.
bool Server::asleep() const {
  const std::string stat = test::content_of("/proc/" + std::to_string(pid_) + "/stat");
  const std::size_t name_ends = stat.rfind(") ");
  return name_ends != std::string::npos && stat.compare(name_ends + 2, 1, "T") == 0;
}

Ended Server::wait(std::int64_t ms) {
  if (!test::within_ms(ms, [&] { return !running(); }, 10)) {
    throw std::runtime_error("holdfast did not end in " + std::to_string(ms) + " ms: " + output());
  }
  return ended_;
}

}  // namespace holdfast::cases

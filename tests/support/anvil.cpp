#include "support/anvil.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace holdfast::test {
namespace {

namespace json = boost::json;

[[noreturn]] void fail(const std::string& sentence) { throw std::runtime_error(sentence); }

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  out.sin_port = htons(port);
  return out;
}

const sockaddr* generic(const sockaddr_in* address) {
  return reinterpret_cast<const sockaddr*>(address);
}

/// A socket that closes itself.
struct Socket {
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Socket() = default;
  ~Socket() { ::close(fd); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
};

/// Free when asked; whoever takes it in between makes anvil exit, and another is tried.
std::uint16_t free_port() {
  const Socket socket;
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(socket.fd, generic(&address), size) != 0 ||
      ::getsockname(socket.fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    fail("no free port on the loopback interface");
  }
  return ntohs(address.sin_port);
}

/// One HTTP exchange on a connection of its own; the body, or empty when there was none.
std::string ask(std::uint16_t port, const std::string& body) {
  const Socket socket;
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(socket.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const sockaddr_in address = loopback(port);
  if (::connect(socket.fd, generic(&address), sizeof address) != 0) return {};
  const std::string request =
      "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close"
      "\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  for (std::size_t sent = 0; sent < request.size();) {
    const ssize_t n = ::send(socket.fd, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return {};
    sent += static_cast<std::size_t>(n);
  }
  std::string answer;
  std::array<char, 16384> buffer{};
  for (;;) {
    const ssize_t n = ::recv(socket.fd, buffer.data(), buffer.size(), 0);
    if (n <= 0) break;
    answer.append(buffer.data(), static_cast<std::size_t>(n));
  }
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? std::string() : answer.substr(end + 4);
}

std::string word(std::uint64_t number) {
  std::string out(64, '0');
  for (std::size_t at = 64; number != 0; number >>= 4) out[--at] = "0123456789abcdef"[number & 15];
  return out;
}

std::string word_of(const std::string& address) { return std::string(24, '0') + address.substr(2); }

/// A dynamic string of the ABI: its length, its bytes, zeros up to the next word.
std::string tail_of(std::string_view text) {
  std::string out = word(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  out.resize((out.size() + 63) / 64 * 64, '0');
  return out;
}

json::value artifact(std::string_view contract) {
  const std::string path =
      HOLDFAST_SOURCE_DIR "/tools/contracts/" + std::string(contract) + ".json";
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) fail("tools/contracts/" + std::string(contract) + ".json cannot be read");
  return json::parse(text);
}

}  // namespace

std::string Anvil::binary() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets the environment while tests run
  const char* given = std::getenv("HOLDFAST_ANVIL");
  const std::string path = given != nullptr ? given
                                            : HOLDFAST_SOURCE_DIR
                               "/tools/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil";
  return ::access(path.c_str(), X_OK) == 0 ? path : std::string();
}

Anvil::Anvil(const std::vector<std::string>& arguments) {
  if (binary().empty()) fail("anvil is not installed: run tools/setup, or set HOLDFAST_ANVIL");
  for (int tries = 0; tries < 3; ++tries) {
    start(arguments);
    for (int waits = 0; waits < 400 && !ended_within(50); ++waits) {
      if (answers()) return;
    }
    stop();
  }
  fail("anvil did not start to answer");
}

Anvil::~Anvil() { stop(); }

void Anvil::start(const std::vector<std::string>& arguments) {
  port_ = free_port();
  std::vector<std::string> words{
      binary(),     "--host", "127.0.0.1",    "--port", std::to_string(port_),
      "--chain-id", "31337",  "--block-time", "1",      "--slots-in-an-epoch",
      "1"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& one : words) argv.push_back(one.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail("no process for anvil");
  if (pid_ > 0) return;
  // A test that crashes takes its node with it.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

/// Waits for its end; reaps nothing.
bool Anvil::ended_within(int ms) const {
  // By number: the wrapper in the C library of Debian 12 cannot be linked from C++.
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  pollfd wait{.fd = process, .events = POLLIN, .revents = 0};
  const bool ended = process < 0 || ::poll(&wait, 1, ms) != 0;
  if (process >= 0) ::close(process);
  return ended;
}

void Anvil::stop() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  if (!ended_within(2000)) ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

bool Anvil::answers() const {
  const std::string body =
      ask(port_, R"({"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]})");
  return body.find("0x7a69") != std::string::npos;
}

json::value Anvil::call(std::string_view method, const json::array& params) const {
  const json::object request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
  boost::system::error_code error;
  const json::value answer = json::parse(ask(port_, json::serialize(request)), error);
  if (error || !answer.is_object()) fail("anvil did not answer " + std::string(method));
  const json::value* result = answer.get_object().if_contains("result");
  if (result == nullptr) fail(std::string(method) + ": " + json::serialize(answer));
  return *result;
}

json::value Anvil::send(const std::string& from, const std::string& to, const std::string& data,
                        const std::string& value) const {
  json::object tx{{"from", from}, {"data", data}, {"value", value}};
  if (!to.empty()) tx["to"] = to;
  json::array params;
  params.emplace_back(std::move(tx));
  const json::value hash = call("eth_sendTransaction", params);
  for (int tries = 0; tries < 20; ++tries) {
    mine();
    json::value receipt = call("eth_getTransactionReceipt", json::array{hash.as_string()});
    if (receipt.is_object()) {
      if (receipt.at("status") != "0x1") fail("a transaction of the test's own reverted");
      return receipt;
    }
  }
  fail("a transaction of the test's own was not mined");
}

void Anvil::mine(unsigned blocks) const {
  for (unsigned i = 0; i < blocks; ++i) call("evm_mine");
}

std::string Anvil::deploy_token(std::string_view name, std::string_view version) const {
  const std::string first = tail_of(name);
  return deploy("HoldfastToken", word(64) + word(64 + first.size() / 2) + first + tail_of(version));
}

std::string Anvil::deploy(std::string_view contract, const std::string& arguments) const {
  const std::string code(artifact(contract).at("bytecode").as_string());
  const json::value receipt = send(dev_accounts().front().address, "", code + arguments);
  return std::string(receipt.at("contractAddress").as_string());
}

void Anvil::place(const std::string& address, std::string_view contract) const {
  call("anvil_setCode", json::array{address, artifact(contract).at("runtime")});
}

void Anvil::mint(const std::string& token, const std::string& to, std::uint64_t amount) const {
  send(dev_accounts().front().address, token,
       "0x40c10f19" + word_of(to) + word(amount));  // mint(address,uint256)
}

std::uint64_t Anvil::token_balance(const std::string& token, const std::string& account) const {
  json::array params;
  params.emplace_back(json::object{{"to", token}, {"data", "0x70a08231" + word_of(account)}});
  params.emplace_back("latest");
  const json::value answer = call("eth_call", params);
  return std::stoull(std::string(answer.as_string()).substr(2), nullptr, 16);
}

const std::vector<DevAccount>& dev_accounts() {
  // Of the mnemonic "test test test test test test test test test test test junk".
  static const std::vector<DevAccount> accounts{
      {"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
       "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"},
      {"0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
       "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"},
      {"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
       "5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"},
      {"0x90F79bf6EB2c4f870365E785982E1f101E93b906",
       "7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6"},
      {"0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
       "47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a"},
      {"0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
       "8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba"},
      {"0x976EA74026E726554dB657fA54763abd0C3a0aa9",
       "92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e"},
      {"0x14dC79964da2C08b23698B3D3cc7Ca32193d9955",
       "4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356"},
      {"0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f",
       "dbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97"},
      {"0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
       "2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6"},
  };
  return accounts;
}

}  // namespace holdfast::test

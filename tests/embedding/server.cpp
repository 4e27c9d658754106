#include "server.hpp"

#include <cstdio>
#include <sstream>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <holdfast/base/sha256.hpp>

namespace line_server {
namespace {

namespace asio = boost::asio;
namespace hf = holdfast;
using hf::engine::Engine;

constexpr std::size_t longest_line = 512;

// On the engine's executor, as everything that awaits the engine's own functions.
asio::awaitable<std::string> pay(Engine& engine, std::string line) {
  std::istringstream in(line);
  std::string verb, payee, amount, key;
  in >> verb >> payee >> amount >> key;
  const auto units = hf::U256::from_decimal(amount);
  if (key.empty() || !units) co_return "NO PAY <payee> <amount in base units> <key>";

  hf::engine::NewPayment payment;
  payment.chain = "toy:1";
  payment.method = "payout";
  payment.asset = "native";
  payment.payee = payee;
  payment.amount = *units;
  // The same key and request is the same payment, however often it is asked for.
  hf::engine::Caller caller{{"line-server"}, key, hf::sha256(hf::as_bytes(line))};
  const auto answer = co_await engine.create(std::move(caller), std::move(payment));
  if (!answer) co_return "NO " + answer.error().detail;
  co_return "OK " + hf::domain::text(answer->intent.id) + ' ' +
      std::string(hf::domain::to_text(answer->intent.state));
}

asio::awaitable<std::string> state(Engine& engine, std::string line) {
  std::istringstream in(line);
  std::string verb, id;
  in >> verb >> id;
  const auto wanted = hf::domain::intent_id_from(id);
  if (!wanted) co_return "NO STATE <intent id>";
  const auto intent = co_await engine.find(std::nullopt, *wanted);
  if (!intent) co_return "NO " + intent.error().detail;
  co_return "OK " + std::string(hf::domain::to_text(intent->state));
}

// On the connection's strand. `call` hops to the engine's executor and brings the answer back.
asio::awaitable<void> session(asio::ip::tcp::socket socket, Engine& engine) {
  std::string read;
  for (;;) {
    boost::system::error_code gone;
    const std::size_t size =
        co_await asio::async_read_until(socket, asio::dynamic_buffer(read, longest_line), '\n',
                                        asio::redirect_error(asio::use_awaitable, gone));
    if (gone) co_return;
    const std::string line = read.substr(0, size - 1);
    read.erase(0, size);
    std::string answer = "NO PAY or STATE";
    if (line.starts_with("PAY ")) {
      answer =
          co_await engine.call([&line](Engine& e) { return pay(e, line); }, asio::use_awaitable);
    } else if (line.starts_with("STATE ")) {
      answer =
          co_await engine.call([&line](Engine& e) { return state(e, line); }, asio::use_awaitable);
    }
    answer += '\n';
    co_await asio::async_write(socket, asio::buffer(answer), asio::use_awaitable);
  }
}

// A client that went away, or a store that cannot be written: the connection ends, the server and
// the payments do not.
void session_ended(const std::exception_ptr& error) {
  if (!error) return;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& what) {
    std::fprintf(stderr, "connection ended: %s\n", what.what());
  }
}

}  // namespace

asio::awaitable<void> serve(asio::ip::tcp::acceptor& acceptor, Engine& engine) {
  const auto executor = co_await asio::this_coro::executor;
  for (;;) {
    boost::system::error_code closed;
    asio::ip::tcp::socket socket =
        co_await acceptor.async_accept(asio::make_strand(acceptor.get_executor()),
                                       asio::redirect_error(asio::use_awaitable, closed));
    if (closed) co_return;
    const auto strand = socket.get_executor();
    asio::co_spawn(strand, session(std::move(socket), engine), session_ended);
  }
}

}  // namespace line_server

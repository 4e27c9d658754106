#include <holdfast/http/server.hpp>

#include <map>
#include <stdexcept>
#include <tuple>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <holdfast/base/ensure.hpp>
#include <holdfast/base/log.hpp>
#include <holdfast/ports/deadline.hpp>
#include <holdfast/ports/parking.hpp>

#include "http/api.hpp"
#include "http/session.hpp"

namespace holdfast::http {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr auto pause_after_failed_accept = std::chrono::milliseconds(100);

}  // namespace

class Server::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(asio::any_io_executor executor, engine::Engine& engine, ports::Clock& clock,
       ports::Entropy& entropy, Options options)
      : executor_(executor),
        clock_(clock),
        options_(std::move(options)),
        api_(executor, engine, clock, entropy, options_),
        acceptor_(executor),
        pause_(executor) {}

  static Awaitable<void> start(std::shared_ptr<Core> self);
  static Awaitable<std::size_t> stop(std::shared_ptr<Core> self, std::int64_t deadline_ms);
  /// For the destructor: everything ends by itself, by way of the executor.
  void drop();

  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return sessions_.size(); }

 private:
  void listen();
  static Awaitable<void> accept_all(std::shared_ptr<Core> self);
  void take(tcp::socket socket);
  void close_door();
  void ended(std::uint64_t number, const std::exception_ptr& error);
  bool is_quiet() const { return sessions_.empty() && !accepting_; }
  static Awaitable<bool> wait_until_quiet(std::shared_ptr<Core> self);

  asio::any_io_executor executor_;
  ports::Clock& clock_;
  Options options_;
  Api api_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;  ///< after a failed accept
  std::map<std::uint64_t, std::shared_ptr<Session>> sessions_;
  std::uint64_t next_session_ = 0;
  ports::WaitList quiet_;
  std::uint16_t port_ = 0;
  bool accepting_ = false;
};

Awaitable<void> Server::Core::start(std::shared_ptr<Core> self) {
  ensure(self->port_ == 0, "a server starts once");
  co_await self->api_.start();
  self->listen();
  self->accepting_ = true;
  asio::co_spawn(self->executor_, accept_all(self), [self](const std::exception_ptr& error) {
    self->accepting_ = false;
    self->quiet_.wake_all();
    if (error) log::alarm("http_accept_ended", {{"port", self->port_}});
  });
}

void Server::Core::listen() {
  error_code error;
  const auto address = asio::ip::make_address(options_.address, error);
  if (error) {
    throw std::runtime_error("'" + options_.address + "' is no IPv4 or IPv6 address to listen on");
  }
  if (!options_.require_keys && !address.is_loopback()) {
    throw std::runtime_error("without keys the server listens on a loopback address only, not on " +
                             options_.address);
  }
  const tcp::endpoint endpoint(address, options_.port);
  try {
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen(asio::socket_base::max_listen_connections);
  } catch (const boost::system::system_error& refused) {
    throw std::runtime_error("cannot listen on " + options_.address + " port " +
                             std::to_string(options_.port) + ": " + refused.code().message());
  }
  port_ = acceptor_.local_endpoint().port();
  log::info("http_listens", {{"address", options_.address}, {"port", port_}});
}

Awaitable<void> Server::Core::accept_all(std::shared_ptr<Core> self) {
  while (self->acceptor_.is_open()) {
    tcp::socket socket(self->executor_);
    error_code error;
    co_await self->acceptor_.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (!self->acceptor_.is_open()) break;
    if (!error) {
      self->take(std::move(socket));
      continue;
    }
    // Mostly: no descriptor is free. One is when a connection ends.
    log::warn("http_accept_failed", {{"why", error.message()}});
    self->pause_.expires_after(pause_after_failed_accept);
    co_await self->pause_.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }
}

void Server::Core::take(tcp::socket socket) {
  if (sessions_.size() >= options_.max_connections) {
    ++api_.metrics().connections_refused;
    turn_away(socket, clock_.wall_ms());
    return;
  }
  error_code ignored;
  std::ignore = socket.set_option(tcp::no_delay(true), ignored);
  const std::uint64_t number = ++next_session_;
  const auto session = std::make_shared<Session>(std::move(socket), api_, options_);
  sessions_.emplace(number, session);
  api_.metrics().connections = sessions_.size();
  asio::co_spawn(executor_, Session::run(session, shared_from_this()),
                 asio::bind_cancellation_slot(
                     session->signal().slot(),
                     [self = shared_from_this(), number](const std::exception_ptr& error) {
                       self->ended(number, error);
                     }));
}

void Server::Core::ended(std::uint64_t number, const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const boost::system::system_error& thrown) {
    if (thrown.code() != asio::error::operation_aborted) {
      log::alarm("http_session_bug", {{"what", thrown.code().message()}});
    }
  } catch (const std::exception& thrown) {
    log::alarm("http_session_bug", {{"what", thrown.what()}});
  }
  sessions_.erase(number);
  api_.metrics().connections = sessions_.size();
  if (is_quiet()) quiet_.wake_all();
}

void Server::Core::close_door() {
  error_code ignored;
  std::ignore = acceptor_.close(ignored);
  pause_.cancel();
  api_.stop();
}

Awaitable<bool> Server::Core::wait_until_quiet(std::shared_ptr<Core> self) {
  while (!self->is_quiet()) {
    ports::Waiter waiter;
    co_await waiter.park(self->quiet_);
  }
  co_return true;
}

Awaitable<std::size_t> Server::Core::stop(std::shared_ptr<Core> self, std::int64_t deadline_ms) {
  self->close_door();
  for (const auto& [number, session] : self->sessions_) session->finish();
  if (self->is_quiet()) co_return 0;
  if (co_await ports::with_deadline(self->clock_, deadline_ms, wait_until_quiet(self))) {
    co_return 0;
  }
  const std::size_t cut_short = self->sessions_.size();
  for (const auto& [number, session] : self->sessions_) {
    session->signal().emit(asio::cancellation_type::terminal);
  }
  co_await wait_until_quiet(self);
  co_return cut_short;
}

void Server::Core::drop() {
  close_door();
  for (const auto& [number, session] : sessions_) {
    session->finish();
    session->signal().emit(asio::cancellation_type::terminal);
  }
}

Server::Server(asio::any_io_executor executor, engine::Engine& engine, ports::Clock& clock,
               ports::Entropy& entropy, Options options)
    : core_(std::make_shared<Core>(std::move(executor), engine, clock, entropy,
                                   std::move(options))) {}

Server::~Server() { core_->drop(); }

Awaitable<void> Server::start() { return Core::start(core_); }

std::uint16_t Server::port() const { return core_->port(); }

Awaitable<std::size_t> Server::stop(std::int64_t deadline_ms) {
  return Core::stop(core_, deadline_ms);
}

std::size_t Server::connections() const { return core_->connections(); }

}  // namespace holdfast::http

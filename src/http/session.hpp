// Owns: one connection: its requests in order, their time-outs, its end.
// Must never: know a route; keep a body nobody was allowed to send; close while the client still
// sends, without having tried to let it read why.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <holdfast/http/server.hpp>

#include "http/api.hpp"

namespace holdfast::http {

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::ip::tcp::socket socket, Api& api, const Options& options);

  /// Serves until the connection ends. `owner` keeps the api and the options alive.
  static boost::asio::awaitable<void> run(std::shared_ptr<Session> self,
                                          std::shared_ptr<void> owner);
  /// The request in progress is the last; an idle connection closes now.
  void finish();
  /// The cancellation of `run`.
  boost::asio::cancellation_signal& signal() { return signal_; }

 private:
  using Time = boost::asio::steady_timer::time_point;
  struct Reader;

  /// False: the connection ends without a word.
  boost::asio::awaitable<bool> wait_for_bytes(Reader& reader);
  /// One request and its answer; false: no more on this connection.
  boost::asio::awaitable<bool> serve(Reader& reader);
  boost::asio::awaitable<bool> read_body(Reader& reader, Exchange& exchange);
  boost::asio::awaitable<bool> deliver(Reader& reader, const Exchange& exchange,
                                       const Response& response, bool keep_alive);
  boost::asio::awaitable<void> refuse_unread(Reader& reader, const Exchange& exchange,
                                             boost::system::error_code error);
  boost::asio::awaitable<bool> write(std::string bytes);
  bool peer_is_gone();
  /// Reads and forgets for a moment, so that the client is not reset before it read the answer.
  boost::asio::awaitable<void> linger();

  /// From now on reads and writes end after `ms`; `late_` is then set. One timer runs on from
  /// request to request and looks at the time when it fires: a request moves the time four times.
  void arm(std::int64_t ms);
  void disarm();
  void watch_until(Time until);
  void close();

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer ends_;  ///< only its expiry: what goes on now must be done by then
  boost::asio::steady_timer timer_;
  boost::asio::cancellation_signal signal_;
  Api& api_;
  const Options& options_;
  bool armed_ = false;
  std::optional<Time> watched_until_;  ///< when the timer fires; while armed never after `ends_`
  bool late_ = false;
  bool may_close_ = false;  ///< idle or lingering: nobody waits for an answer
  bool last_ = false;
};

/// To a connection over the cap: one answer without reading anything, and closed.
void turn_away(boost::asio::ip::tcp::socket& socket, std::int64_t wall_ms);

}  // namespace holdfast::http

// Owns: what the calls of one endpoint share: the queue, the batches under way, the pool, the pause
// an endpoint asked for. Kept alive by its own coroutines, so the client may go before them.
// Must never: touch a caller's frame but through the map of calls, from which a frame takes itself
// out when it goes.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <holdfast/ports/clock.hpp>
#include <holdfast/ports/outcome.hpp>
#include <holdfast/ports/parking.hpp>

#include "evm/http_rpc.hpp"
#include "evm/http_rpc_connection.hpp"
#include "evm/http_rpc_endpoint.hpp"
#include "evm/http_rpc_hosts.hpp"
#include "evm/http_rpc_pace.hpp"

namespace holdfast::evm {

class HttpRpc::Core : public std::enable_shared_from_this<Core> {
 public:
  using Outcome = ports::Outcome<boost::json::value>;

  Core(boost::asio::any_io_executor executor, ports::Clock& clock, HttpRpcOptions options,
       Endpoint endpoint, std::unique_ptr<boost::asio::ssl::context> tls);

  static boost::asio::awaitable<Outcome> call(std::shared_ptr<Core> self, std::string method,
                                              boost::json::array params);
  void close();

  const Endpoint& endpoint() const { return endpoint_; }
  const HttpRpcCounters& counters() const { return counters_; }
  std::int64_t held_back_ms() const {
    return std::max<std::int64_t>(paused_until_ms_ - clock_.mono_ms(), 0);
  }

 private:
  /// A caller's place; lives in its frame.
  struct Caller {
    Caller(std::shared_ptr<Core> owner, std::uint64_t call);
    ~Caller();
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    std::shared_ptr<Core> core;
    std::uint64_t id;
    ports::Waiter waiter;
    std::optional<Outcome> outcome;
  };
  /// A call that waits for a request to go with.
  struct Queued {
    std::uint64_t id = 0;
    std::string text;
    std::int64_t since_ms = 0;
    bool was_sent = false;  ///< in a batch the node refused as such
  };
  using Batch = std::vector<Queued>;
  /// How an exchange ended: an answer, or one ending for all its calls.
  using Reply = std::variant<HttpAnswer, ports::NotSent, ports::Unknown>;

  // http_rpc.cpp: callers, queue, pause
  std::optional<Outcome> refuse_now(const std::string& text) const;
  void pump_soon();
  /// Starts as many exchanges as there are calls and connections for.
  void pump();
  void expire_queued();
  Batch take_batch();
  void put_back(Batch batch);
  void start(Batch batch);
  void exchange_ended(std::uint64_t number);
  void wake_later(std::int64_t ms);
  void answer(std::uint64_t id, Outcome outcome);
  void answer_all(const Batch& batch, const Outcome& outcome);
  void pause(std::optional<std::int64_t> asked_ms);
  void note_health(const std::string& trouble);

  // http_rpc_exchange.cpp: one batch to the node and back
  static boost::asio::awaitable<void> run(std::shared_ptr<Core> self, Batch batch);
  static boost::asio::awaitable<Reply> exchange(std::shared_ptr<Core> self, std::string request);
  static boost::asio::awaitable<ExchangeEnd> attempt(std::shared_ptr<Core> self,
                                                     const std::string& request,
                                                     ExchangeProgress& progress);
  static boost::asio::awaitable<std::unique_ptr<HttpConnection>> connect(std::shared_ptr<Core> self,
                                                                         ExchangeProgress& progress,
                                                                         std::string& trouble);
  std::unique_ptr<HttpConnection> take_idle();
  void keep_idle(std::unique_ptr<HttpConnection> connection);
  void digest(Batch batch, Reply reply);
  void digest_answer(Batch batch, HttpAnswer reply);

  boost::asio::any_io_executor executor_;
  ports::Clock& clock_;
  HttpRpcOptions options_;
  Endpoint endpoint_;
  std::unique_ptr<boost::asio::ssl::context> tls_;
  std::shared_ptr<HostAddresses> hosts_;
  HttpRpcCounters counters_;
  bool closed_ = false;

  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, Caller*> callers_;
  ports::WaitList waiting_;
  std::deque<Queued> queue_;
  Pace pace_;
  bool pump_posted_ = false;
  std::size_t batch_calls_;  ///< as many as the node is known to take

  std::uint64_t next_exchange_ = 1;
  /// Exchanges under way, and how to end each.
  std::map<std::uint64_t, std::shared_ptr<boost::asio::cancellation_signal>> exchanges_;
  std::vector<std::unique_ptr<HttpConnection>> idle_;

  std::int64_t paused_until_ms_ = 0;
  int pauses_in_a_row_ = 0;
  std::unique_ptr<ports::Alarm> waker_;  ///< the next pump, when nothing else brings it
  std::int64_t waker_at_ms_ = 0;
  bool healthy_ = true;
};

}  // namespace holdfast::evm

#include "evm/http_rpc.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_category.hpp>
#include <boost/system/system_error.hpp>

#include <holdfast/base/log.hpp>

#include "evm/http_rpc_batch.hpp"
#include "evm/http_rpc_core.hpp"

namespace holdfast::evm {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

constexpr std::int64_t longest_pause_ms = 30'000;
constexpr std::int64_t first_pause_ms = 250;
constexpr int most_doublings = 7;  // 32 s, cut to the longest pause

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "holdfast.evm.rpc"; }
  std::string message(int value) const override {
    switch (static_cast<RpcError>(value)) {
      case RpcError::bad_url: return "not an RPC URL";
      case RpcError::bad_ca_file: return "not a file of certificates";
      case RpcError::bad_limit: return "a limit out of its range";
    }
    return "an unknown RPC error";
  }
};

/// What is left is a broken environment, and whoever runs the executor must hear of it.
void rethrow_unless_cancelled(const std::exception_ptr& failure) {
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    if (error.code() != asio::error::operation_aborted) throw;
  }
}

Result<void> check_limits(const HttpRpcOptions& options) {
  const auto in_range = [](auto value, auto low, auto high) {
    return value >= low && value <= high;
  };
  const char* wrong = nullptr;
  if (!in_range(options.deadline_ms, 1, 600'000)) wrong = "the RPC deadline is 1 to 600000 ms";
  if (!in_range(options.max_connections, 1U, 256U)) wrong = "RPC connections are 1 to 256";
  if (!in_range(options.max_batch_calls, 1U, 10'000U)) wrong = "a batch has 1 to 10000 calls";
  if (options.max_batch_bytes == 0 || options.max_call_bytes == 0 ||
      options.max_answer_bytes == 0 || options.max_waiting_calls == 0) {
    wrong = "an RPC limit of zero lets nothing through";
  }
  if (wrong != nullptr) return refuse(RpcError::bad_limit, wrong);
  return {};
}

}  // namespace

boost::system::error_code make_error_code(RpcError error) {
  static const Category category;
  return {static_cast<int>(error), category};
}

// --- the client -------------------------------------------------------------------------------

Result<std::unique_ptr<HttpRpc>> HttpRpc::open(asio::any_io_executor executor, ports::Clock& clock,
                                               HttpRpcOptions options) {
  if (const auto checked = check_limits(options); !checked) return checked.error();
  auto endpoint = parse_endpoint(options.url);
  if (!endpoint) return endpoint.error();
  std::unique_ptr<asio::ssl::context> tls;
  if (endpoint->tls) {
    auto made = client_tls(options.verify_tls, options.ca_file);
    if (!made) return made.error();
    tls = std::move(*made);
  }
  options.url.clear();  // from here on nobody needs it whole
  auto core = std::make_shared<Core>(std::move(executor), clock, std::move(options),
                                     std::move(*endpoint), std::move(tls));
  return std::unique_ptr<HttpRpc>(new HttpRpc(std::move(core)));
}

HttpRpc::HttpRpc(std::shared_ptr<Core> core) : core_(std::move(core)) {}
HttpRpc::~HttpRpc() { core_->close(); }

asio::awaitable<ports::Outcome<json::value>> HttpRpc::call(std::string method, json::array params) {
  return Core::call(core_, std::move(method), std::move(params));
}

void HttpRpc::close() { core_->close(); }
const HttpRpcCounters& HttpRpc::counters() const { return core_->counters(); }
const std::string& HttpRpc::name() const { return core_->endpoint().shown; }
std::int64_t HttpRpc::held_back_ms() const { return core_->held_back_ms(); }

// --- callers ----------------------------------------------------------------------------------

HttpRpc::Core::Core(asio::any_io_executor executor, ports::Clock& clock, HttpRpcOptions options,
                    Endpoint endpoint, std::unique_ptr<asio::ssl::context> tls)
    : executor_(std::move(executor)),
      clock_(clock),
      options_(std::move(options)),
      endpoint_(std::move(endpoint)),
      tls_(std::move(tls)),
      hosts_(std::make_shared<HostAddresses>(executor_, clock_, endpoint_.host, endpoint_.port,
                                             options_.lookup)),
      batch_calls_(options_.max_batch_calls) {}

HttpRpc::Core::Caller::Caller(std::shared_ptr<Core> owner, std::uint64_t call)
    : core(std::move(owner)), id(call) {
  core->callers_.emplace(id, this);
}
HttpRpc::Core::Caller::~Caller() { core->callers_.erase(id); }

asio::awaitable<HttpRpc::Core::Outcome> HttpRpc::Core::call(std::shared_ptr<Core> self,
                                                            std::string method,
                                                            json::array params) {
  ++self->counters_.calls;
  const std::uint64_t id = self->next_id_++;
  std::string text = call_text(id, method, params);
  params.clear();
  if (auto refused = self->refuse_now(text)) {
    ++self->counters_.errors;
    co_return std::move(*refused);
  }
  Caller caller(self, id);
  self->pace_.called(self->clock_.mono_ms());
  self->queue_.push_back({id, std::move(text), self->clock_.mono_ms(), false});
  self->pump_soon();
  co_await caller.waiter.park(self->waiting_);
  co_return std::move(*caller.outcome);
}

std::optional<HttpRpc::Core::Outcome> HttpRpc::Core::refuse_now(const std::string& text) const {
  if (closed_) return ports::NotSent{"the RPC client is closed"};
  if (text.size() > options_.max_call_bytes) {
    return ports::NotSent{"the call is larger than " + std::to_string(options_.max_call_bytes) +
                          " bytes"};
  }
  if (queue_.size() >= options_.max_waiting_calls) {
    return ports::NotSent{"more than " + std::to_string(options_.max_waiting_calls) +
                          " calls wait for " + endpoint_.shown};
  }
  return std::nullopt;
}

void HttpRpc::Core::answer(std::uint64_t id, Outcome outcome) {
  if (outcome.not_sent() != nullptr || outcome.unknown() != nullptr) ++counters_.errors;
  const auto found = callers_.find(id);
  if (found == callers_.end()) return;  // the caller has gone
  found->second->outcome = std::move(outcome);
  found->second->waiter.wake();
}

void HttpRpc::Core::answer_all(const Batch& batch, const Outcome& outcome) {
  for (const Queued& call : batch) answer(call.id, outcome);
}

void HttpRpc::Core::close() {
  if (closed_) return;
  closed_ = true;
  const auto keep = shared_from_this();  // the last frame to go may hold the last reference
  queue_.clear();
  callers_.clear();
  idle_.clear();
  const auto exchanges = exchanges_;  // ending one takes it out of the map
  for (const auto& [number, signal] : exchanges) signal->emit(asio::cancellation_type::terminal);
  waker_.reset();
  hosts_->abandon();
  waiting_.abandon();
}

// --- the queue --------------------------------------------------------------------------------

void HttpRpc::Core::pump_soon() {
  if (pump_posted_) return;
  pump_posted_ = true;
  // Behind everything that is ready now: what is asked in this turn goes out together.
  asio::post(executor_, [self = weak_from_this()] {
    const auto alive = self.lock();
    if (!alive) return;
    alive->pump_posted_ = false;
    alive->pump();
  });
}

void HttpRpc::Core::pump() {
  if (closed_) return;
  expire_queued();
  while (!queue_.empty() && exchanges_.size() < options_.max_connections) {
    const std::int64_t now_ms = clock_.mono_ms();
    if (now_ms < paused_until_ms_) {
      const std::int64_t oldest_ends_ms = queue_.front().since_ms + options_.deadline_ms;
      wake_later(std::min(paused_until_ms_, oldest_ends_ms) - now_ms);
      return;
    }
    if (const auto wait_ms = pace_.wait_ms(now_ms, queue_.size(), batch_calls_); wait_ms > 0) {
      wake_later(wait_ms);
      return;
    }
    Batch batch = take_batch();
    if (batch.empty()) continue;
    pace_.sent(now_ms);
    start(std::move(batch));
  }
}

/// Calls that waited for longer than a deadline. In order of arrival, so the oldest are in front.
void HttpRpc::Core::expire_queued() {
  const std::int64_t now_ms = clock_.mono_ms();
  while (!queue_.empty() && now_ms - queue_.front().since_ms >= options_.deadline_ms) {
    const Queued call = std::move(queue_.front());
    queue_.pop_front();
    const std::string reason =
        (now_ms < paused_until_ms_ ? "held back, as asked for by " : "no free connection to ") +
        endpoint_.shown + " within " + std::to_string(options_.deadline_ms) + " ms";
    if (call.was_sent) {
      answer(call.id, ports::Unknown{reason, false});
    } else {
      answer(call.id, ports::NotSent{reason});
    }
  }
}

HttpRpc::Core::Batch HttpRpc::Core::take_batch() {
  Batch batch;
  std::size_t bytes = 2;
  while (!queue_.empty() && batch.size() < batch_calls_) {
    Queued& next = queue_.front();
    const auto caller = callers_.find(next.id);
    if (caller == callers_.end() ||
        !caller->second->waiter.parked()) {  // cancelled before its turn
      queue_.pop_front();
      continue;
    }
    bytes += next.text.size() + 1;
    if (!batch.empty() && bytes > options_.max_batch_bytes) break;
    batch.push_back(std::move(next));
    queue_.pop_front();
  }
  return batch;
}

void HttpRpc::Core::put_back(Batch batch) {
  for (auto call = batch.rbegin(); call != batch.rend(); ++call) {
    call->since_ms = clock_.mono_ms();
    call->was_sent = true;
    queue_.push_front(std::move(*call));
  }
}

void HttpRpc::Core::start(Batch batch) {
  const std::uint64_t number = next_exchange_++;
  auto signal = std::make_shared<asio::cancellation_signal>();
  exchanges_.emplace(number, signal);
  // `run` answers its calls whatever happens, and holds this core; nothing is left to be joined.
  asio::co_spawn(executor_, run(shared_from_this(), std::move(batch)),
                 asio::bind_cancellation_slot(signal->slot(), [self = shared_from_this(), number,
                                                               signal](std::exception_ptr failure) {
                   rethrow_unless_cancelled(failure);
                   self->exchange_ended(number);
                 }));
}

void HttpRpc::Core::exchange_ended(std::uint64_t number) {
  exchanges_.erase(number);
  pump();
}

void HttpRpc::Core::wake_later(std::int64_t ms) {
  const std::int64_t at_ms = clock_.mono_ms() + ms;
  if (waker_ && waker_at_ms_ <= at_ms) return;  // it looks again when it wakes
  waker_at_ms_ = at_ms;
  waker_ = clock_.alarm(executor_, ms, [self = weak_from_this()] {
    const auto alive = self.lock();
    if (!alive) return;
    alive->waker_.reset();
    alive->pump();
  });
}

// --- what the endpoint asks of us -------------------------------------------------------------

void HttpRpc::Core::pause(std::optional<std::int64_t> asked_ms) {
  ++counters_.rate_limited;
  // Calls that were under way when the pause began say the same thing once more: were each a step
  // of its own, one burst would be followed by the longest pause.
  if (!asked_ms && clock_.mono_ms() < paused_until_ms_) return;
  std::int64_t ms = asked_ms.value_or(first_pause_ms << std::min(pauses_in_a_row_, most_doublings));
  // An endpoint that says "at once" and means it not would be asked without a pause.
  ms = std::clamp<std::int64_t>(ms, first_pause_ms, longest_pause_ms);
  ++pauses_in_a_row_;
  paused_until_ms_ = std::max(paused_until_ms_, clock_.mono_ms() + ms);
}

/// Logs the change and not each exchange: an endpoint that is down would fill the log.
void HttpRpc::Core::note_health(const std::string& trouble) {
  if (trouble.empty() == healthy_) return;
  healthy_ = trouble.empty();
  if (healthy_) {
    log::info("rpc_answers_again", {{"endpoint", endpoint_.shown}});
  } else {
    log::warn("rpc_trouble", {{"endpoint", endpoint_.shown}, {"reason", trouble}});
  }
}

}  // namespace holdfast::evm

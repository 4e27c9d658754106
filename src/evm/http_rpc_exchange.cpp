// One batch to the node and back: connections, the deadline, and what an answer means for each
// call.
#include <algorithm>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <holdfast/base/log.hpp>
#include <holdfast/ports/deadline.hpp>

#include "evm/http_rpc_batch.hpp"
#include "evm/http_rpc_core.hpp"

namespace holdfast::evm {

namespace asio = boost::asio;

namespace {

bool asks_for_fewer_calls(const HttpAnswer& answer) {
  return answer.status == 429 || answer.status == 402 ||
         (answer.status == 503 && answer.retry_after.has_value());
}

std::string http_words(unsigned status) { return "HTTP " + std::to_string(status); }

std::size_t count_limited(const BatchAnswer& read) {
  std::size_t count = 0;
  for (const auto& outcome : read.outcomes) {
    const auto* unknown = outcome.unknown();
    if (unknown != nullptr && unknown->rate_limited) ++count;
  }
  return count;
}

}  // namespace

asio::awaitable<void> HttpRpc::Core::run(std::shared_ptr<Core> self, Batch batch) {
  std::vector<std::string_view> texts;
  texts.reserve(batch.size());
  for (const Queued& call : batch) texts.push_back(call.text);
  std::string request = http_request(self->endpoint_, body_of(texts));
  Reply reply;
  try {
    reply = co_await exchange(self, std::move(request));
  } catch (const boost::system::system_error& error) {
    // Only `close` cancels an exchange, and it has dropped the callers.
    if (error.code() == asio::error::operation_aborted) throw;
    reply = ports::Unknown{"the exchange failed: " + error.code().message(), false};
  }
  if (!self->closed_) self->digest(std::move(batch), std::move(reply));
}

asio::awaitable<HttpRpc::Core::Reply> HttpRpc::Core::exchange(std::shared_ptr<Core> self,
                                                              std::string request) {
  ExchangeProgress progress;
  auto end = co_await ports::with_deadline(self->clock_, self->options_.deadline_ms,
                                           attempt(self, request, progress));
  self->counters_.bytes_sent += progress.bytes_sent;
  self->counters_.bytes_received += progress.bytes_received;
  if (end && end->answer) co_return std::move(*end->answer);
  std::string what;
  if (end) {
    what = std::move(end->trouble);
  } else {
    what =
        "no answer within " + std::to_string(self->options_.deadline_ms) + " ms, " + progress.doing;
  }
  if (!progress.request_begun) co_return ports::NotSent{std::move(what)};
  co_return ports::Unknown{std::move(what), false};
}

asio::awaitable<ExchangeEnd> HttpRpc::Core::attempt(std::shared_ptr<Core> self,
                                                    const std::string& request,
                                                    ExchangeProgress& progress) {
  auto connection = self->take_idle();
  while (true) {
    const bool reused = connection != nullptr;
    if (!reused) {
      ExchangeEnd none;
      connection = co_await connect(self, progress, none.trouble);
      if (!connection) co_return none;
    }
    ++self->counters_.requests;
    auto end = co_await connection->exchange(request, self->options_.max_answer_bytes, progress);
    if (end.answer) {
      if (end.answer->keep_alive) self->keep_idle(std::move(connection));
      co_return end;
    }
    connection.reset();
    // A server may close an idle connection in the moment it is used again, so no byte of an answer
    // says nothing about the endpoint. The same bytes are sent once more, on a new connection. That
    // is safe because every call here is safe to repeat: reads are, and the same signed bytes
    // posted twice are one transaction. It does not make the first request unsent: should the
    // second one fail to connect, the calls are unknown all the same (`request_begun` never goes
    // back).
    if (!reused || progress.bytes_received > 0) co_return end;
    ++self->counters_.repeats;
  }
}

asio::awaitable<std::unique_ptr<HttpConnection>> HttpRpc::Core::connect(std::shared_ptr<Core> self,
                                                                        ExchangeProgress& progress,
                                                                        std::string& trouble) {
  progress.doing = "waiting for the host's address";
  const auto addresses = co_await HostAddresses::get(self->hosts_);
  if (addresses.empty()) {
    trouble = "the host's name has no address";
    co_return nullptr;
  }
  progress.doing = "connecting";
  for (const auto& address : addresses) {
    // Counts as failed until it has answered: a deadline that ends this frame in mid-connect must
    // not make the next exchange wait for the same dead address.
    self->hosts_->failed(address);
    auto connection = co_await HttpConnection::open(self->executor_, self->tls_.get(),
                                                    self->endpoint_, address, trouble);
    if (!connection) continue;
    self->hosts_->worked(address);
    ++self->counters_.connections;
    co_return connection;
  }
  co_return nullptr;
}

std::unique_ptr<HttpConnection> HttpRpc::Core::take_idle() {
  while (!idle_.empty()) {
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->quiet()) return connection;
  }
  return nullptr;
}

void HttpRpc::Core::keep_idle(std::unique_ptr<HttpConnection> connection) {
  if (!closed_) idle_.push_back(std::move(connection));
}

void HttpRpc::Core::digest(Batch batch, Reply reply) {
  if (auto* answer = std::get_if<HttpAnswer>(&reply)) {
    return digest_answer(std::move(batch), std::move(*answer));
  }
  const auto* unsent = std::get_if<ports::NotSent>(&reply);
  const std::string what =
      unsent != nullptr ? unsent->reason : std::get<ports::Unknown>(reply).reason;
  note_health(what);
  const std::string reason = endpoint_.shown + ": " + what;
  for (const Queued& call : batch) {
    if (unsent != nullptr && !call.was_sent) {
      this->answer(call.id, ports::NotSent{reason});
    } else {
      this->answer(call.id, ports::Unknown{reason, false});
    }
  }
}

void HttpRpc::Core::digest_answer(Batch batch, HttpAnswer reply) {
  const std::string where = endpoint_.shown + ": " + http_words(reply.status);
  if (asks_for_fewer_calls(reply)) {
    pause(reply.retry_after ? retry_after_ms(*reply.retry_after, clock_.wall_ms()) : std::nullopt);
    answer_all(batch, ports::Unknown{where + ", the endpoint asks for fewer calls", true});
    return;
  }
  // A body under 5xx may come from a proxy that gave up on a node which did not. Redirects are not
  // followed: they would take the credentials elsewhere.
  if (reply.status >= 500 || reply.status < 200 || reply.status / 100 == 3) {
    note_health(http_words(reply.status));
    answer_all(batch, ports::Unknown{where, false});
    return;
  }
  std::vector<std::uint64_t> ids;
  ids.reserve(batch.size());
  for (const Queued& call : batch) ids.push_back(call.id);
  BatchAnswer read = reply.status == 413 && batch.size() > 1
                         ? BatchAnswer{BatchAnswer::Verdict::batch_too_large, {}}
                         : read_answer(ids, reply.body, endpoint_.secrets);
  if (read.verdict != BatchAnswer::Verdict::read) {
    // From now on, for this endpoint: asking for what it has refused would cost a trip each time.
    const bool too_large = read.verdict == BatchAnswer::Verdict::batch_too_large;
    batch_calls_ = std::min(batch_calls_, too_large ? (batch.size() + 1) / 2 : 1);
    log::warn("rpc_batches_limited", {{"endpoint", endpoint_.shown}, {"calls", batch_calls_}});
    put_back(std::move(batch));
    return;
  }
  note_health(reply.status >= 400 ? http_words(reply.status) : std::string());
  if (count_limited(read) > 0) {
    pause(std::nullopt);
  } else {
    pauses_in_a_row_ = 0;
  }
  for (std::size_t at = 0; at < batch.size(); ++at) {
    const auto* unknown = read.outcomes[at].unknown();
    if (unknown == nullptr) {
      this->answer(batch[at].id, std::move(read.outcomes[at]));
    } else {
      this->answer(batch[at].id, ports::Unknown{where + ", " + unknown->reason,
                                                unknown->rate_limited, unknown->answered});
    }
  }
}

}  // namespace holdfast::evm

#include "target.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace holdfast::load {

namespace {

using boost::asio::awaitable;
namespace json = boost::json;

constexpr std::uint64_t most_lines = 64;
constexpr std::int64_t look_every_us = 250'000;
constexpr std::int64_t stalled_after_us = 180'000'000;
constexpr std::int64_t turn_ms = 2;
constexpr std::int64_t count_every_ms = 20;
constexpr std::uint64_t sampled = 64;  ///< each costs a connection of its own
constexpr std::size_t listed_at_once = 200;

template <class Clock>
std::int64_t us_now() {
  const auto now = Clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}
std::int64_t now_us() { return us_now<std::chrono::steady_clock>(); }

void rethrow(const std::exception_ptr& error) {
  if (error) std::rethrow_exception(error);
}

std::string token_of(const Options& options) {
  if (options.token_env.empty()) return {};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  const char* const token = std::getenv(options.token_env.c_str());
  if (token == nullptr || *token == '\0') {
    throw tools::UsageError("--token-env: the variable " + options.token_env + " is not set");
  }
  return token;
}

json::object object_of(const HttpAnswer& answer, const std::string& what) {
  boost::system::error_code error;
  json::value value = json::parse(answer.body, error);
  if (answer.status >= 300 || error || !value.is_object()) {
    throw std::runtime_error("the server answers " + std::to_string(answer.status) + " to " + what +
                             ": " + answer.body.substr(0, 200));
  }
  return std::move(value.get_object());
}

std::string text_of(const json::object& object, const char* key) {
  const json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string{};
}

domain::Ref ref_of(const json::object& payment) {
  const auto ref = domain::Ref::from_text(text_of(payment, "ref"));
  if (!ref) throw std::runtime_error("the server names no ref of a payment");
  return *ref;
}

domain::Validity window_of(const json::object& payment) {
  const json::value* const found = payment.if_contains("validity");
  if (found == nullptr || !found->is_object()) {
    throw std::runtime_error("the server names no window for a signature");
  }
  const json::object& window = found->get_object();
  return {window.at("after").to_number<std::int64_t>(),
          window.at("before").to_number<std::int64_t>()};
}

bool is_turned_away(const HttpAnswer& answer) {
  return answer.status == 429 || answer.status == 503;
}

Head head_of_hex(const std::string& hex) {
  const auto bytes = from_hex(hex);
  return bytes ? head_of(*bytes) : 0;
}

}  // namespace

EndedCounts ended_counts(std::string_view metrics) {
  const auto number_of = [&](std::string_view name) -> std::uint64_t {
    const std::string wanted = '\n' + std::string(name) + ' ';
    const std::size_t at = metrics.find(wanted);
    if (at == std::string_view::npos) return 0;
    double out = 0;
    const char* const from = metrics.data() + at + wanted.size();
    std::from_chars(from, metrics.data() + metrics.size(), out);
    return static_cast<std::uint64_t>(out);
  };
  EndedCounts out;
  out.settled = number_of("holdfast_payments_settled_total");
  out.ended = out.settled + number_of("holdfast_payments_failed_total") +
              number_of("holdfast_payments_canceled_total") +
              number_of("holdfast_payments_reviewed_total");
  return out;
}

TargetDrive::TargetDrive(boost::asio::io_context& context, const Options& options, Shown show)
    : context_(context),
      options_(options),
      plan_(options),
      show_(std::move(show)),
      place_(place_of(options.target)),
      token_(token_of(options)),
      run_("load/" + std::to_string(us_now<std::chrono::system_clock>())),
      watch_(context.get_executor(), place_, token_) {}

bool TargetDrive::is_over() const {
  const std::int64_t run_us = now_us() - start_us_;
  const auto most_us = static_cast<std::int64_t>(options_.duration_s) * 1'000'000;
  return submitted_ == options_.payments || out_.stalled || (most_us > 0 && run_us >= most_us);
}

bool TargetDrive::may_submit() const {
  const std::uint64_t ended = now_.ended - before_.ended + out_.refused;
  if (submitted_ - std::min(submitted_, ended) >= options_.in_flight) return false;
  if (options_.rate == 0) return true;
  const double due =
      static_cast<double>(now_us() - start_us_) / 1e6 * static_cast<double>(options_.rate);
  return static_cast<double>(submitted_) <= due;
}

awaitable<void> TargetDrive::pause(std::int64_t ms) const {
  boost::asio::steady_timer timer(context_, std::chrono::milliseconds(ms));
  co_await timer.async_wait(boost::asio::use_awaitable);
}

awaitable<void> TargetDrive::line() {
  ++lines_;
  HttpLine line(context_.get_executor(), place_, token_);
  while (!is_over()) {
    if (may_submit()) {
      co_await submit(line, submitted_++);
    } else {
      // Without a rate there is room again only when some have ended, which is counted so often.
      co_await pause(options_.rate == 0 ? count_every_ms : turn_ms);
    }
  }
  --lines_;
}

// Names, addresses and numbers: nothing in them needs an escape.
std::string TargetDrive::creation(std::uint64_t number) const {
  const engine::NewPayment payment = plan_.payment(number);
  std::string out = "{\"chain\":\"" + payment.chain;
  out.append("\",\"method\":\"").append(payment.method);
  out.append("\",\"asset\":\"").append(payment.asset);
  if (!payment.payer.empty()) out.append("\",\"payer\":\"").append(payment.payer);
  out.append("\",\"payee\":\"").append(payment.payee);
  out.append("\",\"amount\":\"").append(payment.amount.decimal());
  return out + "\"}";
}

awaitable<void> TargetDrive::submit(HttpLine& line, std::uint64_t number) {
  const std::string key = run_ + '/' + std::to_string(number);
  HttpAnswer answer = co_await line.post("/v1/payment_intents", key, creation(number));
  if (is_turned_away(answer)) {
    ++out_.refused;
    co_return;
  }
  const json::object made = object_of(answer, "a payment");
  if (plan_.is_signed()) {
    const Bytes signature = plan_.signature(number, window_of(made), ref_of(made));
    std::string target = "/v1/payment_intents/";
    target.append(text_of(made, "id")).append("/authorize");
    answer =
        co_await line.post(target, key + "/signed", "{\"signature\":\"" + to_0x(signature) + "\"}");
    if (is_turned_away(answer)) {
      ++out_.refused;
      co_return;
    }
    (void)object_of(answer, "a signature");
  }
  const std::int64_t accepted_us = now_us();
  out_.owed.push_back({head_of_hex(text_of(made, "ref")), head_of_hex(text_of(made, "payee")),
                       number + 1, accepted_us});
  if (number % sampled == 0) {
    ++following_;
    boost::asio::co_spawn(context_, follow(text_of(made, "id"), accepted_us), rethrow);
  }
}

// The longest wait that the server allows may end before the payment does: asked again.
awaitable<void> TargetDrive::follow(std::string id, std::int64_t accepted_us) {
  HttpLine line(context_.get_executor(), place_, token_);
  bool confirmed = false;
  while (!out_.stalled) {
    const std::string level = confirmed ? "settled" : "confirming";
    std::string target = "/v1/payment_intents/";
    target.append(id).append("?wait=").append(level).append(
        "&timeout_s=20");  // less than a line's patience
    const HttpAnswer answer = co_await line.get(std::move(target));
    const std::string state = text_of(object_of(answer, "a look at a payment"), "state");
    const bool settled = state == "settled";
    if (!confirmed && (settled || state == "confirming")) {
      confirmed = true;
      out_.confirming.add(now_us() - accepted_us);
    }
    if (settled) out_.settled.add(now_us() - accepted_us);
    if (settled || state == "failed" || state == "canceled" || state == "needs_review") break;
  }
  --following_;
}

awaitable<EndedCounts> TargetDrive::counts() {
  const HttpAnswer answer = co_await watch_.get("/metrics");
  if (answer.status != 200) {
    throw std::runtime_error("the server answers " + std::to_string(answer.status) +
                             " to a look at its metrics");
  }
  co_return ended_counts(answer.body);
}

void TargetDrive::look(const EndedCounts& now) {
  Moment moment;
  moment.at_s = static_cast<double>(now_us() - start_us_) / 1e6;
  moment.submitted = submitted_;
  moment.settled = now.settled - before_.settled;
  const std::uint64_t ended = now.ended - before_.ended + out_.refused;
  moment.in_flight = submitted_ - std::min(submitted_, ended);
  out_.most_in_flight = std::max(out_.most_in_flight, moment.in_flight);
  out_.moments.push_back(moment);
  show_(moment, out_);
}

awaitable<void> TargetDrive::run() {
  before_ = now_ = co_await counts();
  start_us_ = now_us();
  look(now_);
  const std::uint64_t lines = std::min(options_.in_flight, most_lines);
  for (std::uint64_t i = 0; i < lines; ++i) boost::asio::co_spawn(context_, line(), rethrow);
  std::int64_t moved_us = start_us_;
  std::int64_t looked_us = start_us_;
  for (;;) {
    co_await pause(count_every_ms);
    const EndedCounts counted = co_await counts();
    const std::int64_t at_us = now_us();
    if (std::exchange(now_, counted).ended != counted.ended) moved_us = at_us;
    if (at_us - looked_us >= look_every_us) {
      look(counted);
      looked_us = at_us;
    }
    const std::uint64_t ended = counted.ended - before_.ended + out_.refused;
    if (lines_ == 0 && is_over() && ended >= submitted_) break;
    out_.stalled = at_us - moved_us > stalled_after_us;
    if (out_.stalled) break;
  }
  out_.seconds = static_cast<double>(now_us() - start_us_) / 1e6;
  look(now_);
  while (following_ > 0 && !out_.stalled) co_await pause(turn_ms);
}

awaitable<std::vector<domain::Address>> TargetDrive::accounts() {
  const json::object answer = object_of(co_await watch_.get("/v1/chains"), "its chains");
  std::vector<domain::Address> out;
  for (const json::value& chain : answer.at("chains").as_array()) {
    if (text_of(chain.as_object(), "id") != chain_name) continue;
    for (const json::value& account : chain.at("accounts").as_array()) {
      out.push_back({std::string(account.as_string())});
    }
  }
  co_return out;
}

// Newest first, so this run's come before any other's.
awaitable<std::vector<Recorded>> TargetDrive::records() {
  std::vector<Recorded> out;
  std::string cursor = "0";
  while (out.size() < out_.owed.size()) {
    std::string target = "/v1/payment_intents?limit=" + std::to_string(listed_at_once);
    if (cursor != "0") target.append("&cursor=").append(cursor);
    const json::object page = object_of(co_await watch_.get(std::move(target)), "a list");
    for (const json::value& each : page.at("payment_intents").as_array()) {
      const auto state = domain::intent_state_from(text_of(each.as_object(), "state"));
      out.push_back({head_of_hex(text_of(each.as_object(), "ref")),
                     state.value_or(domain::IntentState::created)});
    }
    const json::value& next = page.at("next_cursor");
    if (next.is_null()) break;
    cursor = next.is_string() ? std::string(next.get_string()) : json::serialize(next);
  }
  co_return out;
}

}  // namespace holdfast::load

#include "support/fault_proxy.hpp"

#include <algorithm>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <holdfast/base/bytes.hpp>

#include "evm/transaction.hpp"
#include "support/real_time.hpp"

namespace holdfast::test {

namespace json = boost::json;

namespace {

const std::string send_raw = "eth_sendRawTransaction";

std::string method_of(const json::object& request) {
  const json::value* method = request.if_contains("method");
  return method != nullptr && method->is_string() ? std::string(method->as_string()) : "";
}

json::object bare_answer(const json::object& request) {
  const json::value* id = request.if_contains("id");
  return {{"jsonrpc", "2.0"}, {"id", id == nullptr ? json::value(nullptr) : *id}};
}

Fault changed(Fault::Verb verb,
              std::function<void(json::object& answer, const json::object&)> change) {
  Fault out;
  out.verb = verb;
  out.change = std::move(change);
  return out;
}

std::function<void(json::object&, const json::object&)> to_result(json::value value) {
  return [value = std::move(value)](json::object& answer, const json::object&) {
    answer.erase("error");
    answer["result"] = value;
  };
}

std::function<void(json::object&, const json::object&)> to_error(int code, std::string message) {
  return [code, message = std::move(message)](json::object& answer, const json::object&) {
    answer.erase("result");
    answer["error"] = json::object{{"code", code}, {"message", message}};
  };
}

Fault plain(Fault::Verb verb, std::int64_t ms = 0) {
  Fault out;
  out.verb = verb;
  out.ms = ms;
  return out;
}

}  // namespace

Fault delay(std::int64_t ms) { return plain(Fault::Verb::delay, ms); }
Fault hold(std::int64_t ms) { return plain(Fault::Verb::hold, ms); }
Fault drop_reply() { return plain(Fault::Verb::drop_reply); }
Fault swallow() { return plain(Fault::Verb::swallow); }
Fault cut() { return plain(Fault::Verb::cut); }
Fault duplicate() { return plain(Fault::Verb::duplicate); }
Fault drip(std::int64_t ms) { return plain(Fault::Verb::drip, ms); }

Fault http_error(int status, std::optional<int> retry_after_s) {
  Fault out = plain(Fault::Verb::http);
  out.status = status;
  out.retry_after_s = retry_after_s;
  out.text = R"({"error":"trouble"})";
  return out;
}

Fault html_page(int status) {
  Fault out = http_error(status);
  out.text = "<html><body>Gateway</body></html>";
  out.content_type = "text/html";
  return out;
}

Fault result(json::value value) {
  return changed(Fault::Verb::rewrite, to_result(std::move(value)));
}
Fault answer_result(json::value value) {
  return changed(Fault::Verb::answer, to_result(std::move(value)));
}
Fault answer_error(int code, std::string message) {
  return changed(Fault::Verb::answer, to_error(code, std::move(message)));
}
Fault rewrite_error(int code, std::string message) {
  return changed(Fault::Verb::rewrite, to_error(code, std::move(message)));
}
Fault rewrite(std::function<void(json::object&, const json::object&)> change) {
  return changed(Fault::Verb::rewrite, std::move(change));
}

/// One call of an exchange, and what came of it.
struct FaultProxy::Call {
  json::object request;
  Fault fault = {};
  std::optional<std::size_t> raw = std::nullopt;  ///< its place among the raws
  std::optional<json::object> answer = std::nullopt;
};

FaultProxy::FaultProxy(std::uint16_t node_port)
    : node_port_(node_port),
      face_([this](const HttpMessage& request) { return handle(request); }) {}

FaultProxy::~FaultProxy() { face_.stop(); }

void FaultProxy::add(Rule rule) {
  const std::lock_guard lock(mutex_);
  rules_.push_back({std::move(rule), 0});
}

void FaultProxy::heal() {
  const std::lock_guard lock(mutex_);
  rules_.clear();
  plan_ = nullptr;
}

void FaultProxy::follow(Plan plan) {
  const std::lock_guard lock(mutex_);
  plan_ = std::move(plan);
}

void FaultProxy::use_node(std::uint16_t port) {
  const std::lock_guard lock(mutex_);
  node_port_ = port;
}

void FaultProxy::observe(std::function<void(const SentRaw&)> observer) {
  const std::lock_guard lock(mutex_);
  observer_ = std::move(observer);
}

std::vector<SentRaw> FaultProxy::raws() const {
  const std::lock_guard lock(mutex_);
  return raws_;
}

void FaultProxy::forget_raws() {
  const std::lock_guard lock(mutex_);
  raws_.clear();
}

int FaultProxy::calls(const std::string& method) const {
  const std::lock_guard lock(mutex_);
  int out = 0;
  for (const auto& [name, count] : counts_) {
    if (method.empty() || name == method) out += count;
  }
  return out;
}

Fault FaultProxy::decide(const json::object& request) {
  const std::string method = method_of(request);
  const std::lock_guard lock(mutex_);
  const auto same = [&](const auto& one) { return one.first == method; };
  auto count = std::ranges::find_if(counts_, same);
  if (count == counts_.end()) count = counts_.insert(count, {method, 0});
  ++count->second;
  std::optional<Fault> out;
  for (Counted& one : rules_) {
    if (!one.rule.method.empty() && one.rule.method != method) continue;
    if (one.rule.when && !one.rule.when(request)) continue;
    ++one.seen;
    const bool begun = one.seen >= one.rule.from;
    const bool over = one.rule.calls > 0 && one.seen >= one.rule.from + one.rule.calls;
    if (!out && begun && !over) out = one.rule.fault;
  }
  if (!out && plan_) return plan_(method, count->second);
  return out.value_or(Fault{});
}

void FaultProxy::note_raw(Call& call) {
  const json::value* params = call.request.if_contains("params");
  if (method_of(call.request) != send_raw || params == nullptr || !params->is_array() ||
      params->get_array().empty() || !params->get_array().front().is_string()) {
    return;
  }
  SentRaw sent;
  sent.wall_ms = wall_ms();
  sent.raw = std::string(params->get_array().front().as_string());
  if (const auto bytes = from_hex(sent.raw)) {
    if (const auto tx = evm::decode_signed(*bytes)) {
      sent.hash = tx->hash.hex();
      sent.sender = evm::to_checksum(tx->sender);
      sent.nonce = tx->tx.nonce;
    }
  }
  std::function<void(const SentRaw&)> observer;
  {
    const std::lock_guard lock(mutex_);
    observer = observer_;
  }
  if (observer) observer(sent);
  const std::lock_guard lock(mutex_);
  call.raw = raws_.size();
  raws_.push_back(std::move(sent));
}

std::string FaultProxy::exchange(const std::string& body) {
  std::uint16_t port = 0;
  {
    const std::lock_guard lock(mutex_);
    port = node_port_;
  }
  // A connection of its own each time: a kept one might be asked twice.
  HttpClient node(port);
  auto answer = node.ask("POST", "/", {{"Content-Type", "application/json"}}, body);
  return answer.status == 200 ? std::move(answer.message.body) : std::string();
}

void FaultProxy::note_answer(const Call& call, const json::object& answer) {
  if (!call.raw) return;
  const json::value* error = answer.if_contains("error");
  const std::lock_guard lock(mutex_);
  if (*call.raw >= raws_.size()) return;
  raws_[*call.raw].forwarded = true;
  if (error != nullptr && error->is_object()) {
    raws_[*call.raw].answer = std::string(error->at("message").as_string());
  }
}

void FaultProxy::run(Call& call) {
  using Verb = Fault::Verb;
  const Fault& fault = call.fault;
  if (fault.verb == Verb::swallow || fault.verb == Verb::cut) return;
  if (fault.verb == Verb::answer) {
    call.answer = bare_answer(call.request);
    fault.change(*call.answer, call.request);
    return;
  }
  if (fault.verb == Verb::delay) face_.wait_ms(fault.ms);
  std::string text = exchange(json::serialize(call.request));
  if (fault.verb == Verb::duplicate) text = exchange(json::serialize(call.request));
  boost::system::error_code bad;
  json::value read = json::parse(text, bad);
  if (bad || !read.is_object()) return;
  note_answer(call, read.get_object());
  if (fault.verb == Verb::drop_reply) return;
  if (fault.verb == Verb::rewrite) fault.change(read.get_object(), call.request);
  call.answer = std::move(read.get_object());
}

HttpReply FaultProxy::forward_whole(const std::string& body, std::vector<Call>& calls) {
  HttpReply out;
  out.body = exchange(body);
  if (out.body.empty()) out.how = HttpReply::How::close;
  boost::system::error_code bad;
  const json::value read = json::parse(out.body, bad);
  const auto note = [&](const json::value& answer) {
    if (!answer.is_object()) return;
    for (const Call& call : calls) {
      if (call.raw && bare_answer(call.request).at("id") == answer.get_object().at("id")) {
        note_answer(call, answer.get_object());
      }
    }
  };
  if (bad) return out;
  if (read.is_array()) {
    for (const json::value& answer : read.get_array()) note(answer);
  } else {
    note(read);
  }
  return out;
}

HttpReply FaultProxy::run_all(std::vector<Call>& calls, bool batch) {
  using Verb = Fault::Verb;
  HttpReply out;
  for (const Call& call : calls) {
    if (call.fault.verb == Verb::drip) out.drip_ms = call.fault.ms;
    if (call.fault.verb != Verb::http) continue;
    out.status = call.fault.status;
    out.content_type = call.fault.content_type;
    out.body = call.fault.text;
    if (call.fault.retry_after_s) {
      out.headers.emplace_back("Retry-After", std::to_string(*call.fault.retry_after_s));
    }
    return out;
  }
  json::array answers;
  std::int64_t held_ms = 0;
  for (Call& call : calls) {
    run(call);
    if (call.answer) answers.emplace_back(*call.answer);
    if (call.fault.verb == Verb::hold) held_ms = std::max(held_ms, call.fault.ms);
  }
  if (held_ms > 0) face_.wait_ms(held_ms);
  if (!answers.empty()) {
    out.body = batch ? json::serialize(answers) : json::serialize(answers.front());
    return out;
  }
  out.how = HttpReply::How::close;
  if (calls.front().fault.verb == Verb::swallow) out.how = HttpReply::How::hang;
  if (calls.front().fault.verb == Verb::cut) out.how = HttpReply::How::reset;
  return out;
}

HttpReply FaultProxy::handle(const HttpMessage& request) {
  boost::system::error_code bad;
  const json::value body = json::parse(request.body, bad);
  std::vector<Call> calls;
  const bool batch = !bad && body.is_array();
  if (batch) {
    for (const json::value& one : body.get_array()) {
      if (one.is_object()) calls.push_back({one.get_object()});
    }
  } else if (!bad && body.is_object()) {
    calls.push_back({body.get_object()});
  }
  bool as_it_is = true;
  for (Call& call : calls) {
    note_raw(call);
    call.fault = decide(call.request);
    as_it_is = as_it_is && call.fault.verb == Fault::Verb::pass;
  }
  if (as_it_is) return forward_whole(request.body, calls);
  return run_all(calls, batch);
}

}  // namespace holdfast::test

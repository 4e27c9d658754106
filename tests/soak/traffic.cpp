#include "traffic.hpp"

#include <exception>
#include <optional>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "support/real_time.hpp"

namespace holdfast::soak {

namespace json = boost::json;
using cases::Answer;
using cases::Payment;

namespace {

constexpr int client_count = 4;
constexpr std::int64_t again_after_ms = 300;

/// Nothing is known of what became of it, or it is to be asked later: the same request again.
bool is_for_later(const Answer& answer) {
  if (answer.status == 0 || answer.status == 429 || answer.status == 503) return true;
  return answer.status == 409 && cases::text_of(answer.body, "error") == "in_progress";
}

bool is_one_of(const Answer& answer, std::initializer_list<std::string_view> errors) {
  const std::string error = cases::text_of(answer.body, "error");
  return std::ranges::find(errors, error) != errors.end();
}

}  // namespace

Traffic::Traffic(const Settings& settings, cases::Rig& rig) : rig_(rig) {
  for (const Plan& plan : plans_of(settings)) {
    const std::size_t index = asked_.size();
    json::value body =
        json::parse(plan.payout ? rig.payout_body(std::to_string(plan.amount))
                                : rig.authorization_body(std::to_string(plan.amount)));
    if (plan.validity_s > 0) body.as_object()["validity_s"] = plan.validity_s;
    asked_.push_back({plan, "soak-" + std::to_string(index), json::serialize(body)});
    const auto add = [&](std::int64_t after_ms, What what) {
      if (after_ms != never) errands_.push({plan.at_ms + after_ms, index, what});
    };
    add(0, What::create);
    add(plan.again_ms, What::create_again);
    add(plan.sign_ms, What::sign);
    add(plan.cancel_ms, What::cancel);
    add(plan.abandon_ms, What::abandon);
  }
  open_ = errands_.size();
}

Traffic::~Traffic() { stop(); }

void Traffic::start() {
  began_ms_ = test::mono_ms();
  for (int i = 0; i < client_count; ++i) clients_.emplace_back([this] { work(); });
}

void Traffic::stop() {
  stopping_ = true;
  for (std::thread& one : clients_) one.join();
  clients_.clear();
}

void Traffic::work() {
  while (!stopping_) {
    std::optional<Errand> errand;
    {
      const std::lock_guard lock(mutex_);
      if (!errands_.empty() && errands_.top().at_ms <= test::mono_ms() - began_ms_) {
        errand = errands_.top();
        errands_.pop();
      }
    }
    if (!errand) {
      test::pause_ms(5);
      continue;
    }
    if (run(*errand)) {
      --open_;
      continue;
    }
    errand->at_ms = test::mono_ms() - began_ms_ + again_after_ms;
    const std::lock_guard lock(mutex_);
    errands_.push(*errand);
  }
}

bool Traffic::run(const Errand& errand) {
  try {
    switch (errand.what) {
      case What::create:
      case What::create_again: return create(errand.index);
      case What::sign: return sign(errand.index);
      case What::cancel:
      case What::abandon: return end(errand.index, errand.what);
    }
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    asked_[errand.index].complaints.emplace_back(error.what());
  }
  return true;
}

Answer Traffic::counted(Answer answer) {
  ++requests_;
  if (answer.status == 0) ++unanswered_;
  return answer;
}

Payment Traffic::known(std::size_t index) const {
  const std::lock_guard lock(mutex_);
  return asked_[index].payment;
}

void Traffic::complain(std::size_t index, const std::string& what, const Answer& answer) {
  const std::lock_guard lock(mutex_);
  asked_[index].complaints.push_back(what + " was answered " + std::to_string(answer.status) + " " +
                                     answer.text);
}

bool Traffic::create(std::size_t index) {
  std::string key;
  std::string body;
  {
    const std::lock_guard lock(mutex_);
    key = asked_[index].key;
    body = asked_[index].body;
  }
  const Answer answer = counted(rig_.ask("POST", "/v1/payment_intents", body, key));
  if (is_for_later(answer)) return false;
  if (answer.status != 201) {
    complain(index, "the request", answer);
    return true;
  }
  const std::string first = [&] {
    const std::lock_guard lock(mutex_);
    Payment& payment = asked_[index].payment;
    if (payment.id.empty()) {
      payment = {.id = cases::text_of(answer.body, "id"),
                 .ref = cases::text_of(answer.body, "ref"),
                 .key = key,
                 .request = body,
                 .first_answer = answer.text,
                 .token = "",
                 .method = cases::text_of(answer.body, "method")};
      ++created_;
    }
    return payment.first_answer;
  }();
  if (first != answer.text) complain(index, "the request, again and otherwise,", answer);
  return true;
}

bool Traffic::sign(std::size_t index) {
  const Payment payment = known(index);
  if (payment.id.empty()) return false;
  const Answer answer = counted(rig_.sign(payment, {201, json::parse(payment.first_answer)}));
  if (is_for_later(answer)) return false;
  // Too late for its window, or ended by a cancel before.
  const bool ended = is_one_of(answer, {"expired", "too_late", "wrong_state"});
  if (answer.status != 200 && !ended) complain(index, "the signature", answer);
  const std::lock_guard lock(mutex_);
  asked_[index].is_signed = asked_[index].is_signed || answer.status == 200;
  return true;
}

bool Traffic::end(std::size_t index, What what) {
  const Payment payment = known(index);
  if (payment.id.empty()) return false;
  const std::string verb = what == What::cancel ? "cancel" : "abandon";
  const Answer answer =
      counted(rig_.ask("POST", "/v1/payment_intents/" + payment.id + "/" + verb,
                       R"({"reason":"not wanted any more"})", payment.key + "-" + verb));
  if (is_for_later(answer)) return false;
  const bool too_late = is_one_of(answer, {"too_late", "wrong_state"});
  if (answer.status != 200 && !too_late) complain(index, "the " + verb, answer);
  return true;
}

}  // namespace holdfast::soak

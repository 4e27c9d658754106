#include "faults.hpp"

#include <algorithm>
#include <exception>
#include <string_view>

#include "cases/rig.hpp"

namespace holdfast::soak {

namespace json = boost::json;

namespace {

struct NodeError {
  int code;
  std::string_view message;
};
/// What nodes answer to a send that they took, or did not: shared with nobody's wording in mind.
constexpr std::array<NodeError, 9> send_errors{{
    {-32000, "nonce too low"},
    {-32000, "already known"},
    {-32000, "replacement transaction underpriced"},
    {-32000, "txpool is full"},
    {-32000, "transaction underpriced"},
    {-32000, "insufficient funds for gas * price + value"},
    {-32000, "max fee per gas less than block base fee"},
    {-32000, "intrinsic gas too low"},
    {-32603, "Internal error"},
}};

std::string text_member(const json::object& object, const char* name) {
  const json::value* const found = object.if_contains(name);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : "";
}

std::optional<U256> quantity(const json::value& value) {
  if (!value.is_string()) return std::nullopt;
  return U256::from_0x(std::string_view(value.as_string()));
}

U256 less(const U256& number, std::uint64_t by) {
  const auto low = number.to_u64();
  return low ? U256(*low > by ? *low - by : 0) : number;
}

/// A count that misses the last ones; the newest block of a moment ago; a block it has not got yet.
void lag(json::object& answer, const json::object& request, std::uint64_t by,
         const cases::Rig& rig) {
  json::value* const result = answer.if_contains("result");
  if (result == nullptr || result->is_null()) return;
  if (text_member(request, "method") == "eth_getTransactionCount") {
    if (const auto count = quantity(*result)) *result = less(*count, by).quantity();
    return;
  }
  const json::array& params = request.at("params").as_array();
  const bool by_name = params.at(0).is_string() && !params.at(0).as_string().starts_with("0x");
  const auto number = by_name ? quantity(result->at("number")) : std::nullopt;
  if (!number) {
    *result = nullptr;
    return;
  }
  *result =
      rig.rpc("eth_getBlockByNumber", json::array{less(*number, by).quantity(), params.at(1)});
}

}  // namespace

Faults::Faults(const Settings& settings, cases::Rig& rig) : settings_(settings), rig_(rig) {
  rig_.proxy->follow([this](const std::string& method, int call) {
    return next(method, static_cast<std::uint64_t>(call));
  });
}

void Faults::heal() {
  outage_ = false;
  rig_.proxy->heal();
}

test::Fault Faults::next(const std::string& method, std::uint64_t call) {
  if (outage_) {
    ++cut_by_outage_;
    return test::cut();
  }
  const PickedIll picked = ill_of(settings_, method, call);
  ++counts_.at(static_cast<std::size_t>(picked.ill));
  return fault_of(picked);
}

test::Fault Faults::fault_of(PickedIll picked) const {
  const auto from_to = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<std::int64_t>(low + picked.draw % (high - low));
  };
  const NodeError& error = send_errors.at(picked.draw % send_errors.size());
  switch (picked.ill) {
    case Ill::none: return {};
    case Ill::delay: return test::delay(from_to(50, 2'600));
    case Ill::hold: return test::hold(from_to(50, 2'600));
    case Ill::drop_reply: return test::drop_reply();
    case Ill::swallow: return test::swallow();
    case Ill::cut: return test::cut();
    case Ill::duplicate: return test::duplicate();
    case Ill::drip: return test::drip(from_to(10, 150));
    case Ill::rate_limit: return test::http_error(429, static_cast<int>(from_to(1, 3)));
    case Ill::unavailable: return test::http_error(503);
    case Ill::web_page: return test::html_page(502);
    case Ill::limit_error: return test::answer_error(-32005, "limit exceeded");
    case Ill::node_error: return test::answer_error(-32603, "internal error");
    case Ill::false_error: return test::rewrite_error(error.code, std::string(error.message));
    case Ill::early_error: return test::answer_error(error.code, std::string(error.message));
    case Ill::garbage:
      return test::rewrite(
          [](json::object& answer, const json::object&) { answer.erase("result"); });
    case Ill::no_result: return test::result(nullptr);
    case Ill::lagging:
      return test::rewrite(
          [by = 1 + picked.draw % 2, this](json::object& answer, const json::object& request) {
            try {
              lag(answer, request, by, rig_);
            } catch (const std::exception&) {
              answer["result"] = nullptr;
            }
          });
  }
  return {};
}

std::uint64_t Faults::count_all() const {
  std::uint64_t out = cut_by_outage_;
  for (std::size_t i = 1; i < ill_count; ++i) out += counts_.at(i);
  return out;
}

json::object Faults::as_json() const {
  json::object out;
  for (std::size_t i = 1; i < ill_count; ++i) {
    out[to_text(static_cast<Ill>(i))] = counts_.at(i).load();
  }
  out["outage"] = cut_by_outage_.load();
  return out;
}

}  // namespace holdfast::soak

#include "evm/http_rpc_batch.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "evm/node_errors.hpp"

namespace holdfast::evm {
namespace {

namespace json = boost::json;
using Outcome = ports::Outcome<json::value>;

constexpr std::size_t deepest = 32;  // a block's receipts need six levels

Outcome unknown(std::string reason) { return ports::Unknown{std::move(reason), false}; }
Outcome node_said(std::string reason) { return ports::Unknown{std::move(reason), false, true}; }

bool contains(std::string_view text, std::string_view part) {
  const auto same = [](unsigned char a, unsigned char b) {
    return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b;
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

std::optional<std::uint64_t> id_of(const json::object& element) {
  const auto* id = element.if_contains("id");
  if (id == nullptr) return std::nullopt;
  if (const auto* number = id->if_int64(); number != nullptr && *number >= 0) {
    return static_cast<std::uint64_t>(*number);
  }
  if (const auto* number = id->if_uint64()) return *number;
  return std::nullopt;
}

/// The member "error" when there is one that is not null (some nodes send it beside a result).
json::value* error_in(json::object& element) {
  auto* error = element.if_contains("error");
  return error == nullptr || error->is_null() ? nullptr : error;
}

/// The node's error with our secrets taken out of its words, before anything cuts or decodes them.
Outcome outcome_of(json::value& error, const Secrets& secrets) {
  if (auto* object = error.if_object()) {
    auto* message = object->if_contains("message");
    if (message != nullptr && message->is_string()) {
      *message = secrets.scrub(message->get_string());
    }
  }
  return outcome_of_error(error);
}

Outcome element_outcome(json::object& element, const Secrets& secrets) {
  auto* result = element.if_contains("result");
  auto* error = error_in(element);
  if (error != nullptr && result != nullptr && !result->is_null()) {
    return unknown("the answer has both a result and an error");
  }
  if (error != nullptr) return outcome_of(*error, secrets);
  if (result == nullptr) return unknown("the answer has neither a result nor an error");
  return std::move(*result);
}

/// Whether this error speaks of the batch and not of a call in it.
BatchAnswer::Verdict verdict_of(const json::value& error) {
  using enum BatchAnswer::Verdict;
  const auto* object = error.if_object();
  if (object == nullptr) return read;
  const auto* member = object->if_contains("message");
  const std::string_view message =
      member != nullptr && member->is_string() ? std::string_view(member->get_string()) : "";
  if (contains(message, "batch")) {
    for (const std::string_view size : {"large", "size", "limit", "exceed", "many", "max"}) {
      if (contains(message, size)) return batch_too_large;
    }
    return batches_refused;
  }
  // What servers say that expect an object: Go's, Rust's, and the specification's own "not a valid
  // Request object".
  const auto* code = object->if_contains("code");
  const bool invalid_request = code != nullptr && code->is_int64() && code->get_int64() == -32600;
  const bool wants_object =
      contains(message, "unmarshal array") || contains(message, "invalid type: sequence");
  return invalid_request || wants_object ? batches_refused : read;
}

BatchAnswer all(std::size_t count, const Outcome& outcome) {
  return {BatchAnswer::Verdict::read, std::vector<Outcome>(count, outcome)};
}

/// An object where an array was due: one error for the whole batch.
BatchAnswer whole_batch(std::size_t count, json::object& answer, const Secrets& secrets) {
  auto* error = error_in(answer);
  if (error == nullptr) return all(count, unknown("the answer to a batch is not an array"));
  const Outcome outcome = outcome_of(*error, secrets);
  const auto* limited = outcome.unknown();
  if (limited != nullptr && limited->rate_limited) return all(count, outcome);
  const auto verdict = verdict_of(*error);
  if (verdict != BatchAnswer::Verdict::read) return {verdict, {}};
  // Even when the words are in the catalogue: which of the calls they are about is not said.
  return all(count, node_said("one error for the whole batch: " + outcome.text()));
}

BatchAnswer read_batch(std::span<const std::uint64_t> ids, json::array& elements,
                       const Secrets& secrets) {
  // geth refuses a batch with an array of one error, which bears the id of the first call.
  if (elements.size() == 1 && elements[0].is_object()) {
    auto* error = error_in(elements[0].get_object());
    if (error != nullptr && error->is_object()) {
      const auto* message = error->get_object().if_contains("message");
      const bool about_batch =
          message != nullptr && message->is_string() && contains(message->get_string(), "batch");
      const auto verdict = about_batch ? verdict_of(*error) : BatchAnswer::Verdict::read;
      if (verdict != BatchAnswer::Verdict::read) return {verdict, {}};
    }
  }
  BatchAnswer out = all(ids.size(), unknown("the answer has no element for this call"));
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::size_t at = 0; at < ids.size(); ++at) places.emplace(ids[at], at);
  std::vector<bool> seen(ids.size(), false);
  for (json::value& element : elements) {
    auto* object = element.if_object();
    const auto id = object == nullptr ? std::nullopt : id_of(*object);
    const auto place = id ? places.find(*id) : places.end();
    if (place == places.end()) continue;  // nobody's: the call it may have been for stays unknown
    const std::size_t at = place->second;
    out.outcomes[at] = seen[at] ? unknown("the answer has two elements for this call")
                                : element_outcome(*object, secrets);
    seen[at] = true;
  }
  return out;
}

Outcome read_single(std::uint64_t id, json::value& answer, const Secrets& secrets) {
  auto* object = answer.if_object();
  if (object == nullptr) return unknown("the answer is not an object");
  if (id_of(*object) == id) return element_outcome(*object, secrets);
  auto* error = error_in(*object);
  if (error == nullptr) return unknown("the answer is another call's");
  // Without our id an error says nothing sure about the call, but "slow down" is for everybody.
  Outcome outcome = outcome_of(*error, secrets);
  const auto* limited = outcome.unknown();
  if (limited != nullptr && limited->rate_limited) return outcome;
  return node_said("an error without the call's id: " + outcome.text());
}

}  // namespace

std::string call_text(std::uint64_t id, std::string_view method, const json::array& params) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":)" +
         json::serialize(json::string_view(method.data(), method.size())) + R"(,"params":)" +
         json::serialize(params) + "}";
}

std::string body_of(std::span<const std::string_view> calls) {
  if (calls.size() == 1) return std::string(calls.front());
  std::string out = "[";
  for (const std::string_view call : calls) {
    if (out.size() > 1) out += ',';
    out += call;
  }
  return out += ']';
}

BatchAnswer read_answer(std::span<const std::uint64_t> ids, std::string_view body,
                        const Secrets& secrets) {
  json::parse_options options;
  options.max_depth = deepest;
  boost::system::error_code error;
  json::value answer = json::parse({body.data(), body.size()}, error, {}, options);
  if (error == json::error::too_deep) {
    return all(ids.size(), unknown("the answer is nested deeper than 32 levels"));
  }
  if (error) return all(ids.size(), unknown("the answer is not JSON"));
  if (ids.size() == 1) {
    BatchAnswer out;
    out.outcomes.push_back(read_single(ids.front(), answer, secrets));
    return out;
  }
  if (auto* elements = answer.if_array()) return read_batch(ids, *elements, secrets);
  if (auto* object = answer.if_object()) return whole_batch(ids.size(), *object, secrets);
  return all(ids.size(), unknown("the answer to a batch is not an array"));
}

}  // namespace holdfast::evm

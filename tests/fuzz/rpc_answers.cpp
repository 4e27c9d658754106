// Bytes as the body of a node's answer to one call and to a batch of three; and each result as
// everything that is read of results.
#include <array>

#include "evm/fees.hpp"
#include "evm/http_rpc_batch.hpp"
#include "evm/node_errors.hpp"
#include "evm/wire.hpp"
#include "fuzz/input.hpp"

namespace holdfast {
namespace {

namespace json = boost::json;
using Outcome = ports::Outcome<json::value>;

/// What a node may echo, and nobody may read.
constexpr std::string_view secret = "Zq7Zq7";

void check_text(std::string_view text) {
  fuzz::check_sentence(text);
  ensure(!fuzz::holds(text, secret), "an outcome never holds the endpoint's secret");
}

/// What was read, where it was: its reason names no bytes of the answer.
template <class T>
std::optional<T> value_of(evm::Read<T> read) {
  if (read) return std::move(*read);
  check_text(read.error().why);
  return std::nullopt;
}

void check_numbers(const json::value& value) {
  if (const auto number = value_of(evm::read_quantity(value, "it"))) {
    const auto again = evm::read_quantity(json::value(number->quantity()), "it");
    ensure(again && *again == *number, "a quantity is read again");
  }
  if (const auto number = value_of(evm::read_number(value, "it", 1'000))) {
    ensure(*number <= 1'000, "a number is within its limit");
  }
  if (const auto bytes = value_of(evm::read_data(value, "it", 64))) {
    ensure(bytes->size() <= 64, "data is within its limit");
    const auto again = evm::read_data(json::value(to_0x(*bytes)), "it", 64);
    ensure(again && *again == *bytes, "data is read again");
  }
  value_of(evm::read_hash(value, "it"));
}

void check_fees(const json::value& value) {
  const auto history = value_of(evm::read_fee_history(value));
  if (!history) return;
  const evm::FeePolicy policy;
  const auto quote = evm::fees_for(21'000, *history, policy);
  if (const domain::Fees* fees = quote.ok()) {
    ensure(fees->max_fee <= policy.max_fee && fees->priority_fee <= fees->max_fee &&
               fees->gas_limit <= policy.gas_cap,
           "an offer is below every ceiling");
  } else {
    ensure(quote.refused() != nullptr, "an offer that cannot be made is refused");
    check_text(quote.text());
  }
}

/// A block and receipts that came together, as [block, receipt…].
void check_joined(const json::value& value) {
  const json::array* list = value.if_array();
  if (list == nullptr || list->empty()) return;
  const auto block = evm::read_block(list->front());
  const auto receipts =
      evm::read_receipts(json::value(json::array(list->begin() + 1, list->end())));
  if (!block || !receipts) return;
  const auto joined = value_of(evm::join(*block, *receipts));
  if (!joined) return;
  ensure(joined->size() == block->txs.size(), "every transaction of a block is joined");
  for (std::size_t at = 0; at < joined->size(); ++at) {
    ensure((*joined)[at].hash == block->txs[at].hash && (*joined)[at].block == block->header.ref,
           "what is joined is of that block");
  }
}

void check_result(const json::value& value) {
  check_numbers(value);
  check_fees(value);
  check_joined(value);
  value_of(evm::read_header(value));
  value_of(evm::read_tx(value));
  if (const auto receipt = value_of(evm::read_receipt(value))) {
    for (const evm::WireEvent& event : receipt->events) {
      ensure(event.index > 0 && !event.log.topics.empty(), "an event has its place and its topic");
    }
  }
  if (const auto block = value_of(evm::read_block(value))) {
    ensure(block->txs.size() <= evm::wire_limits::txs_in_block, "a block is bounded");
  }
  if (const auto logs = value_of(evm::read_logs(value, 2))) {
    ensure(logs->size() <= 2, "logs are within their limit");
  }
}

void check_outcome(const Outcome& outcome) {
  ensure(outcome.not_sent() == nullptr, "what was answered was sent");
  if (outcome.ok() == nullptr) check_text(outcome.text());
}

void check_answer(std::span<const std::uint64_t> ids, std::string_view body) {
  evm::Secrets secrets;
  secrets.add(secret);
  const evm::BatchAnswer answer = evm::read_answer(ids, body, secrets);
  if (answer.verdict != evm::BatchAnswer::Verdict::read) {
    ensure(ids.size() > 1 && answer.outcomes.empty(), "only a batch is refused as one");
    return;
  }
  ensure(answer.outcomes.size() == ids.size(), "every call has one outcome");
  for (const Outcome& outcome : answer.outcomes) {
    check_outcome(outcome);
    if (ids.size() == 1 && outcome.ok() != nullptr) check_result(*outcome.ok());
  }
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body = holdfast::as_text({data, size});
  constexpr std::array<std::uint64_t, 3> ids{1, 2, 3};
  holdfast::check_answer(std::span(ids).first(1), body);
  holdfast::check_answer(ids, body);
  return 0;
}

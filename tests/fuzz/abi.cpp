// Bytes as what contracts and callers hand us: call data, answers, logs, reasons of a revert,
// signatures, addresses. What is read is written again as the same bytes.
#include "evm/abi.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "evm/eip3009.hpp"
#include "evm/erc20.hpp"
#include "evm/logs.hpp"
#include "evm/revert.hpp"
#include "fuzz/input.hpp"

namespace holdfast {
namespace {

using namespace evm;

/// A refusal is a sentence; what was read is `again` as bytes.
template <class T, class Again>
void check_round_trip(const Result<T>& read, ByteView input, Again again) {
  if (read) {
    ensure(std::ranges::equal(again(*read), input), "it is written as it was read");
  } else {
    fuzz::check_sentence(read.error().detail);
  }
}

Bytes word_of(const U256& number) {
  Bytes out;
  abi::append_word(out, number);
  return out;
}

void check_calls(ByteView input) {
  check_round_trip(decode_transfer(input), input, encode_transfer);
  check_round_trip(decode_transfer_with_authorization(input), input,
                   [](const TransferAuthorizationCall& call) {
                     return std::visit(
                         [&](const auto& signature) {
                           return encode_transfer_with_authorization(call.authorization, signature);
                         },
                         call.signature);
                   });
}

void check_answers(ByteView input) {
  check_round_trip(decode_uint_answer(input, "x"), input, word_of);
  check_round_trip(decode_uint8_answer(input, "x"), input,
                   [](std::uint8_t number) { return word_of(U256(number)); });
  check_round_trip(decode_bytes32_answer(input, "x"), input, [](const Bytes32& bytes) {
    return Bytes(bytes.value.begin(), bytes.value.end());
  });
  check_round_trip(decode_authorization_state(input), input,
                   [](bool used) { return word_of(U256(used ? 1 : 0)); });
  check_round_trip(decode_string_answer(input, "x"), input, [](const std::string& text) {
    ensure(text.size() <= 256 && is_utf8(as_bytes(text)), "a string is bounded UTF-8");
    const Bytes call = abi::CallWriter({}).bytes(as_bytes(text)).finish();
    return Bytes(call.begin() + abi::Selector{}.size(), call.end());
  });
}

void check_texts(ByteView input) {
  fuzz::check_sentence(decode_revert(input).text + ".", 300);
  for (const std::size_t limit : {1, 4, 40}) {
    const std::string text = printable(input, limit);
    ensure(text.size() <= limit, "a printable text is bounded");
    ensure(is_utf8(as_bytes(text)), "a printable text is UTF-8");
  }
  if (const auto address = parse_address(as_text(input))) {
    const auto again = parse_address(to_checksum(*address));
    ensure(again && *again == *address, "an address is read again from its canonical text");
  } else {
    fuzz::check_sentence(address.error().detail);
  }
  if (const auto number = U256::from_decimal(as_text(input))) {
    ensure(number->decimal() == as_text(input), "a decimal has one spelling");
  }
  if (const auto number = U256::from_0x(as_text(input))) {
    ensure(U256::from_0x(number->quantity()) == number, "a quantity is read again");
  }
}

void check_signature_of(ByteView input) {
  const auto signature = parse_signature(input);
  if (!signature) {
    fuzz::check_sentence(signature.error().detail);
    return;
  }
  ensure(check_signature(*signature).has_value(), "a signature that is read is a good one");
  const auto again = parse_signature(signature_bytes(*signature));
  ensure(again && *again == *signature, "a signature is read again");
}

/// Address, how many topics, the topics, the data.
void check_log(ByteView input) {
  if (input.size() <= Address20::size) return;
  Log log;
  log.address = *Address20::from(input.first(Address20::size));
  const std::size_t topics = input[Address20::size] % 6U;
  input = input.subspan(Address20::size + 1);
  for (std::size_t i = 0; i < topics && input.size() >= Bytes32::size; ++i) {
    log.topics.push_back(*Bytes32::from(input.first(Bytes32::size)));
    input = input.subspan(Bytes32::size);
  }
  log.data.assign(input.begin(), input.end());

  const auto moved = decode_transfer_event(log);
  const auto used = decode_authorization_used(log);
  const auto canceled = decode_authorization_canceled(log);
  ensure(moved.has_value() + used.has_value() + canceled.has_value() <= 1,
         "a log is one event at most");
  if (moved) {
    ensure(moved->token == log.address && word_of(moved->value) == log.data,
           "a transfer is what its log says");
  }
  for (const auto& ended : {used, canceled}) {
    ensure(!ended || (ended->token == log.address && ended->nonce == log.topics.at(2)),
           "an authorization's end is what its log says");
  }
}

/// A token may have any name, and what the payer signs is still JSON that says it.
void check_typed_data(ByteView input) {
  const Domain domain{std::string(as_text(input)), "1", 31337, {}};
  const auto text = boost::json::serialize(typed_data_json(domain, {}));
  boost::system::error_code error;
  const auto again = boost::json::parse(text, error);
  if (!is_utf8(input)) return;
  ensure(!error, "typed data is JSON");
  ensure(as_text(input) == std::string_view(again.at("domain").at("name").as_string()),
         "a name is signed as it is");
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const holdfast::ByteView input(data, size);
  holdfast::check_calls(input);
  holdfast::check_answers(input);
  holdfast::check_texts(input);
  holdfast::check_signature_of(input);
  holdfast::check_log(input);
  holdfast::check_typed_data(input);
  return 0;
}

// Bytes as RLP, and as a signed transaction. What is read is written again as the same bytes: a
// second spelling would be a second hash of one transaction.
#include "evm/rlp.hpp"

#include "evm/transaction.hpp"
#include "fuzz/input.hpp"

namespace holdfast {
namespace {

using evm::rlp::Item;

void append(Bytes& out, const Item& item) {
  if (!item.is_list) {
    evm::rlp::append_bytes(out, item.bytes);
    return;
  }
  Bytes payload;
  for (const Item& inner : item.items) append(payload, inner);
  evm::rlp::append_list(out, payload);
}

void check_numbers(const Item& item) {
  for (const Item& inner : item.items) check_numbers(inner);
  const auto number = evm::rlp::to_uint(item, "field");
  if (const auto small = evm::rlp::to_u64(item, "field")) {
    ensure(number && *number == U256(*small), "a small number is the number");
  }
  if (!number) {
    fuzz::check_sentence(number.error().detail);
    ensure(fuzz::holds(number.error().detail, "field"), "a number that is refused names its field");
    return;
  }
  Bytes as_number;
  Bytes as_string;
  evm::rlp::append_uint(as_number, *number);
  evm::rlp::append_bytes(as_string, item.bytes);
  ensure(as_number == as_string, "a number has one spelling");
}

void check_item(ByteView input) {
  const auto item = evm::rlp::decode(input);
  const auto narrow = evm::rlp::decode(input, {.bytes = 64, .depth = 2, .items = 4});
  if (!item) {
    fuzz::check_sentence(item.error().detail);
    ensure(!narrow, "what is refused is refused within narrow limits too");
    return;
  }
  Bytes again;
  append(again, *item);
  ensure(std::ranges::equal(again, input), "RLP is written as it was read");
  check_numbers(*item);
}

void check_transaction(ByteView input) {
  const auto read = evm::decode_signed(input);
  if (!read) {
    fuzz::check_sentence(read.error().detail);
    return;
  }
  ensure(std::ranges::equal(evm::encode_signed(read->tx, read->signature), input),
         "a transaction is written as it was read");
  ensure(read->hash == evm::tx_hash(input), "its hash is that of its bytes");
  ensure(evm::check_says(*read, read->tx, read->sender).has_value(), "it says what it says");
  evm::Transaction1559 other = read->tx;
  other.nonce ^= 1U;
  ensure(!evm::check_says(*read, other, read->sender), "it does not say another number");
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const holdfast::ByteView input(data, size);
  holdfast::check_item(input);
  holdfast::check_transaction(input);
  return 0;
}

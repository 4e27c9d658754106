#include "evm/transaction.hpp"

#include <limits>
#include <string>

#include <holdfast/base/ensure.hpp>

#include "evm/codec_error.hpp"
#include "evm/rlp.hpp"

namespace holdfast::evm {
namespace {

constexpr Byte type_1559 = 0x02;
constexpr std::size_t field_count = 12;  // nine of the transaction, three of the signature

Error wrong(std::string sentence) {
  return refuse(CodecError::bad_transaction, std::move(sentence));
}

Bytes unsigned_fields(const Transaction1559& tx) {
  Bytes out;
  out.reserve(160 + tx.data.size());
  rlp::append_uint(out, tx.chain_id);
  rlp::append_uint(out, tx.nonce);
  rlp::append_uint(out, tx.max_priority_fee);
  rlp::append_uint(out, tx.max_fee);
  rlp::append_uint(out, tx.gas_limit);
  rlp::append_bytes(out, tx.to.view());
  rlp::append_uint(out, tx.value);
  rlp::append_bytes(out, tx.data);
  rlp::append_list(out, {});  // the access list
  return out;
}

Bytes envelope(const Bytes& fields) {
  Bytes out;
  out.reserve(fields.size() + 10);
  out.push_back(type_1559);
  rlp::append_list(out, fields);
  return out;
}

/// Reads number fields; the first refusal sticks, so that a list of fields reads as a list.
class FieldReader {
 public:
  explicit FieldReader(const std::vector<rlp::Item>& items) : items_(items) {}

  U256 uint(std::size_t index, std::string_view field) {
    return keep(rlp::to_uint(items_[index], field));
  }
  std::uint64_t u64(std::size_t index, std::string_view field) {
    return keep(rlp::to_u64(items_[index], field));
  }
  const Result<void>& result() const { return result_; }

 private:
  template <class T>
  T keep(const Result<T>& read) {
    if (read) return *read;
    if (result_) result_ = read.error();
    return T{};
  }

  const std::vector<rlp::Item>& items_;
  Result<void> result_;
};

Result<rlp::Item> decode_envelope(ByteView raw) {
  if (raw.empty()) return wrong("the signed transaction is empty");
  if (raw[0] != type_1559) {
    const std::string type = raw[0] >= 0xc0 ? "a legacy one" : "of type " + std::to_string(raw[0]);
    return wrong("the transaction is " + type + "; only EIP-1559 (type 2) is sent");
  }
  Result<rlp::Item> list = rlp::decode(raw.subspan(1));
  if (!list) return list;
  if (!list->is_list || list->items.size() != field_count) {
    return wrong("a signed EIP-1559 transaction is a list of 12 fields; this is not");
  }
  return list;
}

/// The rules of a transaction that no single field shows.
Result<void> check_fields(const std::vector<rlp::Item>& items, const Transaction1559& tx) {
  if (tx.nonce == std::numeric_limits<std::uint64_t>::max()) {
    return wrong("the nonce must be below 2^64 - 1 (EIP-2681)");
  }
  if (tx.max_priority_fee > tx.max_fee) {
    return wrong("max_priority_fee is above max_fee; no chain includes that");
  }
  if (items[5].is_list || items[7].is_list) return wrong("to and data are byte strings");
  if (items[5].bytes.empty()) return wrong("the transaction creates a contract");
  if (items[5].bytes.size() != Address20::size) return wrong("to must have 20 bytes");
  if (!items[8].is_list || !items[8].items.empty()) {
    return wrong("the access list must be empty");
  }
  return {};
}

}  // namespace

Hash32 signing_digest(const Transaction1559& tx) {
  return keccak256(envelope(unsigned_fields(tx)));
}

Bytes encode_signed(const Transaction1559& tx, const Signature& signature) {
  ensure(check_signature(signature).has_value(), "a transaction is sent with a good signature");
  Bytes fields = unsigned_fields(tx);
  rlp::append_uint(fields, signature.y_parity);
  rlp::append_uint(fields, signature.r);
  rlp::append_uint(fields, signature.s);
  return envelope(fields);
}

Hash32 tx_hash(ByteView raw) { return keccak256(raw); }

Result<UnprovenTransaction> decode_unproven(ByteView raw) {
  const Result<rlp::Item> list = decode_envelope(raw);
  if (!list) return list.error();
  const auto& items = list->items;

  UnprovenTransaction out;
  FieldReader read(items);
  out.tx.chain_id = read.u64(0, "chain_id");
  out.tx.nonce = read.u64(1, "nonce");
  out.tx.max_priority_fee = read.uint(2, "max_priority_fee");
  out.tx.max_fee = read.uint(3, "max_fee");
  out.tx.gas_limit = read.u64(4, "gas_limit");
  out.tx.value = read.uint(6, "value");
  const std::uint64_t parity = read.u64(9, "y_parity");
  out.signature.r = read.uint(10, "r");
  out.signature.s = read.uint(11, "s");
  if (!read.result()) return read.result().error();
  if (parity > 1) return refuse(CodecError::bad_signature, "y_parity must be 0 or 1");
  out.signature.y_parity = static_cast<std::uint8_t>(parity);

  if (const Result<void> checked = check_fields(items, out.tx); !checked) return checked.error();
  if (const Result<void> checked = check_signature(out.signature); !checked) return checked.error();
  out.tx.to = *Address20::from(items[5].bytes);
  out.tx.data.assign(items[7].bytes.begin(), items[7].bytes.end());
  out.digest = signing_digest(out.tx);
  return out;
}

Result<SignedTransaction> decode_signed(ByteView raw) {
  Result<UnprovenTransaction> read = decode_unproven(raw);
  if (!read) return read.error();
  const Result<Address20> sender = recover(read->digest, read->signature);
  if (!sender) return sender.error();
  const Hash32 hash = tx_hash(raw);
  return SignedTransaction{std::move(read->tx), read->signature, *sender, hash};
}

namespace {

Error differs(std::string_view field) {
  return refuse(CodecError::differs_from_record,
                "the signed bytes differ from the record in " + std::string(field));
}

Result<void> check_fields_say(const Transaction1559& said, const Transaction1559& recorded) {
  if (said.chain_id != recorded.chain_id) return differs("chain_id");
  if (said.nonce != recorded.nonce) return differs("nonce");
  if (said.to != recorded.to) return differs("to");
  if (said.value != recorded.value) return differs("value");
  if (said.data != recorded.data) return differs("data");
  if (said.gas_limit != recorded.gas_limit) return differs("gas_limit");
  if (said.max_fee != recorded.max_fee) return differs("max_fee");
  if (said.max_priority_fee != recorded.max_priority_fee) return differs("max_priority_fee");
  ensure(said == recorded, "every field of a transaction is compared");
  return {};
}

}  // namespace

Result<void> check_says(const UnprovenTransaction& read, const Transaction1559& recorded,
                        const GivenSignature& given) {
  if (read.signature != given.signature) return differs("the signature");
  if (read.digest != given.digest) return differs("the digest that was signed");
  return check_fields_say(read.tx, recorded);
}

Result<void> check_says(const SignedTransaction& signed_tx, const Transaction1559& recorded,
                        const Address20& sender) {
  if (signed_tx.sender != sender) return differs("the sending account");
  return check_fields_say(signed_tx.tx, recorded);
}

}  // namespace holdfast::evm

#include "sim/wire.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::sim {

namespace {

/// Fields, each behind its length as four big-endian bytes.
class FieldWriter {
 public:
  FieldWriter& add(ByteView field) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      out_.push_back(static_cast<Byte>(field.size() >> shift));
    }
    out_.insert(out_.end(), field.begin(), field.end());
    return *this;
  }
  FieldWriter& add(std::string_view field) { return add(as_bytes(field)); }
  FieldWriter& add(const U256& number) { return add(ByteView(number.big_endian())); }
  Bytes take() { return std::move(out_); }

 private:
  Bytes out_;
};

/// Reads them back; once anything is wrong, everything is empty and `good` is false.
class FieldReader {
 public:
  explicit FieldReader(ByteView bytes) : left_(bytes) {}

  ByteView bytes() {
    if (left_.size() < 4) return fail();
    std::size_t size = 0;
    for (std::size_t at = 0; at < 4; ++at) size = size << 8 | left_[at];
    left_ = left_.subspan(4);
    if (left_.size() < size) return fail();
    const ByteView field = left_.first(size);
    left_ = left_.subspan(size);
    return field;
  }
  std::string text() { return std::string(as_text(bytes())); }
  U256 number() {
    const auto value = U256::from_big_endian(bytes());
    if (!value) fail();
    return value.value_or(U256{});
  }
  std::uint64_t small() {
    const auto value = number().to_u64();
    if (!value) fail();
    return value.value_or(0);
  }
  template <class Fixed>
  Fixed fixed() {
    const auto value = Fixed::from(bytes());
    if (!value) fail();
    return value.value_or(Fixed{});
  }
  bool good() const { return good_; }
  ByteView rest() const { return left_; }

 private:
  ByteView fail() {
    good_ = false;
    left_ = {};
    return {};
  }
  ByteView left_;
  bool good_ = true;
};

constexpr std::string_view call_tag = "sim/call/1";
constexpr std::string_view tx_tag = "sim/tx/1";

// Chain times are never negative here, and go as plain numbers.
U256 number_of(std::int64_t value) {
  return U256(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value)));
}

}  // namespace

ports::Call to_call(const SimCall& call) {
  Bytes tail;
  if (call.ref) tail.assign(call.ref->value.begin(), call.ref->value.end());
  if (call.kind == SimCall::Kind::nothing) return {call.to, call.amount, std::move(tail)};
  FieldWriter out;
  out.add(call_tag).add(U256(static_cast<std::uint64_t>(call.kind)));
  out.add(call.from.value).add(call.to.value).add(call.amount);
  out.add(call.authorization.nonce.view());
  out.add(number_of(call.authorization.validity.after_s));
  out.add(number_of(call.authorization.validity.before_s));
  out.add(ByteView(call.authorization.signature));
  Bytes payload = out.take();
  payload.insert(payload.end(), tail.begin(), tail.end());
  return {domain::Address{call.asset.value}, domain::Amount{}, std::move(payload)};
}

std::optional<SimCall> read_call(const ports::Call& call) {
  SimCall out;
  FieldReader in(call.payload);
  if (in.text() != call_tag || !in.good()) {
    // Native value, or nothing; the payload is at most a ref.
    out.asset = domain::native_asset;
    out.to = call.target;
    out.amount = call.value;
    if (call.payload.empty()) return out;
    out.ref = domain::Ref::from(call.payload);
    if (!out.ref) return std::nullopt;
    return out;
  }
  const std::uint64_t kind = in.small();
  if (kind == 0 || kind > static_cast<std::uint64_t>(SimCall::Kind::cancel_authorization)) {
    return std::nullopt;
  }
  out.kind = static_cast<SimCall::Kind>(kind);
  out.asset = domain::AssetId{call.target.value};
  out.from = domain::Address{in.text()};
  out.to = domain::Address{in.text()};
  out.amount = in.number();
  out.authorization.nonce = in.fixed<domain::Nonce>();
  out.authorization.validity.after_s = static_cast<std::int64_t>(in.small());
  out.authorization.validity.before_s = static_cast<std::int64_t>(in.small());
  const ByteView signature = in.bytes();
  out.authorization.signature.assign(signature.begin(), signature.end());
  if (!in.good()) return std::nullopt;
  if (!in.rest().empty()) {
    out.ref = domain::Ref::from(in.rest());
    if (!out.ref) return std::nullopt;
  }
  return out;
}

Bytes encode(const SimTx& tx) {
  const ports::Order& order = tx.order;
  FieldWriter out;
  out.add(tx_tag).add(tx.chain.value).add(order.sender.value).add(U256(order.sequence.value));
  out.add(order.call.target.value).add(order.call.value).add(ByteView(order.call.payload));
  out.add(order.fees.max_fee).add(order.fees.priority_fee).add(U256(order.fees.gas_limit));
  out.add(ByteView(tx.signature));
  return out.take();
}

std::optional<SimTx> decode(ByteView bytes) {
  FieldReader in(bytes);
  if (in.text() != tx_tag) return std::nullopt;
  SimTx tx;
  tx.chain = domain::ChainId{in.text()};
  tx.order.sender = domain::Address{in.text()};
  tx.order.sequence = domain::Sequence{in.small()};
  tx.order.call.target = domain::Address{in.text()};
  tx.order.call.value = in.number();
  const ByteView payload = in.bytes();
  tx.order.call.payload.assign(payload.begin(), payload.end());
  tx.order.fees.max_fee = in.number();
  tx.order.fees.priority_fee = in.number();
  tx.order.fees.gas_limit = in.small();
  const ByteView signature = in.bytes();
  tx.signature.assign(signature.begin(), signature.end());
  if (!in.good() || !in.rest().empty()) return std::nullopt;
  return tx;
}

domain::TxHash hash_of(ByteView bytes) { return domain::TxHash{sha256(bytes)}; }

Digest digest_of(const domain::ChainId& chain, const ports::Order& order) {
  return FieldHash("sim/order/1").add(encode({chain, order, {}})).finish();
}

Digest authorization_digest(const domain::Terms& terms, const domain::Nonce& nonce,
                            const domain::Validity& validity) {
  FieldHash hash("sim/authorization/1");
  hash.add(terms.asset.value).add(terms.payer.value).add(terms.payee.value);
  hash.add(ByteView(terms.amount.big_endian())).add(nonce.view());
  hash.add(ByteView(number_of(validity.after_s).big_endian()));
  hash.add(ByteView(number_of(validity.before_s).big_endian()));
  return hash.finish();
}

Bytes sign_as(const domain::Address& account, const Digest& digest) {
  const Digest made =
      FieldHash("sim/signature/1").add(account.value).add(ByteView(digest)).finish();
  return {made.begin(), made.end()};
}

domain::Authorization authorize(const domain::Intent& intent) {
  return authorize(intent.terms, domain::Nonce{intent.ref.value}, intent.validity);
}

domain::Authorization authorize(const domain::Terms& terms, const domain::Nonce& nonce,
                                const domain::Validity& validity) {
  return {nonce, validity, sign_as(terms.payer, authorization_digest(terms, nonce, validity))};
}

}  // namespace holdfast::sim

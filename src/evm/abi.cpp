#include "evm/abi.hpp"

#include <algorithm>

#include <holdfast/base/ensure.hpp>

#include "evm/codec_error.hpp"

namespace holdfast::evm::abi {
namespace {

constexpr std::size_t word_size = 32;

std::size_t padded(std::size_t size) { return (size + word_size - 1) / word_size * word_size; }

bool all_zero(ByteView bytes) {
  return std::ranges::all_of(bytes, [](Byte byte) { return byte == 0; });
}

}  // namespace

Selector selector_of(std::string_view signature) {
  Selector out{};
  std::ranges::copy(keccak256(signature).view().first(out.size()), out.begin());
  return out;
}

void append_word(Bytes& out, const U256& number) {
  const auto word = number.big_endian();
  out.insert(out.end(), word.begin(), word.end());
}

void append_word(Bytes& out, const Address20& address) {
  out.insert(out.end(), word_size - Address20::size, Byte{0});
  out.insert(out.end(), address.value.begin(), address.value.end());
}

void append_word(Bytes& out, ByteView bytes32) {
  ensure(bytes32.size() == word_size, "a word has 32 bytes");
  out.insert(out.end(), bytes32.begin(), bytes32.end());
}

CallWriter& CallWriter::uint(const U256& number) {
  append_word(head_, number);
  return *this;
}

CallWriter& CallWriter::address(const Address20& address) {
  append_word(head_, address);
  return *this;
}

CallWriter& CallWriter::bytes32(const Bytes32& bytes) {
  append_word(head_, bytes.view());
  return *this;
}

CallWriter& CallWriter::bytes(ByteView bytes) {
  Bytes tail;
  append_word(tail, U256(bytes.size()));
  tail.insert(tail.end(), bytes.begin(), bytes.end());
  tail.resize(word_size + padded(bytes.size()));
  tails_.emplace_back(head_.size(), std::move(tail));
  append_word(head_, U256{});  // finish() writes the offset here
  return *this;
}

Bytes CallWriter::finish() const {
  Bytes out = head_;
  const std::size_t selector_size = Selector{}.size();
  for (const auto& [where, tail] : tails_) {
    const auto offset = U256(out.size() - selector_size).big_endian();
    std::ranges::copy(offset, out.begin() + static_cast<std::ptrdiff_t>(where));
    out.insert(out.end(), tail.begin(), tail.end());
  }
  return out;
}

Reader::Reader(ByteView data, std::size_t head_words, std::string_view what)
    : data_(data),
      what_(what),
      head_end_(head_words * word_size),
      tail_at_(head_words * word_size) {
  if (data_.empty() && head_words > 0) {
    refusal_ = what_ + " is empty";
  } else if (data_.size() < head_end_) {
    refusal_ = what_ + " has " + std::to_string(data_.size()) + " bytes; at least " +
               std::to_string(head_end_) + " are needed";
  }
}

void Reader::refuse_field(std::string_view field, std::string_view reason) {
  if (refusal_.empty()) {
    refusal_ = what_ + ": " + std::string(field) + " " + std::string(reason);
  }
}

ByteView Reader::next_word() {
  static constexpr std::array<Byte, word_size> zeros{};
  if (!refusal_.empty()) return zeros;
  ensure(at_ < head_end_, "no more arguments are read than the head has");
  const ByteView out = data_.subspan(at_, word_size);
  at_ += word_size;
  return out;
}

U256 Reader::uint() { return *U256::from_big_endian(next_word()); }

std::uint64_t Reader::small_uint(std::string_view field, unsigned bits) {
  ensure(bits > 0 && bits <= 64, "a small number has at most 64 bits");
  const auto number = uint().to_u64();
  const bool fits = number && (bits == 64 || *number >> bits == 0);
  if (!fits) refuse_field(field, "does not fit into " + std::to_string(bits) + " bits");
  return fits ? *number : 0;
}

Address20 Reader::address(std::string_view field) {
  const ByteView all = next_word();
  if (!all_zero(all.first(word_size - Address20::size))) {
    refuse_field(field, "is no address: the bytes before it are not zero");
    return {};
  }
  return *Address20::from(all.last(Address20::size));
}

Bytes32 Reader::bytes32() { return *Bytes32::from(next_word()); }

bool Reader::boolean(std::string_view field) {
  const U256 number = uint();
  if (number > U256(1)) refuse_field(field, "is neither 0 nor 1");
  return number == U256(1);
}

Bytes Reader::bytes(std::string_view field, std::size_t limit) {
  const U256 offset = uint();
  if (!refusal_.empty()) return {};
  if (offset != U256(tail_at_) || data_.size() - tail_at_ < word_size) {
    refuse_field(field, "does not follow the arguments before it");
    return {};
  }
  const auto length = U256::from_big_endian(data_.subspan(tail_at_, word_size))->to_u64();
  if (!length || *length > limit) {
    refuse_field(field, "is longer than " + std::to_string(limit) + " bytes");
    return {};
  }
  const ByteView rest = data_.subspan(tail_at_ + word_size);
  if (rest.size() < padded(*length)) {
    refuse_field(field, "is cut short");
    return {};
  }
  if (!all_zero(rest.subspan(*length, padded(*length) - *length))) {
    refuse_field(field, "is not padded with zeros");
    return {};
  }
  tail_at_ += word_size + padded(*length);
  const ByteView content = rest.first(*length);
  return Bytes(content.begin(), content.end());
}

Result<void> Reader::finish() const {
  if (!refusal_.empty()) return refuse(CodecError::bad_abi, refusal_);
  ensure(at_ == head_end_, "every argument is read");
  if (tail_at_ != data_.size()) {
    return refuse(CodecError::bad_abi, what_ + " has " + std::to_string(data_.size()) + " bytes; " +
                                           std::to_string(tail_at_) + " are expected");
  }
  return {};
}

}  // namespace holdfast::evm::abi

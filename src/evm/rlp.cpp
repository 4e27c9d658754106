#include "evm/rlp.hpp"

#include <algorithm>

#include "evm/codec_error.hpp"

namespace holdfast::evm::rlp {
namespace {

constexpr Byte short_string = 0x80;
constexpr Byte short_list = 0xc0;
constexpr std::size_t short_max = 55;

void append_header(Bytes& out, std::size_t length, Byte base) {
  if (length <= short_max) {
    out.push_back(static_cast<Byte>(base + length));
    return;
  }
  const auto word = U256(length).big_endian();
  const auto first = std::ranges::find_if(word, [](Byte byte) { return byte != 0; });
  out.push_back(static_cast<Byte>(base + short_max + static_cast<std::size_t>(word.end() - first)));
  out.insert(out.end(), first, word.end());
}

class Decoder {
 public:
  Decoder(ByteView all, const Limits& limits) : all_(all), limits_(limits) {}

  Result<Item> run() {
    if (all_.size() > limits_.bytes) {
      return refuse(CodecError::bad_rlp, "the RLP has " + std::to_string(all_.size()) +
                                             " bytes; the limit is " +
                                             std::to_string(limits_.bytes));
    }
    Result<Item> item = value(all_.size(), 0);
    if (item && at_ != all_.size()) return wrong("bytes follow the value");
    return item;
  }

 private:
  Error wrong(std::string_view what) const {
    return refuse(CodecError::bad_rlp,
                  "RLP, offset " + std::to_string(at_) + ": " + std::string(what));
  }

  /// One value that must end at or before `end`; moves `at_` behind it.
  Result<Item> value(std::size_t end, std::size_t depth) {
    if (at_ >= end) return wrong("a value is missing");
    const Byte first = all_[at_];
    if (first < short_string) return Item{false, all_.subspan(at_++, 1), {}};
    const bool is_list = first >= short_list;
    Result<std::size_t> length = content_length(first, is_list ? short_list : short_string, end);
    if (!length) return length.error();
    const ByteView content = all_.subspan(at_, *length);
    if (!is_list && content.size() == 1 && content[0] < short_string) {
      return wrong("one small byte must stand for itself, without a length");
    }
    if (is_list) return list(content, depth);
    at_ += content.size();
    return Item{false, content, {}};
  }

  Result<Item> list(ByteView content, std::size_t depth) {
    if (depth >= limits_.depth) return wrong("lists are nested too deeply");
    const std::size_t end = at_ + content.size();
    Item out{true, content, {}};
    while (at_ < end) {
      if (++items_ > limits_.items) return wrong("there are too many items");
      Result<Item> item = value(end, depth + 1);
      if (!item) return item;
      out.items.push_back(std::move(*item));
    }
    return out;
  }

  /// Reads the header at `at_` and moves behind it; the content is known to fit before `end`.
  Result<std::size_t> content_length(Byte first, Byte base, std::size_t end) {
    std::size_t length = static_cast<std::size_t>(first - base);
    std::size_t header = 1;
    if (length > short_max) {
      const std::size_t digits = length - short_max;
      if (end - at_ - 1 < digits) return wrong("the length is cut short");
      const ByteView text = all_.subspan(at_ + 1, digits);
      if (text[0] == 0) return wrong("the length has a leading zero");
      length = 0;
      for (const Byte byte : text) length = length << 8 | byte;  // at most eight bytes
      if (length <= short_max) return wrong("a short length is written in the long form");
      header += digits;
    }
    if (length > end - at_ - header) return wrong("the content is cut short");
    at_ += header;
    return length;
  }

  ByteView all_;
  Limits limits_;
  std::size_t at_ = 0;
  std::size_t items_ = 0;
};

}  // namespace

void append_bytes(Bytes& out, ByteView bytes) {
  if (bytes.size() != 1 || bytes[0] >= short_string) {
    append_header(out, bytes.size(), short_string);
  }
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_uint(Bytes& out, const U256& number) {
  const auto word = number.big_endian();
  const auto first = std::ranges::find_if(word, [](Byte byte) { return byte != 0; });
  append_bytes(out, ByteView(first, word.end()));
}

void append_list(Bytes& out, ByteView payload) {
  append_header(out, payload.size(), short_list);
  out.insert(out.end(), payload.begin(), payload.end());
}

Result<Item> decode(ByteView encoded, const Limits& limits) {
  return Decoder(encoded, limits).run();
}

Result<U256> to_uint(const Item& item, std::string_view field) {
  const auto wrong = [&](std::string_view why) {
    return refuse(CodecError::bad_rlp, std::string(field) + " " + std::string(why));
  };
  if (item.is_list) return wrong("is a list, not a number");
  if (!item.bytes.empty() && item.bytes[0] == 0) return wrong("has a leading zero byte");
  const auto number = U256::from_big_endian(item.bytes);
  if (!number) return wrong("is over 2^256 - 1");
  return *number;
}

Result<std::uint64_t> to_u64(const Item& item, std::string_view field) {
  const Result<U256> number = to_uint(item, field);
  if (!number) return number.error();
  const auto small = number->to_u64();
  if (!small) return refuse(CodecError::bad_rlp, std::string(field) + " is over 2^64 - 1");
  return *small;
}

}  // namespace holdfast::evm::rlp

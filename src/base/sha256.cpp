#include <holdfast/base/sha256.hpp>

#include <openssl/sha.h>

namespace holdfast {
namespace {

void append_big_endian(Bytes& out, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<Byte>(number >> shift));
}

}  // namespace

Digest sha256(ByteView bytes) {
  Digest out;
  SHA256(bytes.data(), bytes.size(), out.data());
  return out;
}

FieldHash::FieldHash(std::string_view tag) {
  buffer_.reserve(512);
  add(tag);
}

FieldHash& FieldHash::add(ByteView field) {
  append_big_endian(buffer_, field.size());
  buffer_.insert(buffer_.end(), field.begin(), field.end());
  return *this;
}

FieldHash& FieldHash::add(std::uint64_t number) {
  append_big_endian(buffer_, 8);
  append_big_endian(buffer_, number);
  return *this;
}

Digest FieldHash::finish() const { return sha256(buffer_); }

}  // namespace holdfast

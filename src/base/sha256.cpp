#include <holdfast/base/sha256.hpp>

#include <openssl/evp.h>

#include <holdfast/base/ensure.hpp>

namespace holdfast {
namespace {

void append_big_endian(Bytes& out, std::uint64_t number) {
  std::array<Byte, 8> bytes{};
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<Byte>(number >> (56 - 8 * i));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

Digest sha256(ByteView bytes) {
  Digest out;
  // Fetched once: the one-shot SHA256() looks the algorithm up, under a lock, at every call.
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  const int done = EVP_Digest(bytes.data(), bytes.size(), out.data(), nullptr, algorithm, nullptr);
  ensure(done == 1, "SHA-256 is there");
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

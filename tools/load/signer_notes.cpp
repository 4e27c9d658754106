#include "signer_notes.hpp"

#include <utility>

#include "books.hpp"

namespace holdfast::load {

namespace {

constexpr std::size_t end_of_s = 64;  // r, s, y-parity

}  // namespace

void SignerNotes::note(Key key, const domain::Address& account) {
  const std::scoped_lock lock(mutex_);
  noted_[key] = account;
}

std::optional<domain::Address> SignerNotes::take(Key key) {
  const std::scoped_lock lock(mutex_);
  auto found = noted_.extract(key);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

boost::asio::awaitable<ports::Outcome<Bytes>> NotingSigner::sign(domain::Address account,
                                                                 Digest digest) {
  ports::Outcome<Bytes> out = co_await signer_.sign(account, digest);
  if (const Bytes* const signature = out.ok(); signature && signature->size() >= end_of_s) {
    notes_.note(head_of(ByteView(*signature).first(end_of_s).last(SignerNotes::key_size)), account);
  }
  co_return out;
}

}  // namespace holdfast::load

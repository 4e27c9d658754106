// Owns: who signed what, as our own signer tells it: so that a chain of ours in the same process
// need not recover a key from each signature, which is dearer than the rest of what it does.
// Must never: be asked by the engine.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include <holdfast/ports/signer.hpp>

namespace holdfast::load {

/// From any thread.
class SignerNotes {
 public:
  /// The last eight bytes of s tell signatures apart.
  using Key = std::uint64_t;
  static constexpr std::size_t key_size = sizeof(Key);

  void note(Key key, const domain::Address& account);
  /// And forgets it. Empty: not told, or taken already.
  std::optional<domain::Address> take(Key key);

 private:
  std::mutex mutex_;
  std::unordered_map<Key, domain::Address> noted_;
};

/// Signs with another signer, and notes it.
class NotingSigner final : public ports::Signer {
 public:
  /// Both outlive it.
  NotingSigner(ports::Signer& signer, SignerNotes& notes) : signer_(signer), notes_(notes) {}

  std::vector<domain::Address> accounts() const override { return signer_.accounts(); }
  bool local() const override { return signer_.local(); }
  bool checks_itself() const override { return signer_.checks_itself(); }
  boost::asio::awaitable<ports::Outcome<Bytes>> sign(domain::Address account,
                                                     Digest digest) override;

 private:
  ports::Signer& signer_;
  SignerNotes& notes_;
};

}  // namespace holdfast::load

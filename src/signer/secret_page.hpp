// Owns: the memory a secret lives in: a page of its own, kept out of swap, core dumps and forked
// children where the system allows it, and wiped before it is given back.
// Must never: be copied, or hand its bytes to anything that keeps them.
#pragma once

#include <cstddef>
#include <span>

#include <holdfast/base/bytes.hpp>

namespace holdfast::signer {

class SecretPage {
 public:
  static constexpr std::size_t size = 4096;

  /// Throws std::bad_alloc. A system that refuses to lock memory (a limit, a container) is noted
  /// once in the log; the page is used all the same, since a key that works is worth more there.
  SecretPage();
  ~SecretPage();
  SecretPage(SecretPage&& other) noexcept;
  SecretPage& operator=(SecretPage&& other) noexcept;
  SecretPage(const SecretPage&) = delete;
  SecretPage& operator=(const SecretPage&) = delete;

  /// Not of a moved-from page.
  std::span<Byte> bytes() const { return {start_, size}; }
  void wipe();

 private:
  Byte* start_ = nullptr;
};

}  // namespace holdfast::signer

#include "signer/secret_page.hpp"

#include <new>
#include <utility>

#include <string.h>
#include <sys/mman.h>

#include <holdfast/base/log.hpp>

namespace holdfast::signer {

SecretPage::SecretPage() {
  void* const page =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::bad_alloc();
  start_ = static_cast<Byte*>(page);
  const bool locked = mlock(page, size) == 0;
  const bool undumped = madvise(page, size, MADV_DONTDUMP) == 0;
  madvise(page, size, MADV_WIPEONFORK);
  static bool noted = false;
  if ((!locked || !undumped) && !noted) {
    noted = true;
    log::warn("signer_memory_unprotected",
              {{"locked", locked ? "yes" : "no"}, {"undumped", undumped ? "yes" : "no"}});
  }
}

SecretPage::~SecretPage() {
  if (start_ == nullptr) return;
  wipe();
  munmap(start_, size);
}

SecretPage::SecretPage(SecretPage&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)) {}

SecretPage& SecretPage::operator=(SecretPage&& other) noexcept {
  std::swap(start_, other.start_);
  return *this;
}

void SecretPage::wipe() { explicit_bzero(start_, size); }

}  // namespace holdfast::signer

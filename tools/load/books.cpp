#include "books.hpp"

#include <algorithm>
#include <cstring>

namespace holdfast::load {

namespace {

// Whether the record and the chain say the same of one payment.
bool agrees(const Owed& owed, const Recorded& recorded, std::span<const Moved> moved) {
  using enum domain::IntentState;
  switch (recorded.state) {
    case settled:
      return std::ranges::any_of(moved, [&](const Moved& each) {
        return each.payee == owed.payee && each.amount == owed.amount;
      });
    case failed:
    case canceled: return moved.empty();
    case needs_review: return true;
    default: return false;
  }
}

void count(Audit& out, domain::IntentState state) {
  using enum domain::IntentState;
  if (state == settled) ++out.settled;
  if (state == failed || state == canceled) ++out.failed;
  if (state == needs_review) ++out.in_review;
}

}  // namespace

Head head_of(ByteView bytes) {
  Head out = 0;
  std::memcpy(&out, bytes.data(), std::min(bytes.size(), sizeof out));
  return out;
}

Audit audit(std::span<Owed> owed, std::span<Moved> moved, std::span<Recorded> recorded) {
  std::ranges::sort(owed, {}, &Owed::ref);
  std::ranges::sort(moved, {}, &Moved::ref);
  std::ranges::sort(recorded, {}, &Recorded::ref);
  Audit out;
  std::size_t known = 0;  // transfers with the ref of a payment
  for (const Owed& payment : owed) {
    const auto transfers = std::ranges::equal_range(moved, payment.ref, {}, &Moved::ref);
    known += transfers.size();
    if (transfers.size() > 1) out.doubled += transfers.size() - 1;
    const auto record = std::ranges::lower_bound(recorded, payment.ref, {}, &Recorded::ref);
    if (record == recorded.end() || record->ref != payment.ref) {
      ++out.lost;
      continue;
    }
    count(out, record->state);
    if (!agrees(payment, *record, transfers)) ++out.lost;
  }
  out.doubled += moved.size() - known;
  return out;
}

}  // namespace holdfast::load

#include "evm/agreement.hpp"

#include <algorithm>
#include <array>

namespace holdfast::evm {

using ports::Outcome;
using Kind = ports::RefusalKind;

namespace {

/// From the refusal that leaves most open to the one that ends most: where nodes refuse the same
/// bytes for different reasons, the most careful reading is acted on.
constexpr std::array careful_first{
    Kind::nonce_too_low, Kind::replacement_underpriced,
    Kind::type_conflict, Kind::nonce_too_high,
    Kind::pool_full,     Kind::underpriced,
    Kind::over_fee_cap,  Kind::no_such_method,
    Kind::unfunded,      Kind::other,
    Kind::gas,           Kind::reverted,
    Kind::tx_type,       Kind::stuck_for_good,
    Kind::malformed,
};

std::size_t rank(const ports::Refused& refused) {
  return static_cast<std::size_t>(std::ranges::find(careful_first, refused.kind) -
                                  careful_first.begin());
}

template <class T>
Outcome<T> run_by(const Said<T>& said) {
  const ports::Refused* refused = nullptr;
  const Outcome<T>* cannot_tell = nullptr;
  for (const Outcome<T>& one : said) {
    if (one.ok() != nullptr) return one;
    const ports::Refused* no = one.refused();
    if (no == nullptr) {
      if (cannot_tell == nullptr || one.unknown() != nullptr) cannot_tell = &one;
    } else if (no->kind != Kind::no_such_method &&
               (refused == nullptr || rank(*no) < rank(*refused))) {
      refused = no;
    }
  }
  if (cannot_tell != nullptr) return *cannot_tell;
  if (refused != nullptr) return *refused;
  return agreed_failure(said);
}

}  // namespace

Outcome<ports::Posted> agreed_post(const Said<ports::Posted>& said) {
  const ports::Posted* accepted = nullptr;
  const ports::Refused* refused = nullptr;
  const ports::Unknown* unknown = nullptr;
  for (const Outcome<ports::Posted>& one : said) {
    if (const ports::Posted* posted = one.ok()) {
      if (accepted == nullptr || !posted->already_known) accepted = posted;
    } else if (const ports::Refused* no = one.refused()) {
      if (refused == nullptr || rank(*no) < rank(*refused)) refused = no;
    } else if (const ports::Unknown* lost = one.unknown()) {
      // One that was not just turned away tells more.
      if (unknown == nullptr || (unknown->rate_limited && !lost->rate_limited)) unknown = lost;
    }
  }
  if (accepted != nullptr) return *accepted;
  if (unknown != nullptr) return *unknown;
  if (refused != nullptr) return *refused;
  return agreed_failure(said);
}

bool says_the_same(const domain::MinedTx& one, const domain::MinedTx& other) {
  const auto same_transfer = [](const domain::Transfer& left, const domain::Transfer& right) {
    return left.asset == right.asset && left.from == right.from && left.to == right.to &&
           left.amount == right.amount;
  };
  const auto same_event = [](const domain::AuthorizationEvent& left,
                             const domain::AuthorizationEvent& right) {
    return left.asset == right.asset && left.authorizer == right.authorizer &&
           left.nonce == right.nonce && left.canceled == right.canceled &&
           left.method == right.method;
  };
  return one.hash == other.hash && one.block == other.block && one.succeeded == other.succeeded &&
         one.sender == other.sender && one.sequence == other.sequence &&
         one.trailing_ref == other.trailing_ref &&
         std::ranges::equal(one.transfers, other.transfers, same_transfer) &&
         std::ranges::equal(one.authorizations, other.authorizations, same_event);
}

Outcome<ports::Whereabouts> agreed_place(const Said<ports::Whereabouts>& said) {
  const Outcome<ports::Whereabouts>* best = nullptr;
  bool all_answered = true;
  for (const Outcome<ports::Whereabouts>& one : said) {
    if (one.ok() == nullptr) {
      all_answered = false;
    } else if (best == nullptr || one.ok()->place > best->ok()->place) {
      best = &one;
    }
  }
  if (best == nullptr) return agreed_failure(said);
  const ports::Whereabouts& found = *best->ok();
  if (found.tx && !found.tx->succeeded) {
    const bool all_say_so = std::ranges::all_of(said, [&](const auto& one) {
      return one.ok() != nullptr && one.ok()->tx && says_the_same(*one.ok()->tx, *found.tx);
    });
    if (all_say_so) return *best;
    return ports::Unknown{"it ran and failed, but not every endpoint says so", false};
  }
  if (found.place != ports::Whereabouts::Place::not_found || all_answered) return *best;
  return ports::Unknown{"not found, but not every endpoint answered", false};
}

Outcome<ports::SequenceCounts> agreed_counts(const Said<ports::SequenceCounts>& said) {
  std::optional<ports::SequenceCounts> out;
  for (const Outcome<ports::SequenceCounts>& one : said) {
    const ports::SequenceCounts* counts = one.ok();
    if (counts == nullptr) continue;
    if (!out) out = *counts;
    out->latest = std::max(out->latest, counts->latest);
    out->pending = std::max(out->pending, counts->pending);
    out->finalized = std::min(out->finalized, counts->finalized);
  }
  if (!out) return agreed_failure(said);
  return *out;
}

Outcome<ports::Simulated> agreed_run(const Said<ports::Simulated>& said) { return run_by(said); }

Outcome<bool> agreed_run(const Said<bool>& said) { return run_by(said); }

ports::Head agreed_head(const std::vector<ports::Head>& said) {
  ports::Head out = said.front();
  for (const ports::Head& one : said) {
    if (one.latest.height < out.latest.height) out.latest = one.latest;
    if (one.finalized.height < out.finalized.height) out.finalized = one.finalized;
    out.safe_height = std::min(out.safe_height, one.safe_height);
    out.latest_time_s = std::min(out.latest_time_s, one.latest_time_s);
    out.finalized_time_s = std::min(out.finalized_time_s, one.finalized_time_s);
  }
  return out;
}

Outcome<std::optional<domain::MinedTx>> agreed_consumer(
    const Said<std::optional<domain::MinedTx>>& said) {
  const std::optional<domain::MinedTx>* found = nullptr;
  bool none = false;
  bool all_answered = true;
  for (const auto& one : said) {
    if (one.ok() == nullptr) {
      all_answered = false;
    } else if (!*one.ok()) {
      none = true;
    } else if (found == nullptr) {
      found = one.ok();
    } else if (!says_the_same(**found, **one.ok())) {
      return ports::Unknown{"the endpoints disagree about who used this number", false};
    }
  }
  if (found != nullptr && none) {
    return ports::Unknown{"the endpoints disagree whether this number is used with finality",
                          false};
  }
  if (found != nullptr) return *found;
  if (none && all_answered) return std::optional<domain::MinedTx>{};
  return agreed_failure(said);
}

}  // namespace holdfast::evm

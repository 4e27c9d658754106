// The rules an entry must keep to get in, and what it then does to the balances.
#include <algorithm>
#include <set>

#include <holdfast/domain/journal.hpp>

namespace holdfast::domain {
namespace {

using Movements = std::map<std::string, SignedAmount>;

Error overflow(const Entry& entry) {
  return refuse(JournalError::overflow, entry.id + " takes an amount over 2^256 - 1");
}

bool add_legs(Movements& movements, const std::vector<Leg>& legs) {
  for (const Leg& leg : legs) {
    const auto sum = movements[leg.account].plus(leg.amount);
    if (!sum) return false;
    movements[leg.account] = *sum;
  }
  return true;
}

bool is_reverse_of(const Entry& entry, const Entry& hold) {
  return std::equal(entry.legs.begin(), entry.legs.end(), hold.legs.begin(), hold.legs.end(),
                    [](const Leg& left, const Leg& right) {
                      return left.account == right.account && left.amount == right.amount.negated();
                    });
}

bool belongs_to(const Entry& entry, const Entry& hold) {
  const auto stem = [](const std::string& id) { return id.substr(0, id.rfind('/')); };
  return hold.kind == EntryKind::hold && stem(entry.id) == stem(hold.id) &&
         entry.chain == hold.chain && entry.asset == hold.asset;
}

// The net of hold and post: what left the source, what reached the others.
Result<Movements> net_of_post(const Entry& entry, const Entry& hold) {
  Movements net;
  if (!add_legs(net, hold.legs) || !add_legs(net, entry.legs)) return overflow(entry);
  const auto held = net.find(hold_account(hold.chain));
  if (held == net.end() || !held->second.magnitude.is_zero()) {
    return refuse(JournalError::over_hold, entry.id + " does not take exactly what was held");
  }
  net.erase(held);
  return net;
}

}  // namespace

// Each sign is summed on its own, so that the verdict does not depend on the order of the legs.
Result<void> check_entry(const Entry& entry) {
  if (entry.legs.size() < 2) {
    return refuse(JournalError::too_few_legs, entry.id + " has fewer than two legs");
  }
  std::set<std::string_view> accounts;
  Amount in;
  Amount out;
  for (const Leg& leg : entry.legs) {
    if (leg.amount.magnitude.is_zero()) {
      return refuse(JournalError::zero_leg, entry.id + " has a zero leg on " + leg.account);
    }
    if (!accounts.insert(leg.account).second) {
      return refuse(JournalError::repeated_account, entry.id + " names " + leg.account + " twice");
    }
    Amount& side = leg.amount.negative ? out : in;
    const auto sum = side.plus(leg.amount.magnitude);
    if (!sum) return overflow(entry);
    side = *sum;
  }
  if (in == out) return {};
  return refuse(JournalError::unbalanced,
                entry.id + " puts in " + in.decimal() + " and takes out " + out.decimal());
}

Result<Appending> check_append(const Entry& entry, const EntriesThere& there) {
  if (there.same_id) {
    if (there.same_id->same_content(entry)) return Appending::replay;
    return refuse(JournalError::conflict, entry.id + " is there already with other content");
  }
  if (const auto sound = check_entry(entry); sound.has_error()) return sound.error();
  if (entry.kind == EntryKind::hold || entry.kind == EntryKind::gas) return Appending::append;
  if (!there.hold || !belongs_to(entry, *there.hold)) {
    return refuse(JournalError::no_hold, entry.id + " resolves no hold");
  }
  if (there.resolution) {
    return refuse(JournalError::resolved,
                  there.hold->id + " is resolved already by " + there.resolution->id);
  }
  if (const auto changes = balance_changes(entry, there.hold); changes.has_error()) {
    return changes.error();
  }
  return Appending::append;
}

Result<std::map<BalanceKey, Balance>> balance_changes(const Entry& entry,
                                                      const std::optional<Entry>& hold) {
  const bool resolves = entry.kind == EntryKind::post || entry.kind == EntryKind::void_;
  if (resolves && (!hold || !belongs_to(entry, *hold))) {
    return refuse(JournalError::no_hold, entry.id + " resolves no hold");
  }
  if (entry.kind == EntryKind::void_ && !is_reverse_of(entry, *hold)) {
    return refuse(JournalError::conflict, entry.id + " is not its hold reversed");
  }
  std::map<BalanceKey, Balance> changes;
  const auto at = [&](const std::string& account) -> Balance& {
    return changes[{account, entry.chain, entry.asset}];
  };
  if (entry.kind == EntryKind::hold) {
    for (const Leg& leg : entry.legs) at(leg.account).pending = leg.amount;
    return changes;
  }
  if (entry.kind == EntryKind::gas) {
    for (const Leg& leg : entry.legs) at(leg.account).posted = leg.amount;
    return changes;
  }
  for (const Leg& leg : hold->legs) at(leg.account).pending = leg.amount.negated();
  if (entry.kind == EntryKind::post) {
    const auto net = net_of_post(entry, *hold);
    if (net.has_error()) return net.error();
    for (const auto& [account, amount] : *net) at(account).posted = amount;
  }
  return changes;
}

std::optional<Balance> add(const Balance& left, const Balance& right) {
  const auto posted = left.posted.plus(right.posted);
  const auto pending = left.pending.plus(right.pending);
  if (!posted || !pending) return std::nullopt;
  return Balance{*posted, *pending};
}

}  // namespace holdfast::domain

#include "store/reads.hpp"

#include <algorithm>
#include <utility>

#include "store/journal.hpp"
#include "store/rows.hpp"

namespace holdfast::store {
namespace {

using domain::IntentState;

constexpr std::size_t most_listed = 500;
constexpr std::size_t most_watched = 5000;
constexpr std::size_t most_slots = 5000;
constexpr std::size_t most_balances = 10'000;

std::size_t within(std::size_t wanted, std::size_t most) {
  return std::clamp<std::size_t>(wanted, 1, most);
}

// The second condition tells SQLite that the partial index holds every row asked for.
constexpr std::string_view watched_rows =
    " FROM intents i WHERE i.state = $1 AND i.state <> 'settled' AND i.row > $2"
    " ORDER BY i.row LIMIT $3";

std::optional<IntentState> next_watched(IntentState state) {
  switch (state) {
    case IntentState::settling: return IntentState::confirming;
    case IntentState::confirming: return IntentState::needs_review;
    default: return std::nullopt;
  }
}

/// Each row of the page has its rowid and its chain in its first two columns. Returns where to go
/// on.
template <class Take>
std::optional<WatchedPlace> walk_watched(Txn& txn, std::string_view sql,
                                         const domain::ChainId& chain, const WatchedPlace& after,
                                         std::size_t limit, Take take) {
  std::size_t looked = 0;
  std::int64_t last = after.row;
  each(
      txn, sql,
      [&](const Row& row) {
        ++looked;
        last = row.number(0);
        if (row.text(1) == chain.value) take(row);
      },
      domain::to_text(after.state), after.row, limit);
  if (looked == limit) return WatchedPlace{after.state, last};
  const auto state = next_watched(after.state);
  return state ? std::optional(WatchedPlace{*state, 0}) : std::nullopt;
}

std::string intents_where(std::string_view rest) {
  return std::string("SELECT i.row, ")
      .append(intent_columns)
      .append(" FROM intents i WHERE ")
      .append(rest);
}

// Only where a transaction was final may the item have a number after this one.
bool has_later_number(Txn& txn, const SlotRow& row) {
  if (row.slot.state != domain::SlotState::reconciliation_required) return false;
  return number_of(txn,
                   "SELECT EXISTS (SELECT 1 FROM slots WHERE item = $1 AND row > $2"
                   " AND standing <> 'released')",
                   *row.item_row, row.slot.id) != 0;
}

}  // namespace

std::optional<domain::Intent> find_intent(Txn& txn, const domain::IntentId& id) {
  auto row = load_intent(txn, id);
  if (!row) return std::nullopt;
  return std::move(row->intent);
}

std::optional<domain::Intent> find_by_ref(Txn& txn, const domain::Ref& ref) {
  static const std::string sql = intents_where("i.ref = $1");
  return first(txn, sql, [](const Row& row) { return intent_from(row, 1); }, ref);
}

std::optional<domain::Facts> find_facts(Txn& txn, const domain::IntentId& id) {
  auto payment = load_payment(txn, id);
  if (!payment) return std::nullopt;
  return std::move(*payment).facts();
}

// One statement for each shape of the filter. A list by caller or by state has an index; one by
// both walks down the shorter of the two; the settled ones are found among all, newest first.
IntentPage list_intents(Txn& txn, const ListFilter& filter) {
  const std::size_t limit = within(filter.limit, most_listed);
  const std::int64_t before = filter.before > 0 ? filter.before : INT64_MAX;
  IntentPage page;
  std::int64_t last = 0;
  const auto take = [&](const Row& row) {
    if (page.intents.size() == limit) {
      page.next = last;
      return;
    }
    last = row.number(0);
    page.intents.push_back(intent_from(row, 1));
  };
  std::string where = "i.row < $1";
  // The second condition tells SQLite that the partial index holds every row asked for.
  if (filter.state) where += " AND i.state = $3";
  if (filter.state && *filter.state != IntentState::settled) where += " AND i.state <> 'settled'";
  if (filter.caller) where += filter.state ? " AND i.caller = $4" : " AND i.caller = $3";
  const std::string sql = intents_where(where + " ORDER BY i.row DESC LIMIT $2");
  const auto more = limit + 1;
  if (filter.state && filter.caller) {
    each(txn, sql, take, before, more, domain::to_text(*filter.state), *filter.caller);
  } else if (filter.state) {
    each(txn, sql, take, before, more, domain::to_text(*filter.state));
  } else if (filter.caller) {
    each(txn, sql, take, before, more, *filter.caller);
  } else {
    each(txn, sql, take, before, more);
  }
  return page;
}

WatchedPage<domain::Facts> watched(Txn& txn, const domain::ChainId& chain,
                                   const WatchedPlace& after, std::size_t limit) {
  static const std::string sql = std::string("SELECT i.row, i.chain, ")
                                     .append(has_ref_found_column)
                                     .append(intent_columns)
                                     .append(watched_rows);
  WatchedPage<domain::Facts> out;
  std::vector<Payment> payments;
  out.next = walk_watched(txn, sql, chain, after, within(limit, most_watched), [&](const Row& row) {
    Payment& payment = payments.emplace_back();
    payment.row.row = row.number(0);
    payment.row.has_ref_found = row.flag(2);
    payment.row.intent = intent_from(row, 3);
  });
  out.items.reserve(payments.size());
  for (Payment& payment : payments) {
    load_rest(txn, payment);
    out.items.push_back(std::move(payment).facts());
  }
  return out;
}

WatchedPage<WatchedVersion> watched_versions(Txn& txn, const domain::ChainId& chain,
                                             const WatchedPlace& after, std::size_t limit) {
  static const std::string sql =
      std::string("SELECT i.row, i.chain, i.id, i.version").append(watched_rows);
  WatchedPage<WatchedVersion> out;
  out.next = walk_watched(txn, sql, chain, after, within(limit, most_watched), [&](const Row& row) {
    out.items.push_back({row.fixed<domain::IntentId>(2), row.count(3)});
  });
  return out;
}

std::vector<OpenSlot> open_slots(Txn& txn, const domain::ChainId& chain,
                                 const domain::Address& account, std::size_t limit) {
  std::vector<OpenSlot> out;
  for (SlotRow& row : load_open_slots(txn, chain, account, within(limit, most_slots))) {
    OpenSlot open;
    open.attempts = attempts_at_slot(txn, row.slot.id);
    if (row.item_row) {
      IntentRow item = load_intent_at(txn, *row.item_row);
      open.item_leased = item.receipt.has_value();
      open.is_left = has_later_number(txn, row);
      open.item = std::move(item.intent);
    }
    open.slot = std::move(row.slot);
    out.push_back(std::move(open));
  }
  return out;
}

std::optional<domain::Slot> find_slot(Txn& txn, domain::SlotId id) {
  auto row = load_slot(txn, id);
  if (!row) return std::nullopt;
  return std::move(row->slot);
}

std::optional<AccountRow> find_account(Txn& txn, const domain::ChainId& chain,
                                       const domain::Address& account) {
  return first(
      txn,
      "SELECT a.epoch,"
      " (SELECT count(*) FROM slots o WHERE o.account = a.row"
      "  AND o.standing = 'open'),"
      " (SELECT max(t.sequence) FROM slots t WHERE t.account = a.row AND t.standing <> 'released'),"
      " a.adopted, a.answered_for FROM accounts a WHERE a.chain = $1 AND a.address = $2",
      [&](const Row& row) {
        return AccountRow{chain,
                          account,
                          row.count(0),
                          row.small_count(1),
                          row.maybe_sequence(2),
                          row.maybe_sequence(3),
                          row.flag(4)};
      },
      chain, account);
}

// A settled intent is in no index by state: their number is what the others leave of all rows,
// which are numbered without gaps.
std::vector<std::pair<IntentState, std::uint64_t>> state_counts(Txn& txn) {
  std::vector<std::pair<IntentState, std::uint64_t>> out;
  std::uint64_t others = 0;
  each(txn, "SELECT state, count(*) FROM intents WHERE state <> 'settled' GROUP BY state",
       [&](const Row& row) {
         out.emplace_back(row.named(0, domain::intent_state_from), row.count(1));
         others += row.count(1);
       });
  const auto all =
      static_cast<std::uint64_t>(number_of(txn, "SELECT coalesce(max(row), 0) FROM intents"));
  if (all > others) out.emplace_back(IntentState::settled, all - others);
  std::sort(out.begin(), out.end());
  return out;
}

// ---- the journal
// ------------------------------------------------------------------------------------

std::vector<EntryRow> entries_of(Txn& txn, const domain::IntentId& id) {
  static const std::string sql =
      std::string("SELECT ")
          .append(entry_columns)
          .append(
              ", p.hash FROM (SELECT sequence FROM entries"
              " WHERE intent = (SELECT row FROM intents WHERE id = $1)"
              " UNION SELECT g.sequence FROM slots s JOIN entries g ON g.slot = s.row"
              " WHERE s.item = (SELECT row FROM intents WHERE id = $1)) own"
              " JOIN entries e ON e.sequence = own.sequence"
              " LEFT JOIN entries p ON p.sequence = e.sequence - 1 ORDER BY e.sequence");
  std::vector<EntryRow> out;
  each(
      txn, sql,
      [&](const Row& row) {
        auto entry = entry_from(row);
        if (!entry) damaged("an entry of the journal");
        EntryRow found{row.count(0), std::move(*entry), {}, row.digest(7)};
        if (!row.null(8)) found.previous = row.digest(8);
        out.push_back(std::move(found));
      },
      id);
  return out;
}

std::vector<BalanceRow> balances(Txn& txn, std::size_t limit) {
  std::vector<BalanceRow> out;
  each(
      txn,
      "SELECT account, chain, asset, posted, pending FROM balances"
      " ORDER BY account, chain, asset LIMIT $1",
      [&](const Row& row) {
        const auto posted = decode_signed(row.blob(3));
        const auto pending = decode_signed(row.blob(4));
        if (!posted || !pending) damaged("a balance");
        out.push_back(
            {{std::string(row.text(0)), {std::string(row.text(1))}, {std::string(row.text(2))}},
             {*posted, *pending}});
      },
      within(limit, most_balances));
  return out;
}

}  // namespace holdfast::store

// What the watch holds of the journal against terms and chain: every leg of a payment's entries,
// and what each used number cost its account.
#include <map>
#include <optional>

#include <holdfast/domain/journal.hpp>

#include "store/journal.hpp"
#include "store/statements.hpp"
#include "watch.hpp"

namespace holdfast::campaign {

using domain::Amount;
using domain::SignedAmount;
using store::each;
using store::Row;
using store::Txn;

namespace {

/// By account. Written anew here: what the journal's own functions get wrong must show.
using Legs = std::map<std::string, SignedAmount>;

void add(Legs& legs, const std::string& account, bool negative, const Amount& amount) {
  if (!amount.is_zero()) legs[account] = SignedAmount{negative, amount};
}

std::optional<Legs> read_legs(const Row& row, int at) {
  const auto read = store::decode_legs(row.blob(at));
  if (!read) return std::nullopt;
  Legs out;
  for (const domain::Leg& leg : *read) out[leg.account] = leg.amount;
  return out;
}

std::string text_of(const Legs& legs) {
  std::string out;
  for (const auto& [account, amount] : legs) {
    out.append(out.empty() ? "" : ", ").append(account).append(" ").append(amount.decimal());
  }
  return out;
}

}  // namespace

Amount Watch::arrived_of(const Seen& seen) {
  Amount out;
  for (const domain::MinedTx& tx : movers(seen)) {
    for (const domain::Transfer& one : tx.transfers) {
      if (one.asset != seen.asset || one.to != seen.payee) continue;
      out = out.plus(one.amount).value_or(out);
    }
  }
  return out;
}

void Watch::check_entries(sql::Connection& db, std::int64_t intent, const Seen& seen) {
  const std::string source = "source:" + seen.payer.value;
  const std::string hold = "hold:" + seen.chain.value;
  const auto expected = [&](std::string_view kind) -> std::optional<Legs> {
    Legs out;
    if (kind == "hold" || kind == "void") {
      add(out, source, kind == "hold", seen.amount);
      add(out, hold, kind == "void", seen.amount);
      return out;
    }
    if (!chain_counts(seen)) return std::nullopt;
    const Amount arrived = arrived_of(seen);
    add(out, hold, true, seen.amount);
    add(out, "payee:" + seen.payee.value, false, arrived);
    add(out, "fee:" + seen.asset.value, false, seen.amount.minus(arrived).value_or(Amount{}));
    return out;
  };
  Txn txn(db);
  each(
      txn, "SELECT kind, legs, asset FROM entries WHERE intent = $1",
      [&](const Row& row) {
        const std::string kind(row.text(0));
        const auto legs = read_legs(row, 1);
        if (!legs) return say(4, text(seen.id), "its " + kind + " cannot be read");
        const auto wanted = expected(kind);
        if (!wanted || (*legs == *wanted && row.text(2) == seen.asset.value)) return;
        say(kind == "post" ? 9 : 4, text(seen.id),
            "its " + kind + " says " + text_of(*legs) + " of " + std::string(row.text(2)) +
                ", and it should be " + text_of(*wanted) + " of " + seen.asset.value);
      },
      intent);
}

// A number that is used has cost what its transaction did, once, whoever's payment that was.
void Watch::check_gas(sql::Connection& db) {
  struct Used {
    std::int64_t slot = 0;
    domain::Address account;
    std::uint64_t number = 0;
    domain::TxHash by;
  };
  Txn txn(db);
  std::vector<Used> all;
  each(txn,
       "SELECT s.row, c.address, s.sequence, s.consumed_by FROM slots s"
       " JOIN accounts c ON c.row = s.account WHERE s.state = 'consumed'",
       [&](const Row& row) {
         all.push_back({row.number(0),
                        {std::string(row.text(1))},
                        row.count(2),
                        row.fixed<domain::TxHash>(3)});
       });
  for (const Used& one : all) {
    const std::string subject = one.account.value + " number " + std::to_string(one.number);
    const auto tx = chain_.mined(one.by);
    if (!tx || tx->sender != one.account || tx->sequence.value != one.number) {
      say(11, subject, "it is called used by " + one.by.hex() + ", which does not stand there");
      continue;
    }
    Legs sum;
    each(
        txn, "SELECT legs FROM entries WHERE slot = $1",
        [&](const Row& row) {
          for (const auto& [account, amount] : read_legs(row, 0).value_or(Legs{})) {
            SignedAmount& place = sum[account];
            place = place.plus(amount).value_or(place);
          }
        },
        one.slot);
    std::erase_if(sum, [](const auto& leg) { return leg.second.magnitude.is_zero(); });
    Legs wanted;
    add(wanted, "source:" + one.account.value, true, tx->fee_paid);
    add(wanted, "gas:" + chain_.info().id.value, false, tx->fee_paid);
    if (sum == wanted) continue;
    say(4, subject,
        "the journal says it cost " + (sum.empty() ? "nothing" : text_of(sum)) +
            ", and it should be " + text_of(wanted));
  }
}

}  // namespace holdfast::campaign

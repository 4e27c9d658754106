#include "store/dead_letters.hpp"

#include <algorithm>

#include "base/teeth.hpp"
#include "store/events.hpp"
#include "store/queue.hpp"

namespace holdfast::store {
namespace {

using domain::IntentState;

constexpr std::size_t most_listed = 500;

constexpr const char* letter_select =
    "SELECT d.row, i.id, i.ref, d.at_ms, d.deliveries, d.lapsed_leases, d.verdict, d.state,"
    " d.cycles, d.ended_as, d.signed_by, d.ended_why, d.ended_ms, i.state"
    " FROM dead_letters d JOIN intents i ON i.row = d.intent WHERE ";

DeadLetter letter_from(const Row& row) {
  DeadLetter out;
  out.row = row.number(0);
  out.job = {row.fixed<domain::IntentId>(1), row.fixed<domain::Ref>(2)};
  out.at_ms = row.number(3);
  out.deliveries = row.small_count(4);
  out.lapsed_leases = row.small_count(5);
  out.verdict = row.text(6);
  out.state = row.named(7, domain::intent_state_from);
  out.cycles = row.small_count(8);
  if (!row.null(12)) {
    out.end = DeadLetter::End{std::string(row.text(9)), std::string(row.text(10)),
                              std::string(row.text(11)), row.number(12)};
  }
  out.state_now = row.named(13, domain::intent_state_from);
  return out;
}

std::string name_of(std::int64_t row) { return "dead letter " + std::to_string(row); }

/// A letter that may be ended now, with its intent; or the answer that was given before.
struct Opened {
  DeadLetter letter;
  IntentRow intent;
  bool replayed = false;
};

Result<Opened> open_letter(Txn& txn, std::int64_t row, const Signature& by) {
  auto letter = dead_letter(txn, row);
  if (!letter) return refuse(StoreError::not_found, "there is no " + name_of(row));
  auto intent = load_intent(txn, letter->job.intent);
  ensure(intent.has_value(), "a dead letter belongs to no payment");
  if (by.request) {
    const auto before = answered_before(events_of(txn, intent->row), *by.request);
    if (before.has_error()) return before.error();
    if (*before) return Opened{std::move(*letter), std::move(*intent), true};
  }
  if (letter->end) {
    return refuse(StoreError::letter_ended,
                  name_of(row) + " was " + letter->end->as + " before, by " + letter->end->who);
  }
  return Opened{std::move(*letter), std::move(*intent), false};
}

void letter_event(Txn& txn, const IntentRow& intent, const Signature& by, domain::Actor actor,
                  std::string reason) {
  Event event;
  event.at_ms = by.now_ms;
  event.kind = "dead_letter";
  event.actor = actor;
  event.who = by.who;
  event.reason = std::move(reason);
  event.version = intent.intent.version;
  event.request = by.request;
  add_event(txn, intent.row, event);
}

SignedLetter sign(Txn& txn, const Opened& opened, const Signature& by, std::string_view as) {
  const DeadLetter& letter = opened.letter;
  const int redriven = as == "redriven" ? 1 : 0;
  const auto changed =
      execute(txn,
              "UPDATE dead_letters SET ended_as = $1, signed_by = $2, ended_why = $3,"
              " ended_ms = $4, cycles = cycles + $5 WHERE row = $6 AND ended_ms IS NULL",
              as, by.who, by.why, by.now_ms, redriven, letter.row);
  ensure(changed == 1, "a dead letter that was read is gone");
  std::string reason = name_of(letter.row) + " " + std::string(as);
  if (!by.why.empty()) reason.append(": ").append(by.why);
  letter_event(txn, opened.intent, by, domain::Actor::operator_, std::move(reason));
  return {*dead_letter(txn, letter.row), false};
}

std::optional<std::string> why_no_help(IntentState state) {
  using enum IntentState;
  switch (state) {
    case authorized:
    case settling:
    case needs_review: return std::nullopt;
    case created: return "the payment is not authorized yet, so there is nothing for a job to do";
    case confirming:
      return "the payment is confirming: it is followed on the chain, and a job would do nothing";
    case settled:
    case failed:
    case canceled:
      return "the payment has ended as " + std::string(domain::to_text(state)) +
             ": drop the dead letter instead";
  }
  return std::nullopt;
}

}  // namespace

DeadLetterPage dead_letters(Txn& txn, std::size_t limit, std::int64_t cursor, bool open_only) {
  static const std::string all =
      std::string(letter_select) + "d.row < $1 ORDER BY d.row DESC LIMIT $2";
  static const std::string open =
      std::string(letter_select) + "d.row < $1 AND d.ended_ms IS NULL ORDER BY d.row DESC LIMIT $2";
  const std::size_t most = std::clamp<std::size_t>(limit, 1, most_listed);
  DeadLetterPage page;
  each(
      txn, open_only ? open : all,
      [&](const Row& row) {
        if (page.letters.size() == most) {
          page.next = page.letters.back().row;
        } else {
          page.letters.push_back(letter_from(row));
        }
      },
      cursor > 0 ? cursor : INT64_MAX, most + 1);
  return page;
}

std::optional<DeadLetter> dead_letter(Txn& txn, std::int64_t row) {
  static const std::string sql = std::string(letter_select) + "d.row = $1";
  return first(txn, sql, letter_from, row);
}

std::uint64_t parked_count(Txn& txn) {
  return static_cast<std::uint64_t>(
      number_of(txn, "SELECT count(*) FROM dead_letters WHERE ended_ms IS NULL"));
}

std::uint64_t review_count(Txn& txn) {
  return static_cast<std::uint64_t>(number_of(
      txn, "SELECT count(*) FROM intents WHERE state = 'needs_review' AND state <> 'settled'"));
}

Result<SignedLetter> redrive(Txn& txn, std::int64_t row, const Signature& by) {
  const auto opened = open_letter(txn, row, by);
  if (opened.has_error()) return opened.error();
  if (opened->replayed) return SignedLetter{opened->letter, true};
  if (const auto why = why_no_help(opened->intent.intent.state)) {
    return refuse(StoreError::no_help, *why);
  }
  // The job stands before the signature: there is no letter that says redriven without one.
  if (!planted(Tooth::redrive_empty))
    enqueue_for_change(txn, opened->intent, by.queue_ms != 0 ? by.queue_ms : by.now_ms);
  return sign(txn, *opened, by, "redriven");
}

Result<SignedLetter> drop(Txn& txn, std::int64_t row, const Signature& by) {
  const auto opened = open_letter(txn, row, by);
  if (opened.has_error()) return opened.error();
  if (opened->replayed) return SignedLetter{opened->letter, true};
  return sign(txn, *opened, by, "dropped");
}

void park_job(Txn& txn, const IntentRow& intent, const domain::Receipt& receipt,
              std::string_view verdict, std::string_view who, std::int64_t now_ms) {
  struct Counts {
    std::uint32_t deliveries = 0;
    std::uint32_t lapsed_leases = 0;
  };
  const auto counts = first(
      txn, "SELECT deliveries, lapsed_leases FROM jobs WHERE receipt = $1",
      [](const Row& row) { return Counts{row.small_count(0), row.small_count(1)}; }, receipt);
  ensure(counts.has_value(), "a lease that was checked is gone");
  const auto state = domain::to_text(intent.intent.state);
  if (!planted(Tooth::letter_missed))
    execute(txn,
            "INSERT INTO dead_letters (intent, kind, at_ms, deliveries, lapsed_leases, verdict,"
            " state, cycles, signed_by) VALUES ($1, 'settle', $2, $3, $4, $5, $6,"
            " (SELECT coalesce(max(e.cycles), 0) FROM dead_letters e WHERE e.intent = $1), '')"
            " ON CONFLICT (intent, kind) WHERE ended_ms IS NULL DO UPDATE SET"
            " at_ms = excluded.at_ms, deliveries = excluded.deliveries,"
            " lapsed_leases = excluded.lapsed_leases, verdict = excluded.verdict,"
            " state = excluded.state",
            intent.row, now_ms, counts->deliveries, counts->lapsed_leases, verdict, state);
  // Whatever asked for the job again meanwhile: where the payment stands now no job can help it.
  execute(txn, "DELETE FROM jobs WHERE receipt = $1", receipt);
  const Signature by{std::string(who), {}, {}, now_ms, 0};
  letter_event(txn, intent, by, domain::Actor::relayer,
               std::string("job parked: ")
                   .append(verdict)
                   .append(", ")
                   .append(std::to_string(counts->deliveries))
                   .append(" deliveries, ")
                   .append(std::to_string(counts->lapsed_leases))
                   .append(" leases ran out"));
}

}  // namespace holdfast::store

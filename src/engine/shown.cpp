#include "engine/shown.hpp"

namespace holdfast::engine {

HistoryItem shown(const store::Event& event) {
  HistoryItem item;
  item.seq = event.seq;
  item.at_ms = event.at_ms;
  item.intent = event.intent;
  item.kind = event.kind;
  if (event.from) item.from = domain::to_text(*event.from);
  if (event.to) item.to = domain::to_text(*event.to);
  item.actor = domain::to_text(event.actor);
  item.who = event.who;
  item.reason = event.reason;
  item.tx_hash = event.tx_hash;
  item.version = event.version;
  return item;
}

DeadLetter shown(const store::DeadLetter& row) {
  DeadLetter out;
  out.number = row.row;
  out.job = row.job;
  out.at_ms = row.at_ms;
  out.deliveries = row.deliveries;
  out.lapsed_leases = row.lapsed_leases;
  out.verdict = row.verdict;
  out.state = row.state;
  out.state_now = row.state_now;
  out.cycles = row.cycles;
  if (row.end) {
    out.ended_as = row.end->as;
    out.ended_by = row.end->who;
    out.ended_why = row.end->why;
    out.ended_ms = row.end->at_ms;
  }
  return out;
}

DeadLetterPage shown(const store::DeadLetterPage& page) {
  DeadLetterPage out;
  out.next = page.next;
  out.letters.reserve(page.letters.size());
  for (const store::DeadLetter& row : page.letters) out.letters.push_back(shown(row));
  return out;
}

AccountStatus shown(const store::AccountNumbers& row) {
  AccountStatus out;
  out.chain = row.chain;
  out.address = row.account;
  out.epoch = row.epoch;
  out.unconsumed = row.unconsumed;
  out.handed_over = row.handed_over;
  out.lowest_open = row.lowest_open;
  out.highest_open = row.highest_open;
  out.highest_used = row.highest_used;
  return out;
}

Detail shown(domain::Facts facts, const std::vector<store::Event>& history,
             std::vector<store::EntryRow> entries) {
  Detail out;
  out.intent = std::move(facts.intent);
  out.slot = std::move(facts.slot);
  out.earlier_slots = std::move(facts.earlier_slots);
  out.attempts = std::move(facts.attempts);
  out.history.reserve(history.size());
  for (const store::Event& event : history) out.history.push_back(shown(event));
  out.journal.reserve(entries.size());
  for (store::EntryRow& row : entries) {
    out.journal.push_back({row.sequence, std::move(row.entry), row.hash});
  }
  return out;
}

std::vector<domain::Resolution> possible_resolutions(const domain::Facts& facts,
                                                     const domain::Now& now) {
  using domain::Resolution;
  std::vector<Resolution> out = {Resolution::confirming, Resolution::settled, Resolution::failed};
  for (const Resolution as : {Resolution::retry, Resolution::rebroadcast}) {
    const domain::Ruling ruling = domain::rule_on(facts, as, {}, now);
    if (!std::holds_alternative<domain::ruling::Refused>(ruling)) out.push_back(as);
  }
  return out;
}

}  // namespace holdfast::engine

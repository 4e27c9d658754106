// The checks that run after every case, each numbered as the cases say, read from the chain, the
// store's file and the proxy's log, never from the engine.
#include <signal.h>

#include <algorithm>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "rig.hpp"
#include "store/journal.hpp"

namespace holdfast::cases {
namespace {

struct Moved {
  std::size_t count = 0;
  U256 sum;
};

/// Transfers of the asset to the merchant, by the ref of their payment: the one in their
/// transaction, or that of who brought the nonce in it.
std::map<std::string, Moved> moved_by_ref(const Rig& rig) {
  std::map<std::string, std::string> brought;
  for (const Row& row :
       rig.store().rows("SELECT auth_nonce, ref FROM intents WHERE auth_nonce <> ref")) {
    brought[row[0]] = row[1];
  }
  std::map<std::string, Moved> out;
  for (const Transfer& one : rig.moved()) {
    if (one.to != rig.merchant.address) continue;
    const auto by = brought.find(one.ref);
    Moved& moved = out[by == brought.end() ? one.ref : by->second];
    ++moved.count;
    moved.sum = *moved.sum.plus(one.amount);
  }
  return out;
}

U256 payee_part(const std::string& legs) {
  const auto read = store::decode_legs(*from_hex(legs));
  REQUIRE(read.has_value());
  U256 sum;
  for (const domain::Leg& leg : *read) {
    if (leg.account.starts_with("payee:")) sum = *sum.plus(leg.amount.magnitude);
  }
  return sum;
}

}  // namespace

class Checks {
 public:
  Checks(Rig& rig, const Allowed& allowed) : rig_(rig), allowed_(allowed) {}

  void while_it_runs();
  void afterwards();

 private:
  void one_transfer_a_post();
  void holds();
  void numbers();
  void bodies();
  void pool();
  void verbs();

  Rig& rig_;
  const Allowed& allowed_;
};

// 6: the same request once more gives the same bytes.
void Checks::while_it_runs() {
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < std::min(rig_.payments.size(), most); ++i) {
    const Payment& one = rig_.payments[i];
    const Answer again = rig_.ask("POST", "/v1/payment_intents", one.request, one.key, one.token);
    CHECK(again.status == 201);
    CHECK(again.replayed);
    CHECK(again.text == one.first_answer);
  }
}

// 1: at most one transfer an intent, one exactly where there is a post; 7: and the sums agree.
void Checks::one_transfer_a_post() {
  const auto moved = moved_by_ref(rig_);
  std::map<std::string, U256> posts;
  for (const Row& row :
       rig_.store().rows("SELECT i.ref, e.legs FROM entries e JOIN intents i ON i.row = e.intent"
                         " WHERE e.kind = 'post'")) {
    posts[row[0]] = payee_part(row[1]);
  }
  std::set<std::string> known;
  for (const Row& row : rig_.store().rows("SELECT ref, state FROM intents")) {
    CAPTURE(row[0]);
    CAPTURE(row[1]);
    known.insert(row[0]);
    const auto found = moved.find(row[0]);
    const std::size_t transfers = found == moved.end() ? 0 : found->second.count;
    CHECK(transfers <= 1);
    if (allowed_.unpaired_transfers) continue;
    if (!allowed_.unsettled || posts.contains(row[0])) {
      CHECK(transfers == (posts.contains(row[0]) ? 1 : 0));
    }
    if (found != moved.end() && posts.contains(row[0])) {
      CHECK(found->second.sum == posts.at(row[0]));
    }
    CHECK((row[1] == "settled") == posts.contains(row[0]));
    if (!allowed_.unsettled) {
      CHECK((row[1] == "settled" || row[1] == "failed" || row[1] == "canceled"));
    }
  }
  for (const auto& [ref, what] : moved) CHECK_MESSAGE(known.contains(ref), "moved for nobody");
}

// 2: a hold ends at most once, and no void while a posted transaction can still mine.
void Checks::holds() {
  const auto twice = rig_.store().number(
      "SELECT count(*) FROM (SELECT intent FROM entries WHERE kind IN ('post', 'void')"
      " GROUP BY intent HAVING count(*) > 1)");
  CHECK(twice == 0);
  CHECK(rig_.store().number(
            "SELECT count(*) FROM entries r WHERE r.kind IN ('post', 'void') AND NOT EXISTS"
            " (SELECT 1 FROM entries h WHERE h.intent = r.intent AND h.kind = 'hold')") == 0);
  const auto raws = rig_.proxy->raws();
  std::map<std::string, std::uint64_t> counts;
  for (const Person& one : rig_.relayers) counts[one.address] = rig_.nonce(one);
  for (const Row& row : rig_.store().rows(
           "SELECT a.hash, s.sequence, c.address FROM attempts a JOIN slots s ON s.row = a.slot"
           " JOIN accounts c ON c.row = s.account JOIN entries e ON e.intent = a.intent"
           " WHERE e.kind = 'void' AND a.kind = 'pay' AND a.hash IS NOT NULL")) {
    const bool sent = std::ranges::any_of(
        raws, [&](const test::SentRaw& raw) { return raw.forwarded && raw.hash == row[0]; });
    if (sent) CHECK_MESSAGE(std::stoull(row[1]) < counts[row[2]], "voided, and may still mine");
  }
}

// 3: one reservation a number; what was signed is kept and never released. 5: no hole in the
// numbers.
void Checks::numbers() {
  CHECK(rig_.store().number("SELECT count(*) FROM (SELECT account FROM slots WHERE state <>"
                            " 'released' GROUP BY account, sequence HAVING count(*) > 1)") == 0);
  CHECK(rig_.store().number("SELECT count(*) FROM slots s JOIN attempts a ON a.slot = s.row"
                            " WHERE s.state = 'released'") == 0);
  if (!allowed_.queued) {
    for (const Row& row : rig_.store().rows(
             "SELECT c.address, max(s.sequence) + 1, count(*) FROM slots s JOIN accounts c ON"
             " c.row = s.account WHERE s.state <> 'released' GROUP BY c.address")) {
      CAPTURE(row[0]);
      CHECK(row[1] == row[2]);
    }
  }
}

// 4: stored before posted; every body kept; one body a number and one number an intent.
void Checks::bodies() {
  const auto raws = rig_.proxy->raws();
  {
    const std::lock_guard lock(rig_.stored_first_mutex_);
    CHECK_MESSAGE(rig_.posted_unstored_.empty(), "posted before it was stored");
  }
  std::map<std::pair<std::string, std::uint64_t>, std::set<std::string>> bodies;
  for (const test::SentRaw& raw : raws) {
    CHECK_FALSE(raw.hash.empty());
    if (!allowed_.wiped) CHECK(rig_.store().has_attempt(raw.hash));
    bodies[{raw.sender, raw.nonce}].insert(raw.raw);
  }
  if (!allowed_.more_bodies) {
    for (const auto& [place, texts] : bodies) {
      CAPTURE(place.second);
      CHECK(texts.size() == 1);
    }
  }
  if (!allowed_.more_numbers) {
    CHECK(rig_.store().number(
              "SELECT count(*) FROM (SELECT a.intent FROM attempts a WHERE a.kind = 'pay' GROUP BY"
              " a.intent HAVING count(DISTINCT a.slot) > 1)") == 0);
  }
}

// 5: nothing of ours waits in a pool, above a hole or at all.
void Checks::pool() {
  if (rig_.node) {
    if (!allowed_.queued) CHECK(rig_.node->pool().empty());
    return;
  }
  const json::value content = rig_.rpc("txpool_content");
  for (const char* part : {"pending", "queued"}) {
    for (const auto& entry : content.at(part).as_object()) {
      const std::string account = to_0x(*from_hex(std::string(entry.key())));
      for (const Person& one : rig_.relayers) {
        if (to_0x(*from_hex(one.address)) != account || allowed_.queued) continue;
        CHECK_MESSAGE(entry.value().as_object().empty(), part);
      }
    }
  }
}

// 7: the journal's chain, and everything the audit knows, against the chain too.
void Checks::verbs() {
  int code = 0;
  std::string said = rig_.verb({"ledger", "verify"}, &code);
  CHECK_MESSAGE(code == 0, said);
  rig_.proxy->heal();
  std::vector<std::string> audit{"audit"};
  if (!allowed_.unpaired_transfers) audit.emplace_back("--chain");
  said = rig_.verb(audit, &code);
  CHECK_MESSAGE(code == 0, said);
}

void Checks::afterwards() {
  one_transfer_a_post();
  holds();
  numbers();
  bodies();
  pool();
  if (!allowed_.server_errors) CHECK(rig_.server_errors_ == 0);
  verbs();
}

void Rig::check_all(const Allowed& allowed) {
  Checks checks(*this, allowed);
  if (running()) {
    checks.while_it_runs();
    CHECK(stop(SIGTERM).code == 0);
  }
  checks.afterwards();
}

std::size_t Rig::transfers(const Payment& payment) const {
  const auto moved = moved_by_ref(*this);
  const auto found = moved.find(payment.ref);
  return found == moved.end() ? 0 : found->second.count;
}

std::size_t Rig::transfers_of_all() const {
  std::size_t out = 0;
  for (const auto& [ref, moved] : moved_by_ref(*this)) out += moved.count;
  return out;
}

}  // namespace holdfast::cases

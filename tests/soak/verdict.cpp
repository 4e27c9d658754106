#include "verdict.hpp"

#include <algorithm>
#include <exception>
#include <set>

#include <doctest/doctest.h>

namespace holdfast::soak {

namespace json = boost::json;
using cases::text_of;
using cases::Transfer;

namespace {

const std::set<std::string> review_reasons{
    "outcome_unknown", "no_receipt", "budget_spent", "released_slot_unusable",
    "foreign_use",     "grace_over", "gap_filled",   "transfer_mismatch"};

/// What is wrong with a payment, in words; empty: nothing.
std::string fault_of(const Asked& asked, const json::value& detail,
                     const std::vector<Transfer>& moved) {
  if (!asked.complaints.empty()) return asked.complaints.front();
  const std::string state = text_of(detail, "state");
  const std::string reason = text_of(detail, "reason");
  const bool ended = state == "settled" || state == "failed" || state == "canceled";
  if (state.empty()) return "it was acknowledged, and is not known any more";
  const bool unsigned_still = state == "created" && !asked.plan.payout && !asked.is_signed;
  if (unsigned_still) return moved.empty() ? "" : "it moved without a signature";
  if (!ended && state != "needs_review") return "it never ended: " + state + " " + reason;
  if (!ended && !review_reasons.contains(reason)) return "it is in review for no reason: " + reason;
  const std::string count = std::to_string(moved.size());
  if (state == "settled" && moved.size() != 1) return "it is settled, and moved times " + count;
  if (state != "settled" && ended && !moved.empty()) return "it is " + state + ", and moved";
  if (moved.size() > 1) return "it moved times " + count;
  for (const Transfer& one : moved) {
    if (one.from != text_of(detail, "payer") || one.to != text_of(detail, "payee") ||
        one.amount != U256(asked.plan.amount)) {
      return "it moved otherwise than asked, in " + one.tx_hash;
    }
    if (state == "settled" && one.tx_hash != text_of(detail, "tx_hash")) {
      return "it moved in another transaction than it says: " + one.tx_hash;
    }
  }
  return "";
}

Check check_of(std::string name, const std::string& wrong) {
  return {std::move(name), wrong.empty(), wrong};
}

/// What everybody has against what moved on the chain, where nothing but payments moves.
std::string wrong_balances(const cases::Rig& rig, const std::vector<Transfer>& moved) {
  std::map<std::string, std::uint64_t> has{{rig.payer.address, 0}, {rig.merchant.address, 0}};
  for (const cases::Person& one : rig.relayers) has[one.address] = 0;
  for (auto& [who, amount] : has) {
    amount = who == rig.merchant.address ? 0 : cases::start_tokens;
  }
  for (const Transfer& one : moved) {
    const std::uint64_t amount = one.amount.to_u64().value_or(0);
    if (!has.contains(one.from) || !has.contains(one.to)) return "moved for a stranger";
    has[one.from] -= amount;
    has[one.to] += amount;
  }
  std::string out;
  for (const auto& [who, amount] : has) {
    const auto found = cases::shared_anvil().token_balance(rig.token, who);
    if (found != amount) {
      out += who + " has " + std::to_string(found) + ", and should have " + std::to_string(amount) +
             "; ";
    }
  }
  return out;
}

Check verb_check(const cases::Rig& rig, const std::vector<std::string>& verb) {
  std::string name;
  for (const std::string& word : verb) name += (name.empty() ? "" : " ") + word;
  int code = 0;
  std::string said = rig.verb(verb, &code);
  while (said.ends_with('\n')) said.pop_back();
  // Of what is good the last line is enough: it counts.
  const std::size_t last = said.rfind('\n');
  if (code == 0 && last != std::string::npos) said.erase(0, last + 1);
  return {name, code == 0, said};
}

std::vector<std::string>& heard() {
  static std::vector<std::string> words;
  return words;
}

void hear(const doctest::AssertData& data) {
  std::string text = std::string(data.m_file) + ":" + std::to_string(data.m_line) + ": " +
                     data.m_expr + " " + data.m_decomp.c_str();
  const auto* const* contexts = doctest::IReporter::get_active_contexts();
  for (int i = 0; i < doctest::IReporter::get_num_active_contexts(); ++i) {
    std::ostringstream out;
    contexts[i]->stringify(&out);
    text += " [" + out.str() + "]";
  }
  heard().push_back(std::move(text));
}

}  // namespace

void listen_to_asserts() {
  static doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler(hear);
}

std::vector<std::string> failed_asserts() { return heard(); }

std::size_t Verdict::failed() const {
  return wrong.size() + static_cast<std::size_t>(
                            std::ranges::count_if(checks, [](const Check& c) { return !c.good; }));
}

json::object Verdict::as_json() const {
  json::object out{{"payments", payments}, {"transfers", transfers}};
  json::object by_state;
  for (const auto& [state, count] : states) by_state[state] = count;
  json::object by_reason;
  for (const auto& [reason, count] : reasons) by_reason[reason] = count;
  json::object wrongs;
  for (const auto& [id, what] : wrong) wrongs[id] = what;
  json::array all;
  for (const Check& one : checks) {
    all.push_back({{"name", one.name}, {"good", one.good}, {"detail", one.detail}});
  }
  out["states"] = std::move(by_state);
  out["reasons"] = std::move(by_reason);
  out["wrong"] = std::move(wrongs);
  out["checks"] = std::move(all);
  out["passed"] = passed();
  out["failed"] = failed();
  return out;
}

void judge_payments(cases::Rig& rig, const std::vector<Asked>& asked, Verdict& verdict) {
  const std::vector<Transfer> all = rig.moved();
  std::map<std::string, std::vector<Transfer>> by_ref;
  for (const Transfer& one : all) by_ref[one.ref].push_back(one);
  verdict.payments = asked.size();
  verdict.transfers = all.size();
  for (const Asked& one : asked) {
    if (one.payment.id.empty()) {
      verdict.wrong[one.key] =
          one.complaints.empty() ? "it was never acknowledged" : one.complaints.front();
      continue;
    }
    const json::value detail = rig.detail(one.payment.id);
    const std::string state = text_of(detail, "state");
    const std::string reason = text_of(detail, "reason");
    ++verdict.states[state];
    if (!reason.empty()) ++verdict.reasons[state + ": " + reason];
    const auto found = by_ref.extract(one.payment.ref);
    const std::string wrong =
        fault_of(one, detail, found.empty() ? std::vector<Transfer>() : found.mapped());
    if (!wrong.empty()) verdict.wrong[one.payment.id] = wrong;
  }
  std::string strangers;
  for (const auto& [ref, transfers] : by_ref) strangers += ref + " ";
  verdict.checks.push_back(check_of("nothing moved that nobody asked for", strangers));
  verdict.checks.push_back(check_of("everybody has what they should", wrong_balances(rig, all)));
}

void judge_store(cases::Rig& rig, const std::vector<Asked>& asked, Verdict& verdict) {
  verdict.checks.push_back(verb_check(rig, {"ledger", "verify"}));
  verdict.checks.push_back(verb_check(rig, {"audit", "--chain"}));
  for (const Asked& one : asked) {
    if (!one.payment.id.empty()) rig.payments.push_back(one.payment);
  }
  const std::size_t before = heard().size();
  std::string wrong;
  try {
    // A node in trouble is told by a 503; a replaced transaction is another body at its number; a
    // number that went to nothing gives an authorization a second one.
    rig.check_all({.server_errors = true,
                   .more_numbers = true,
                   .more_bodies = true,
                   .unsettled = verdict.states.contains("needs_review") ||
                                verdict.states.contains("created")});
  } catch (const std::exception& error) {
    wrong = error.what();
  }
  constexpr std::size_t most = 5;
  const std::size_t count = heard().size() - before;
  for (std::size_t i = 0; i < std::min(count, most); ++i) wrong += "\n    " + heard()[before + i];
  if (count > most) wrong += "\n    and " + std::to_string(count - most) + " more";
  verdict.checks.push_back(check_of("the checks of the cases, and the drain", wrong));
}

}  // namespace holdfast::soak

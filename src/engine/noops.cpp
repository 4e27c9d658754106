// Owns: the keeper's transactions: signing a noop, and putting stored bytes out again.
#include <algorithm>

#include <holdfast/domain/fees.hpp>
#include "engine/keeper.hpp"
#include "engine/post_answer.hpp"
#include "engine/sealing.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

constexpr std::int64_t ceiling_told_every_ms = 300'000;

const domain::Attempt* newest_of(const std::vector<domain::Attempt>& attempts,
                                 domain::AttemptKind kind, bool accepted_only) {
  for (auto it = attempts.rbegin(); it != attempts.rend(); ++it) {
    const bool fits = it->kind == kind && it->hash && !it->bytes.empty();
    if (fits && (!accepted_only || it->outcome == domain::AttemptOutcome::accepted)) return &*it;
  }
  return nullptr;
}

}  // namespace

Awaitable<Keeper::NoopFees> Keeper::noop_fees(const std::vector<domain::Attempt>& attempts,
                                              domain::SlotId slot) {
  const auto gas =
      co_await unit_.chain.simulate(account_.address, unit_.chain.noop_call(account_.address));
  const auto market =
      gas.ok() == nullptr ? gas.failure<domain::Fees>() : co_await unit_.chain.quote(gas.ok()->gas);
  if (market.ok() == nullptr) {
    log::warn("noop_not_quoted", {{"account", account_.address.value}, {"why", market.text()}});
    noop_trouble_ = "its noop cannot be quoted: " + market.text();
    co_return NoopFees{};
  }
  const domain::Amount& ceiling = unit_.chain.info().fee_ceiling;
  const auto dearest = domain::dearest_at(attempts, slot);
  if (!dearest) co_return NoopFees{domain::first_offer(*market.ok(), ceiling), false};
  auto fees = domain::bump(*dearest, *market.ok(), ceiling);
  if (fees) fees->gas_limit = market.ok()->gas_limit;
  co_return NoopFees{fees, !fees.has_value()};
}

Awaitable<std::optional<domain::Attempt>> Keeper::seal_noop(domain::Sequence at,
                                                            domain::Fees fees) {
  const ports::Order order{account_.address, at, unit_.chain.noop_call(account_.address), fees};
  const Digest digest = unit_.chain.digest(order);
  const auto signature = co_await core_.parts.signer.sign(account_.address, digest);
  if (signature.ok() == nullptr) {
    log::warn("noop_not_signed", {{"account", account_.address.value}});
    noop_trouble_ = "its noop was not signed: " + signature.text();
    co_return std::nullopt;
  }
  auto sealed = seal(unit_.chain, core_.parts.signer, order, *signature.ok(), digest);
  if (!sealed) {
    core_.alarm("wrong_bytes", {{"account", account_.address.value},
                                {"sequence", at.value},
                                {"why", sealed.error().detail}});
    noop_trouble_ = "its noop was not signed: " + sealed.error().detail;
    co_return std::nullopt;
  }
  domain::Attempt out;
  out.kind = domain::AttemptKind::noop;
  out.bytes = std::move(sealed->bytes);
  out.hash = sealed->hash;
  out.fees = fees;
  co_return out;
}

Awaitable<bool> Keeper::sign_noop(Open& open, bool dearer) {
  const domain::Slot& slot = open.it.slot;
  const NoopFees offer = co_await noop_fees(open.it.attempts, slot.id);
  const std::optional<domain::Fees>& fees = offer.fees;
  if (!fees && !offer.at_ceiling) co_return false;  // nobody quotes now
  if (!fees) {
    // At the ceiling nothing is dropped: the newest bytes go out again, and a person hears of it.
    const std::int64_t now_ms = core_.parts.clock.mono_ms();
    std::int64_t& told_ms = ceilings_told_[slot.id];
    if (told_ms == 0 || now_ms - told_ms >= ceiling_told_every_ms) {
      told_ms = now_ms;
      core_.alarm("fee_ceiling",
                  {{"account", account_.address.value}, {"sequence", slot.sequence.value}});
    }
    co_return dearer&& co_await post_noop(open);
  }
  auto noop = co_await seal_noop(slot.sequence, *fees);
  if (!noop) co_return false;
  const store::NoopToStore wanted{slot.id, account_.epoch, *noop, core_.wall_ms()};
  const auto stored = co_await core_.parts.store.write(
      [wanted](store::Txn& txn) { return store::store_noop(txn, wanted); });
  if (!stored) {
    core_.refused(stored.error());
    log::info("noop_not_stored", {{"account", account_.address.value},
                                  {"sequence", slot.sequence.value},
                                  {"why", stored.error().detail}});
    co_return false;
  }
  ++core_.stats.attempts_stored;
  noop->id = *stored;
  noop->slot = slot.id;
  open.it.attempts.push_back(*noop);
  const bool is_out = co_await post(open.it.attempts.back(), slot.id);
  co_await tell(slot.item);
  co_return is_out;
}

Awaitable<bool> Keeper::post_noop(const Open& open) {
  const domain::Attempt* noop = newest_of(open.it.attempts, domain::AttemptKind::noop, true);
  if (noop == nullptr) noop = newest_of(open.it.attempts, domain::AttemptKind::noop, false);
  if (noop == nullptr) co_return false;
  const bool is_out = co_await post(*noop, open.it.slot.id);
  co_await tell(open.it.slot.item);
  co_return is_out;
}

// Asked of the store once more: an ended payment's bytes, and those of a number handed over since,
// are never posted again.
Awaitable<bool> Keeper::post_pay(const Open& open) {
  if (!open.it.item) co_return false;
  const auto facts = co_await core_.parts.store.read(
      [id = open.it.item->id](store::Txn& txn) { return store::find_facts(txn, id); });
  const bool wanted =
      facts && !domain::stands_on_anothers(*facts) && !domain::is_terminal(facts->intent.state) &&
      !facts->intent.cancel_asked && facts->slot && facts->slot->id == open.it.slot.id &&
      !facts->slot->handed_over &&
      std::max(core_.wall_ms() / 1000, unit_.view.latest_time_s()) < facts->intent.publish_before_s;
  if (!wanted) co_return false;
  const domain::Attempt* pay = newest_of(open.it.attempts, domain::AttemptKind::pay, true);
  if (pay == nullptr) pay = newest_of(open.it.attempts, domain::AttemptKind::pay, false);
  if (pay == nullptr) co_return false;
  // Before the call: nobody may take it for stuck while it is on its way.
  unit_.watch.posted(open.it.item->id, core_.parts.clock.mono_ms(), unit_.view.heights().latest);
  const bool is_out = co_await post(*pay, open.it.slot.id);
  co_await tell(open.it.slot.item);
  co_return is_out;
}

Awaitable<bool> Keeper::post(const domain::Attempt& attempt, domain::SlotId slot) {
  if (!unit_.halted.empty()) co_return false;  // since this round began
  const domain::AttemptId id = attempt.id;
  const auto answer = co_await unit_.chain.post(attempt.bytes, *attempt.hash);
  const domain::PostAnswer meaning = note_post(core_, unit_, std::nullopt, answer);
  if (meaning != domain::PostAnswer::not_sent) {
    posts_[slot] = {core_.parts.clock.mono_ms(), unit_.view.heights().latest};
  }
  log::info("account_post", {{"account", account_.address.value},
                             {"kind", domain::to_text(attempt.kind)},
                             {"answer", domain::to_text(meaning)}});
  const store::PostRecord record = post_record(core_, id, meaning);
  co_await core_.parts.store.write(
      [record](store::Txn& txn) { return store::record_post(txn, record); });
  co_return meaning != domain::PostAnswer::not_sent;
}

Awaitable<void> Keeper::tell(const std::optional<domain::IntentId>& item) {
  if (!item) co_return;
  const auto facts = co_await core_.parts.store.read(
      [id = *item](store::Txn& txn) { return store::find_facts(txn, id); });
  if (facts) core_.changed(*facts);
}

}  // namespace holdfast::engine

// Owns: clients who wait for a payment's success, take it, or give up; and others who present the
// same payload beside them. Exactly one of them may be told.
// Must never: draw a chance: who asks first, and whether an answer is written, is known from how
// often they have asked, so that nobody else's schedule changes.
#include <utility>

#include "people.hpp"

namespace holdfast::campaign {
namespace {

constexpr int patience = 8;  ///< rounds until they give up
constexpr int long_enough = 18;

engine::Caller stranger() { return {{"shop"}, "", sha256(as_bytes("the same payload"))}; }

}  // namespace

ports::Awaitable<void> Clients::wait_for_success(engine::Engine& engine, Wish& wish) {
  const engine::Caller owner = caller(wish, "submit");
  const domain::IntentId id = wish.intent->id;
  ++wish.waited;
  if (wish.waited > long_enough) wish.wants_success = false;
  const auto at = co_await engine.standing(owner.id, id);
  if (!at) co_return;
  if (at->included) co_return co_await take_success(engine, wish, *at);
  if (domain::is_terminal(at->intent.state)) {
    wish.wants_success = false;
    co_return;
  }
  if (wish.waited != patience && wish.waited != long_enough) co_return;
  const bool was_signed = at->hash.has_value();
  const auto end = co_await engine.give_up(owner, id, "gave up waiting", 2'000);
  if (!end) co_return;
  tally_.count("people", end->hash ? "gave up: pending" : "gave up: nothing signed");
  const bool is_canceled = end->intent.state == domain::IntentState::canceled;
  if (was_signed && is_canceled) {
    watch_.say(7, text(id), "canceled for somebody who gave up, though it was signed");
  }
}

// Told of before it is final: a block held it by then, and while it is confirming all of it moved.
void Clients::check_success(const engine::Standing& standing) {
  const domain::Intent& intent = standing.intent;
  const auto said = [&](const std::string& why) {
    watch_.say(9, text(intent.id), "its success is told, and " + why);
  };
  if (intent.terms.chain != chain_.info().id) return;
  // Before it is final one node's word is enough: that is what whoever is told early has asked for.
  if (standing.hash && chain_.was_invented(*standing.hash)) return;
  if (!standing.hash || !chain_.was_mined(*standing.hash)) return said("no block has held it");
  const auto tx = chain_.mined(*standing.hash);
  // One that was mined anew, and reverts there, arrived in the block that was taken back.
  if (!tx || !tx->succeeded || intent.state == domain::IntentState::settled) return;
  domain::Amount arrived;
  for (const domain::Transfer& one : tx->transfers) {
    const bool is_its = one.asset == intent.terms.asset && one.to == intent.terms.payee;
    if (is_its) arrived = arrived.plus(one.amount).value_or(arrived);
  }
  if (arrived != intent.terms.amount) said(arrived.decimal() + " has arrived");
}

ports::Awaitable<void> Clients::take_success(engine::Engine& engine, Wish& wish,
                                             engine::Standing standing) {
  using engine::SuccessOffer;
  const std::uint64_t life = life_;
  const domain::IntentId id = wish.intent->id;
  const bool is_stranger = wish.waited % 3 == 0;
  // Whoever is cut short here may have taken it: nothing is owed to the next one then.
  const bool was_untold = std::exchange(wish.is_untold, false);
  const auto offer =
      co_await engine.offer_success(is_stranger ? stranger() : caller(wish, "submit"), id);
  if (!offer) {  // taken back a moment ago
    wish.is_untold = was_untold;
    co_return;
  }
  check_success(standing);
  if (*offer == SuccessOffer::first && wish.told != Wish::Told::nobody) {
    watch_.say(2, text(id), "its success is told a second time");
  }
  if (*offer == SuccessOffer::again && (is_stranger || wish.told == Wish::Told::stranger)) {
    watch_.say(2, text(id), "its success is told again to somebody who was not told before");
  }
  if (*offer == SuccessOffer::taken) {
    if (!is_stranger && wish.told == Wish::Told::client) {
      watch_.say(2, text(id), "who was told of its success is not told again");
    }
    if (was_untold) watch_.say(2, text(id), "nobody was told of its success, and nobody is");
    tally_.count("people", "success taken");
    co_return;
  }
  const auto beside = co_await engine.offer_success(stranger(), id);
  if (beside && *beside != SuccessOffer::taken && life == life_ && !engine.broken()) {
    watch_.say(2, text(id), "its success is told to two at once");
  }
  const bool is_written = wish.waited % 4 != 1;
  co_await engine.delivered(id, is_written);
  // One that is told again was told before, perhaps before a backup was put back.
  wish.is_untold = !is_written && *offer == SuccessOffer::first;
  tally_.count("people", is_written ? "success told" : "success not written");
  if (is_written && wish.told == Wish::Told::nobody) {
    wish.told = is_stranger ? Wish::Told::stranger : Wish::Told::client;
  }
}

}  // namespace holdfast::campaign

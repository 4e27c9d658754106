#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "people.hpp"

namespace holdfast::campaign {

namespace asio = boost::asio;

Operators::Operators(std::uint64_t seed, sim::SimWorld& world, sim::ScriptedChain& chain,
                     Watch& watch, Tally& tally)
    : chance_(seed), world_(world), chain_(chain), watch_(watch), tally_(tally) {
  for (const std::string_view name : {"abandoned", "acknowledged", "adopted", "adopted evidence",
                                      "dropped", "reconciled", "redriven"}) {
    tally_.expect("people", name);
  }
}

engine::Caller Operators::caller() {
  engine::Caller out;
  out.id = {"ann"};
  out.idempotency_key = "desk/" + std::to_string(life_) + "/" + std::to_string(keys_++);
  out.fingerprint = sha256(as_bytes(out.idempotency_key));
  return out;
}

namespace {

bool can_retry(const engine::Review& review) {
  return std::find(review.possible.begin(), review.possible.end(), domain::Resolution::retry) !=
         review.possible.end();
}

bool names_hash(domain::Resolution as) {
  return as == domain::Resolution::confirming || as == domain::Resolution::settled;
}

/// A call of its own each time, never the repetition of another.
engine::Caller without_key(const char* who) { return {{who}, "", {}}; }

}  // namespace

void Operators::turn(engine::Engine& engine, bool resolves) {
  if (std::exchange(under_way_, true)) return;
  asio::co_spawn(world_.executor(), round(engine, resolves, life_), asio::detached);
}

ports::Awaitable<void> Operators::round(engine::Engine& engine, bool resolves, std::uint64_t life) {
  try {
    if (resolves) co_await reviews(engine);
    co_await dead_letters(engine);
    for (const engine::AccountStatus& account : co_await engine.accounts()) {
      if (account.blocked.empty()) continue;
      const auto next = co_await engine.adopt(without_key("ann"), account.chain, account.address,
                                              "looked at the key");
      if (next) {
        watch_.told_of("account", account.address.value + " of " + account.chain.value +
                                      " adopted at number ");
      }
      tally_.count("people", next ? "adopted" : "adopt refused");
    }
    for (const engine::ChainStatus& chain : engine.chains()) {
      const auto done =
          co_await engine.acknowledge(without_key("ann"), chain.id, "looked at the chain");
      if (!done) continue;
      watch_.told_of("chain", chain.id.value + " goes on: ");
      tally_.count("people", "acknowledged");
    }
  } catch (const std::exception& error) {
    note_thrown(watch_, error);
    tally_.count("people", "desk out of order");
  }
  if (life == life_) under_way_ = false;
}

void Operators::look(engine::Engine& engine) {
  for (std::size_t at = 0; at < waited_for_.size();) {
    const auto hash = seen_of(waited_for_[at]);
    if (!hash) {
      ++at;
      continue;
    }
    asio::co_spawn(world_.executor(), adopt(engine, waited_for_[at].id, *hash), asio::detached);
    waited_for_.erase(waited_for_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

std::optional<domain::TxHash> Operators::seen_of(const WaitedFor& one) {
  for (const domain::TxHash& hash : one.hashes) {
    if (chain_.mined(hash)) return hash;
  }
  if (const auto sent = sent_outside(one.ref)) return sent;
  if (!one.authorization) return std::nullopt;
  return chain_.used_in(one.asset, payer, one.authorization->nonce);
}

std::optional<domain::TxHash> Operators::sent_outside(const domain::Ref& ref) const {
  if (sender_ == nullptr) return std::nullopt;
  const auto movers = sender_->movers(ref);
  return movers.empty() ? std::nullopt : std::optional(movers.front().hash);
}

// What moved something else than asked shows at once, and waits for nothing.
void Operators::wait_for(const engine::Review& review) {
  const domain::Intent& intent = review.detail.intent;
  if (intent.reason == "transfer_mismatch") return;
  const bool known = std::any_of(waited_for_.begin(), waited_for_.end(),
                                 [&](const WaitedFor& one) { return one.id == intent.id; });
  if (known) return;
  WaitedFor one{intent.id, {}, intent.ref, intent.terms.asset, intent.authorization};
  for (const domain::Attempt& attempt : review.detail.attempts) {
    if (attempt.hash && attempt.kind == domain::AttemptKind::pay)
      one.hashes.push_back(*attempt.hash);
  }
  if (!seen_of(one)) waited_for_.push_back(std::move(one));
}

ports::Awaitable<void> Operators::adopt(engine::Engine& engine, domain::IntentId id,
                                        domain::TxHash hash) {
  try {
    engine::Resolve wanted;
    wanted.as = domain::Resolution::confirming;
    wanted.tx_hash = hash;
    wanted.reason = "it has just been mined";
    const auto resolved = co_await engine.resolve(caller(), id, wanted);
    if (resolved) watch_.promised(resolved->intent);
    tally_.count("people", resolved ? "adopted evidence" : "adopt evidence refused");
  } catch (const std::exception& error) {
    note_thrown(watch_, error);
    tally_.count("people", "desk out of order");
  }
}

ports::Awaitable<void> Operators::reviews(engine::Engine& engine) {
  engine::ListQuery query;
  query.state = domain::IntentState::needs_review;
  const engine::Page page = co_await engine.list(query);
  for (const domain::Intent& intent : page.intents) {
    const auto review = co_await engine.review(intent.id);
    if (!review || review->possible.empty()) continue;
    wait_for(*review);
    engine::Resolve wanted;
    wanted.as = review->possible[chance_.below(review->possible.size())];
    // What was never signed is mostly tried again: that is what it waits for.
    if (can_retry(*review) && chance_.below(4) > 0) wanted.as = domain::Resolution::retry;
    const auto named = name_hash(*review);
    const bool is_mined =
        named && (chain_.mined(*named) || named == sent_outside(review->detail.intent.ref));
    if (is_mined && chance_.below(3) == 0) wanted.as = domain::Resolution::confirming;
    if (names_hash(wanted.as)) wanted.tx_hash = named;
    wanted.reason = "as the chain says";
    const auto resolved = co_await engine.resolve(caller(), intent.id, wanted);
    if (resolved) watch_.promised(resolved->intent);
    tally_.count("people", std::string(resolved ? "resolved as " : "resolve refused: ") +
                               std::string(domain::to_text(wanted.as)));
  }
}

// What the engine has found; else they look it up themselves: who used the payer's authorization,
// or one of the attempts.
std::optional<domain::TxHash> Operators::name_hash(const engine::Review& review) {
  if (review.found) return review.found->hash;
  const domain::Intent& intent = review.detail.intent;
  if (intent.authorization) {
    const auto& terms = intent.terms;
    const auto used = chain_.used_in(terms.asset, terms.payer, intent.authorization->nonce);
    if (used) return used;
  }
  if (const auto sent = sent_outside(intent.ref)) return sent;
  const auto& attempts = review.detail.attempts;
  if (attempts.empty()) return std::nullopt;
  for (const domain::Attempt& one : attempts) {
    if (one.hash && chain_.mined(*one.hash)) return one.hash;
  }
  return attempts[chance_.below(attempts.size())].hash;
}

ports::Awaitable<void> Operators::dead_letters(engine::Engine& engine) {
  const engine::DeadLetterPage page = co_await engine.dead_letters(20, 0, true);
  for (const engine::DeadLetter& letter : page.letters) {
    const bool again = chance_.below(3) > 0;
    const auto done =
        again ? co_await engine.redrive(caller(), letter.number, "once more")
              : co_await engine.drop_dead_letter(caller(), letter.number, "nothing to do");
    if (!done) continue;
    const std::string as = again ? "redriven" : "dropped";
    watch_.told_of("dead_letter", "dead letter " + std::to_string(letter.number) + " " + as);
    tally_.count("people", as);
  }
}

namespace {

ports::Awaitable<void> abandon_one(engine::Engine& engine, domain::IntentId id, Watch& watch,
                                   Tally& tally) {
  try {
    const auto done = co_await engine.abandon(without_key("ann"), id, "the customer called");
    if (done) {
      watch.promised(done->intent);
      watch.asked_to_stop(id);
    }
    tally.count("people", done ? "abandoned" : "abandon refused");
  } catch (const std::exception& error) {
    note_thrown(watch, error);
    tally.count("people", "desk out of order");
  }
}

ports::Awaitable<void> reconcile_one(engine::Engine& engine, domain::ChainId chain,
                                     domain::Address account, Watch& watch, Tally& tally) {
  try {
    const auto report = co_await engine.reconcile("ann", std::move(chain), std::move(account));
    tally.count("people", report ? "reconciled" : "reconcile refused");
  } catch (const std::exception& error) {
    note_thrown(watch, error);
    tally.count("people", "desk out of order");
  }
}

}  // namespace

void Operators::abandon(engine::Engine& engine, const domain::IntentId& id) {
  asio::co_spawn(world_.executor(), abandon_one(engine, id, watch_, tally_), asio::detached);
}

void Operators::reconcile(engine::Engine& engine, const domain::ChainId& chain,
                          const domain::Address& account) {
  asio::co_spawn(world_.executor(), reconcile_one(engine, chain, account, watch_, tally_),
                 asio::detached);
}

}  // namespace holdfast::campaign

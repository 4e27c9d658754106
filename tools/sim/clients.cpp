#include <algorithm>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "people.hpp"

namespace holdfast::campaign {

namespace asio = boost::asio;
using sim::TokenKind;

const domain::Address payer{"payer"};
const domain::Address merchant{"merchant"};
const domain::Address thief{"thief"};

const std::vector<Token>& tokens() {
  static const std::vector<Token> all{{{"tkn"}, TokenKind::honest},
                                      {{"fee"}, TokenKind::takes_fee},
                                      {{"lie"}, TokenKind::returns_false},
                                      {{"mute"}, TokenKind::silent}};
  return all;
}

namespace {

/// The same request may be taken a little later.
bool is_passing(const Error& refusal) {
  return refusal.code == engine::EngineError::try_again ||
         refusal.code == engine::EngineError::draining ||
         refusal.code == ports::VerifyError::node_trouble;
}

/// Neither the wish nor its key is at fault: the engine, or what it stands on, cannot answer now.
bool is_expected(const std::exception& error) {
  const auto* const stopped = dynamic_cast<const boost::system::system_error*>(&error);
  return (stopped != nullptr && stopped->code() == asio::error::operation_aborted) ||
         dynamic_cast<const store::StoreUnavailable*>(&error) != nullptr ||
         dynamic_cast<const store::StoreInDoubt*>(&error) != nullptr ||
         dynamic_cast<const store::StoreBusy*>(&error) != nullptr;
}

}  // namespace

void note_thrown(Watch& watch, const std::exception& error) {
  if (!is_expected(error)) watch.say(0, "the engine", std::string("it threw: ") + error.what());
}

Clients::Clients(std::uint64_t seed, const Setting& setting, sim::SimWorld& world,
                 sim::ScriptedChain& chain, std::optional<domain::ChainId> outside, Watch& watch,
                 Tally& tally)
    : chance_(seed),
      world_(world),
      chain_(chain),
      outside_(std::move(outside)),
      watch_(watch),
      tally_(tally) {
  for (const std::string_view name :
       {"created", "signed", "submitted", "canceled", "hung up", "asked again", "asked otherwise",
        "signed again", "canceled again", "meddled with", "gave up: pending",
        "gave up: nothing signed", "success told", "success not written", "success taken"}) {
    tally_.expect("people", name);
  }
  for (std::size_t number = 0; number < setting.payments; ++number) make_wish(number, setting);
  requests_.resize(wishes_.size());
}

void Clients::make_wish(std::size_t number, const Setting& setting) {
  const auto span_ms = static_cast<std::uint64_t>(setting.span_ms * 3 / 4);
  sim::Chance chance(chance_.next());  // one draw a wish: fewer wishes leave the first as they were
  Wish wish;
  wish.key = "k" + std::to_string(number);
  const std::uint64_t kind = chance.below(100);
  wish.signs = kind < 50;
  wish.brings_nonce = kind < 12;
  engine::NewPayment& payment = wish.payment;
  payment.chain = chain_.info().id.value;
  payment.method = wish.signs ? "transfer_authorization" : "payout";
  const std::uint64_t token = chance.below(100);
  payment.asset = token < 80   ? "tkn"
                  : token < 86 ? "fee"
                  : token < 90 ? "lie"
                  : token < 94 ? "mute"
                               : "";
  if (payment.asset.empty()) payment.asset = wish.signs ? "tkn" : domain::native_asset.value;
  if (wish.signs) payment.payer = payer.value;
  payment.payee = merchant.value;
  payment.amount = U256(1 + chance.below(1'000'000));
  payment.validity_s = wish.signs ? 60 + static_cast<std::int64_t>(chance.below(600)) : 0;
  wish.due_ms = static_cast<std::int64_t>(chance.below(span_ms));
  const std::uint64_t manner = chance.below(100);
  wish.never_signs = manner < 3;
  if (wish.never_signs) payment.validity_s = 60 + payment.validity_s % 60;  // it expires soon
  wish.cancels = manner >= 3 && manner < 13;
  wish.asks_again = manner >= 13 && manner < 30;
  wish.asks_otherwise = manner >= 30 && manner < 40;
  wish.gives_up = chance.below(10) == 0;
  wish.wants_success = wish.brings_nonce;
  if (wish.brings_nonce) {
    wish.brought.nonce = domain::Nonce{sha256(as_bytes("nonce " + wish.key))};
  }
  if (outside_ && !wish.signs && chance.below(3) == 0) {
    payment.chain = outside_->value;
    payment.asset = "tkn";
  }
  if (setting.repeats_steps) {
    wish.signs_again = wish.signs && !wish.brings_nonce && chance.below(4) == 0;
    wish.cancels_again = wish.cancels && chance.below(2) == 0;
    wish.is_meddled_with = chance.below(6) == 0;
    wish.dawdles_ms = static_cast<std::int64_t>(chance.below(60'000));
  }
  wishes_.push_back(std::move(wish));
}

void Clients::turn(engine::Engine& engine) {
  const std::int64_t now_ms = world_.clock().mono_ms();
  for (std::size_t at = 0; at < wishes_.size(); ++at) {
    Request& request = requests_[at];
    if (request.under_way) {
      if (request.hang_up && request.hangs_up_ms <= now_ms) {
        request.hang_up->emit(asio::cancellation_type::terminal);
        request.hangs_up_ms = now_ms + 1'000'000'000;
        tally_.count("people", "hung up");
      }
      continue;
    }
    if (!wishes_[at].over && wishes_[at].due_ms <= now_ms) send(engine, at);
  }
}

void Clients::send(engine::Engine& engine, std::size_t at) {
  Request& request = requests_[at];
  request.under_way = true;
  request.hang_up.reset();
  auto asking = ask(engine, at, life_);
  if (!std::exchange(wishes_[at].gives_up, false)) {
    asio::co_spawn(world_.executor(), std::move(asking), asio::detached);
    return;
  }
  request.hang_up = std::make_unique<asio::cancellation_signal>();
  request.hangs_up_ms = world_.clock().mono_ms();
  const auto slot = request.hang_up->slot();
  asio::co_spawn(world_.executor(), std::move(asking),
                 asio::bind_cancellation_slot(slot, asio::detached));
}

ports::Awaitable<void> Clients::ask(engine::Engine& engine, std::size_t at, std::uint64_t life) {
  Wish& wish = wishes_[at];
  try {
    co_await ask_once(engine, wish);
  } catch (const std::exception& error) {
    note_thrown(watch_, error);
    wish.due_ms = world_.clock().mono_ms() + 2'000;
  }
  if (life == life_) requests_[at].under_way = false;
}

// The next request of this wish. What was answered stands in the wish; a refusal of a passing kind
// leaves it due again.
ports::Awaitable<void> Clients::ask_once(engine::Engine& engine, Wish& wish) {
  const std::int64_t now_ms = world_.clock().mono_ms();
  if (!wish.intent && wish.brings_nonce) {
    domain::Validity validity;
    validity.after_s = 0;
    validity.before_s = wish.brought.validity.before_s;
    if (validity.before_s == 0) validity.before_s = chain_.time_s() + wish.payment.validity_s + 60;
    wish.brought.validity = validity;
    wish.brought = sign(wish, wish.payment.amount);
    answered(wish, co_await engine.submit(caller(wish, "submit"), wish.payment, wish.brought),
             "submitted");
  } else if (!wish.intent) {
    answered(wish, co_await engine.create(caller(wish, "create"), wish.payment), "created");
  } else if (wish.signs && !wish.brings_nonce && wish.done == 1 && !wish.never_signs) {
    const domain::Authorization authorization = sim::authorize(*wish.intent);
    wish.signed_as = answered(
        wish,
        co_await engine.authorize(caller(wish, "sign"), wish.intent->id, authorization.signature),
        "signed");
  } else if (std::exchange(wish.cancels, false)) {
    wish.canceled_as = answered(
        wish, co_await engine.cancel(caller(wish, "cancel"), wish.intent->id, "changed mind"),
        "canceled");
  } else if (std::exchange(wish.is_meddled_with, false)) {
    co_await meddle(engine, wish);
  } else if (wish.dawdles_ms > 0 && (wish.asks_again || wish.signs_again || wish.cancels_again)) {
    wish.due_ms = now_ms + std::exchange(wish.dawdles_ms, 0);
  } else if (wish.asks_again) {
    co_await ask_again(engine, wish);
  } else if (std::exchange(wish.signs_again, false)) {
    if (wish.signed_as) co_await sign_again(engine, wish);
  } else if (std::exchange(wish.cancels_again, false)) {
    if (wish.canceled_as) co_await cancel_again(engine, wish);
  } else if (wish.asks_otherwise) {
    co_await ask_otherwise(engine, wish);
  } else if (wish.wants_success) {
    co_await wait_for_success(engine, wish);
  } else {
    wish.over = true;
  }
  wish.due_ms =
      std::max(wish.due_ms, now_ms + 500 + static_cast<std::int64_t>(chance_.below(3'000)));
}

domain::Authorization Clients::sign(const Wish& wish, const domain::Amount& amount) const {
  domain::Terms terms;
  terms.chain = chain_.info().id;
  terms.asset = {wish.payment.asset};
  terms.payer = payer;
  terms.payee = merchant;
  terms.amount = amount;
  return sim::authorize(terms, wish.brought.nonce, wish.brought.validity);
}

// Once and no more, whether it is answered or not; a refusal of a passing kind is no answer.
ports::Awaitable<void> Clients::ask_again(engine::Engine& engine, Wish& wish) {
  wish.asks_again = false;
  const domain::Intent first = *wish.intent;
  const auto again =
      wish.brings_nonce ? co_await engine.submit(caller(wish, "submit"), wish.payment, wish.brought)
                        : co_await engine.create(caller(wish, "create"), wish.payment);
  wish.asks_again = !check_again(first, again);
  if (!wish.asks_again) tally_.count("people", "asked again");
}

ports::Awaitable<void> Clients::sign_again(engine::Engine& engine, Wish& wish) {
  const domain::Intent first = *wish.signed_as;
  const domain::Authorization authorization = sim::authorize(*wish.intent);
  const auto again =
      co_await engine.authorize(caller(wish, "sign"), first.id, authorization.signature);
  wish.signs_again = !check_again(first, again);
  if (!wish.signs_again) tally_.count("people", "signed again");
}

ports::Awaitable<void> Clients::cancel_again(engine::Engine& engine, Wish& wish) {
  const domain::Intent first = *wish.canceled_as;
  const auto again = co_await engine.cancel(caller(wish, "cancel"), first.id, "changed mind");
  wish.cancels_again = !check_again(first, again);
  if (!wish.cancels_again) tally_.count("people", "canceled again");
}

// A caller of another name, with the same key: for them it is not there.
ports::Awaitable<void> Clients::meddle(engine::Engine& engine, Wish& wish) {
  const domain::IntentId id = wish.intent->id;
  engine::Caller other = caller(wish, "cancel");
  other.id = {"thief"};
  const auto found = co_await engine.find(other.id, id);
  const auto canceled = co_await engine.cancel(other, id, "mine");
  if (found) watch_.say(2, text(id), "another caller was shown it");
  if (canceled) {
    watch_.say(2, text(id), "another caller has canceled it");
  } else if (canceled.error().code != engine::EngineError::not_found &&
             !is_passing(canceled.error())) {
    watch_.say(2, text(id), "another caller is told more of it than that it is not there");
  }
  tally_.count("people", "meddled with");
}

// Another amount under the same key; where a payer has signed, that is signed as well.
ports::Awaitable<void> Clients::ask_otherwise(engine::Engine& engine, Wish& wish) {
  wish.asks_otherwise = false;
  const domain::IntentId id = wish.intent->id;
  engine::NewPayment other = wish.payment;
  other.amount = *other.amount.plus(U256(1));
  engine::Caller same_key = caller(wish, wish.brings_nonce ? "submit" : "create");
  same_key.fingerprint = sha256(as_bytes("another body of " + wish.key));
  const auto answer = wish.brings_nonce
                          ? co_await engine.submit(same_key, other, sign(wish, other.amount))
                          : co_await engine.create(same_key, other);
  if (answer) {
    watch_.say(2, text(id), "another body under its key was answered");
  } else if (is_passing(answer.error())) {
    wish.asks_otherwise = true;
  } else {
    tally_.count("people", "asked otherwise");
  }
}

// The first answer once more, however far the payment has come since.
bool Clients::check_again(const domain::Intent& first, const Result<engine::Answer>& again) {
  if (!again) {
    if (is_passing(again.error())) return false;
    watch_.say(2, text(first.id), "asked again, it was refused: " + again.error().detail);
  } else if (again->intent.id != first.id) {
    watch_.say(2, text(first.id), "asked again, it became another payment");
  } else if (again->intent.version != first.version || again->intent.state != first.state ||
             again->intent.tx_hash != first.tx_hash || again->intent.reason != first.reason) {
    watch_.say(2, text(first.id), "asked again, it was answered otherwise than at first");
  }
  return true;
}

std::optional<domain::Intent> Clients::answered(Wish& wish, const Result<engine::Answer>& answer,
                                                std::string_view what) {
  if (answer) {
    tally_.count("people", what);
    if (!wish.intent) wish.intent = answer->intent;
    watch_.promised(answer->intent);
    ++wish.done;
    return answer->intent;
  }
  tally_.count("people", std::string(what) + " refused");
  const bool passing = is_passing(answer.error());
  if (!passing) ++wish.done;
  if (!passing && !wish.intent) wish.over = true;
  return std::nullopt;
}

engine::Caller Clients::caller(const Wish& wish, std::string_view what) const {
  engine::Caller out;
  out.id = {"shop"};
  out.idempotency_key = wish.key + "/" + std::string(what);
  out.fingerprint = sha256(as_bytes(out.idempotency_key));
  return out;
}

void Clients::forget_requests() {
  ++life_;
  for (Request& request : requests_) {
    request.under_way = false;
    request.hang_up.reset();
  }
}

void Clients::begin_again() {
  for (Wish& wish : wishes_) {
    if (!wish.intent) continue;
    wish.intent.reset();
    wish.signed_as.reset();
    wish.canceled_as.reset();
    wish.done = 0;
    wish.over = false;
    wish.told = Wish::Told::nobody;
    wish.is_untold = false;
    wish.wants_success = wish.brings_nonce;
    wish.waited = 0;
    wish.due_ms = world_.clock().mono_ms() + static_cast<std::int64_t>(chance_.below(20'000));
  }
}

bool Clients::all_answered() const {
  return std::all_of(wishes_.begin(), wishes_.end(), [](const Wish& wish) { return wish.over; });
}

std::vector<domain::Intent> Clients::signed_intents() const {
  std::vector<domain::Intent> out;
  for (const Wish& wish : wishes_) {
    if (!wish.signs || !wish.intent || wish.done < (wish.brings_nonce ? 1 : 2)) continue;
    out.push_back(*wish.intent);
    if (wish.brings_nonce) out.back().authorization = wish.brought;
  }
  return out;
}

std::optional<domain::Intent> Clients::some_intent(std::uint64_t chance) const {
  std::vector<const Wish*> known;
  for (const Wish& wish : wishes_) {
    if (wish.intent) known.push_back(&wish);
  }
  if (known.empty()) return std::nullopt;
  return known[chance % known.size()]->intent;
}

}  // namespace holdfast::campaign

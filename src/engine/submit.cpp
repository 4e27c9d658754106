// Owns: the door of payers who bring a nonce of their own: the verdict over their authorization,
// and its payment, stored and queued in one write. Must never: store what the verdict refuses; let
// verify and submit judge by different rules.
#include <algorithm>
#include <string>

#include <holdfast/domain/refs.hpp>
#include "engine/core.hpp"
#include "engine/errors.hpp"
#include "engine/new_intent.hpp"
#include "engine/requests.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::engine {
namespace {

Error node_trouble() {
  return refuse(ports::VerifyError::node_trouble, "the chain cannot be asked now");
}

/// Who would send it, as far as is known now: the answer may depend on it.
Result<domain::Address> sender_of(const Unit& unit, const domain::Intent& intent) {
  const std::vector<store::Candidate> usable = unit.candidates(intent);
  if (!usable.empty()) return usable.front().account;
  if (!unit.accounts.empty()) return unit.accounts.front().address;
  return refuse(EngineError::try_again, "no sending account is configured on this chain");
}

Error refused_by_chain(const ports::Refused& no) {
  switch (no.kind) {
    case ports::RefusalKind::reverted:
      return refuse(ports::VerifyError::simulation_failed, "the contract refuses: " + no.message);
    case ports::RefusalKind::gas:
      return refuse(ports::VerifyError::simulation_failed,
                    "running it costs more gas than this engine spends on one payment");
    case ports::RefusalKind::unfunded:
      return refuse(EngineError::try_again, "the sending account has too little money for gas");
    default: return node_trouble();
  }
}

/// For the first bytes to be signed and posted, in seconds.
constexpr std::int64_t time_to_publish_s = 6;

/// A payer's window may be open and yet close before anything would be posted any more.
std::optional<Error> check_publishable(const domain::Intent& intent, const ports::Moment& now) {
  const std::int64_t needed_s = std::max(now.wall_s, now.chain_s) + time_to_publish_s;
  if (intent.publish_before_s >= needed_s) return std::nullopt;
  const std::int64_t short_of_s = needed_s - intent.publish_before_s;
  return refuse(ports::VerifyError::expired,
                "validity.before_s: the authorization ends at " +
                    std::to_string(intent.validity.before_s) + " and must be valid until " +
                    std::to_string(intent.validity.before_s + short_of_s) +
                    " to be posted in time");
}

enum class Ask { whether_it_runs, gas };

/// The same verdict either way; a chain finds the gas by trying, which takes it ten times as long.
Awaitable<ports::Outcome<ports::Simulated>> try_out(Unit& unit, domain::Address sender,
                                                    ports::Call call, Ask what) {
  if (what == Ask::gas) {
    co_return co_await unit.chain.simulate(std::move(sender), std::move(call));
  }
  const auto runs = co_await unit.chain.would_run(std::move(sender), std::move(call));
  if (runs.ok() == nullptr) co_return runs.failure<ports::Simulated>();
  co_return ports::Simulated{};
}

/// Would this payment's call run now, and for how much gas (zero where that is not asked)? The
/// method's own checks first, then the exact call, then why the chain refused it.
Awaitable<Result<std::uint64_t>> verdict(Core& core, domain::Intent intent, Ask what) {
  Unit& unit = *core.unit(intent.terms.chain);
  ports::Method& method = *core.method(intent.terms);
  auto good = co_await method.verify(intent, *intent.authorization, moment(core, unit));
  if (!good) co_return good.error();
  const auto call = method.call(intent);
  if (!call) co_return call.error();
  const auto sender = sender_of(unit, intent);
  if (!sender) co_return sender.error();
  const auto answer = co_await try_out(unit, *sender, *call, what);
  if (const ports::Simulated* const runs = answer.ok()) {
    if (auto late = check_publishable(intent, moment(core, unit))) co_return *std::move(late);
    co_return runs->gas;
  }
  const ports::Refused* const no = answer.refused();
  if (no == nullptr) co_return node_trouble();
  Error refusal = refused_by_chain(*no);
  if (no->kind != ports::RefusalKind::reverted) co_return refusal;
  co_return co_await method.explain(intent, std::move(refusal));
}

/// Somebody else ran it, in exactly this transfer: the payment is made, and is to be followed.
Awaitable<bool> was_paid(Core& core, domain::Intent intent, Error refusal) {
  if (refusal.code != ports::VerifyError::already_used) co_return false;
  const auto seen = co_await core.method(intent.terms)->read_authorization(std::move(intent));
  co_return seen.result == domain::AuthorizationSeen::Result::used_exactly;
}

/// What the books know of a payment before it is made.
struct Before {
  Result<std::optional<store::Answered>> answered;
  std::uint64_t ended = 0;  ///< payments of the same authorization that ended without moving it
};

}  // namespace

Awaitable<Result<void>> Engine::verify(NewPayment terms, domain::Authorization authorization) {
  const auto core = core_;
  auto intent = intent_of_authorization(*core, domain::CallerId{}, terms, authorization, 0);
  if (!intent) co_return intent.error();
  const auto gas = co_await verdict(*core, std::move(*intent), Ask::whether_it_runs);
  if (!gas) co_return gas.error();
  co_return Result<void>{};
}

Awaitable<Result<Answer>> Engine::submit(Caller caller, NewPayment payment,
                                         domain::Authorization authorization, Ended ended_before) {
  const auto core = core_;
  if (core->draining || core->broken) co_return drained();
  auto first = intent_of_authorization(*core, caller.id, payment, authorization, 0);
  if (!first) co_return co_await as_answered_before(*core, caller, first.error());
  const domain::RedemptionKey key =
      domain::derive_redemption_key(first->terms, authorization.nonce);
  store::NewIntent wanted = new_intent(*core, caller, *first);
  wanted.begins_anew = ended_before == Ended::begins_anew;
  // A repeated request gets its first answer, also when that payment ended and what it would have
  // redeemed is free again.
  auto before = co_await core->parts.store.read([wanted, key](store::Txn& txn) {
    return Before{store::submitted_before(txn, wanted), store::ended_redemptions(txn, key)};
  });
  if (!before.answered) co_return at_the_face(before.answered.error());
  if (*before.answered) co_return answer_of(std::move(**before.answered));
  auto intent = intent_of_authorization(*core, caller.id, payment, authorization, before.ended);
  if (!intent) co_return intent.error();
  const domain::IntentId id = intent->id;
  // One at a time for this id: its first answer is there before a twin is looked at.
  const auto turn = co_await core->turns.turn(id);
  const bool known = co_await core->parts.store.read(
      [id](store::Txn& txn) { return store::find_intent(txn, id).has_value(); });
  if (!known) {
    const auto gas = co_await verdict(*core, *intent, Ask::gas);
    if (!gas && !co_await was_paid(*core, *intent, gas.error())) co_return gas.error();
    if (gas) core->simulations.keep(id, *gas, core->parts.clock.mono_ms());
  }
  wanted.intent = std::move(*intent);
  co_return co_await store_new(*core, std::move(wanted));
}

}  // namespace holdfast::engine

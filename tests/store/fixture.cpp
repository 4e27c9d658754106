#include "store/fixture.hpp"

#include <algorithm>
#include <cstring>

#include <holdfast/sqlite/sqlite.hpp>

namespace holdfast::test {
namespace {

template <class Fixed>
Fixed numbered(std::string_view kind, std::uint64_t number) {
  const Digest digest = FieldHash(kind).add(number).finish();
  Fixed out;
  std::copy_n(digest.begin(), Fixed::size, out.value.begin());
  return out;
}

domain::Intent intent_of(std::uint64_t number, std::int64_t now_ms) {
  domain::Intent intent;
  intent.id = domain::derive_intent_id(shop, "key " + std::to_string(number));
  intent.caller = shop;
  intent.terms.chain = chain;
  intent.terms.asset = token;
  intent.terms.payee = payee;
  intent.terms.amount = domain::Amount(number + 1000);
  intent.created_ms = now_ms;
  intent.updated_ms = now_ms;
  intent.publish_before_s = 86'400;
  return intent;
}

}  // namespace

TestStore::TestStore(const std::string& path)
    : driver_(sqlite::open_sqlite({.path = path, .vfs = {}})),
      db_(std::make_unique<Counting>(driver_->open_writer())) {}

std::int64_t TestStore::number(std::string_view select) {
  sql::Statement& statement = db_->prepare(select);
  REQUIRE(statement.step());
  const std::int64_t out = statement.get_int(0);
  statement.reset();
  return out;
}

std::string TestStore::text(std::string_view select) {
  sql::Statement& statement = db_->prepare(select);
  REQUIRE(statement.step());
  const std::string out(statement.get_text(0));
  statement.reset();
  return out;
}

store::Request request(std::uint64_t number, std::uint64_t body) {
  return {numbered<store::RequestKey>("key", number),
          FieldHash("body").add(number).add(body).finish()};
}
domain::Receipt receipt(std::uint64_t number) {
  return numbered<domain::Receipt>("receipt", number);
}
domain::TxHash tx_hash(std::uint64_t number) { return numbered<domain::TxHash>("tx", number); }
domain::InstanceId instance(std::uint64_t number) {
  return numbered<domain::InstanceId>("instance", number);
}

store::NewIntent payout(std::uint64_t number, std::int64_t now_ms) {
  store::NewIntent out{intent_of(number, now_ms), request(number)};
  out.intent.terms.payer = our_account;
  out.intent.terms.method = {"payout"};
  out.intent.state = IntentState::authorized;
  out.intent.ref = domain::derive_ref(out.intent.id, out.intent.terms);
  return out;
}

store::NewIntent bearer(std::uint64_t number, std::int64_t now_ms) {
  store::NewIntent out{intent_of(number, now_ms), request(number)};
  out.intent.terms.payer = payer;
  out.intent.terms.method = {"transfer_authorization"};
  out.intent.bearer = true;
  out.intent.validity = {0, 3600};
  out.intent.ref = domain::derive_ref(out.intent.id, out.intent.terms);
  return out;
}

domain::Authorization authorization_of(const domain::Intent& intent) {
  domain::Authorization out;
  out.nonce = *domain::Nonce::from(intent.ref.view());
  out.validity = intent.validity;
  out.signature = Bytes(65, 7);
  return out;
}

domain::MinedTx other_tx(const domain::TxHash& hash, const domain::Address& sender,
                         std::uint64_t sequence) {
  domain::MinedTx tx;
  tx.hash = hash;
  tx.block.height = 10;
  tx.block_time_s = 100;
  tx.succeeded = true;
  tx.sender = sender;
  tx.sequence = {sequence};
  tx.fee_paid = domain::Amount(21'000);
  return tx;
}

domain::MinedTx paying_tx(const domain::Intent& intent, const domain::TxHash& hash,
                          const domain::Address& sender, std::uint64_t sequence) {
  domain::MinedTx tx = other_tx(hash, sender, sequence);
  const domain::Terms& terms = intent.terms;
  if (intent.bearer) {
    const auto nonce = intent.authorization ? intent.authorization->nonce : domain::Nonce{};
    tx.authorizations.push_back({terms.asset, terms.payer, nonce, false, 0});
  } else {
    tx.trailing_ref = intent.ref;
  }
  tx.transfers.push_back({terms.asset, terms.payer, terms.payee, terms.amount, 1});
  return tx;
}

// ---- Desk
// -------------------------------------------------------------------------------------------

Desk::Desk(TestStore& store) : store_(store) {
  epoch = store_.write([&](store::Txn& txn) {
    return store::take_over_account(txn, chain, our_account, "test", now_ms);
  });
}

domain::Intent Desk::create(const store::NewIntent& wanted) {
  const auto made =
      store_.write([&](store::Txn& txn) { return store::create_intent(txn, wanted); });
  REQUIRE(made.has_value());
  return made->intent;
}

domain::Intent Desk::create_bearer(std::uint64_t number) {
  const domain::Intent made = create(bearer(number));
  store::Move authorize = move(made.id, IntentState::authorized, domain::Actor::api);
  authorize.caller = shop;
  authorize.authorization = authorization_of(made);
  authorize.request = request(number + 1'000'000);
  const auto answer =
      store_.write([&](store::Txn& txn) { return store::answer_move(txn, authorize); });
  REQUIRE(answer.has_value());
  return answer->intent;
}

void Desk::lease_all(std::size_t limit) {
  store::LeaseRequest wanted;
  wanted.now_ms = now_ms;
  wanted.instance = instance();
  for (std::size_t i = 0; i < limit; ++i) wanted.receipts.push_back(receipt(next_receipt_++));
  const auto leased = store_.write([&](store::Txn& txn) { return store::lease_jobs(txn, wanted); });
  for (const store::Leased& each : leased) {
    receipts_.emplace_back(each.facts.intent.id, each.lease.receipt);
  }
}

domain::Receipt Desk::receipt_of(const IntentId& id) const {
  const auto found = std::find_if(receipts_.rbegin(), receipts_.rend(),
                                  [&](const auto& each) { return each.first == id; });
  REQUIRE(found != receipts_.rend());
  return found->second;
}

store::Candidate Desk::candidate(std::uint64_t count) const {
  return {our_account, epoch, {count}, {count}};
}

store::Move Desk::move(const IntentId& id, IntentState to, domain::Actor actor) const {
  store::Move out;
  out.id = id;
  out.to = to;
  out.actor = actor;
  out.who = "test";
  out.now_ms = now_ms;
  return out;
}

store::Move Desk::claim_move(const IntentId& id) const {
  store::Move out = move(id, IntentState::settling, domain::Actor::relayer);
  out.receipt = receipt_of(id);
  out.candidates = {candidate(chain_count)};
  out.max_unconsumed = 1000;
  return out;
}

Result<Facts> Desk::may(const store::Move& move) {
  return store_.write([&](store::Txn& txn) { return store::move_intent(txn, move); });
}

Facts Desk::must(const store::Move& move) {
  const auto moved = may(move);
  if (moved.has_error()) FAIL(moved.error().detail);
  return *moved;
}

Facts Desk::claim(const IntentId& id) { return must(claim_move(id)); }

store::AttemptToStore Desk::attempt_for(const Facts& facts) const {
  store::AttemptToStore out;
  out.id = facts.intent.id;
  out.version = facts.intent.version;
  out.receipt = receipt_of(facts.intent.id);
  out.epoch = epoch;
  out.now_ms = now_ms;
  out.attempt.slot = facts.slot ? std::optional(facts.slot->id) : std::nullopt;
  const auto number = facts.attempts.size();
  const Digest bytes = FieldHash("bytes").add(facts.intent.id.view()).add(number).finish();
  out.attempt.bytes.assign(bytes.begin(), bytes.end());
  out.attempt.hash = domain::TxHash::from(sha256(out.attempt.bytes));
  out.attempt.fees = {domain::Amount(30), domain::Amount(2), 80'000};
  return out;
}

Facts Desk::sign(const IntentId& id) {
  const store::AttemptToStore wanted = attempt_for(facts(id));
  const auto stored =
      store_.write([&](store::Txn& txn) { return store::store_attempt(txn, wanted); });
  if (stored.has_error()) FAIL(stored.error().detail);
  return *stored;
}

Facts Desk::confirm(const IntentId& id) {
  const Facts now = facts(id);
  store::Move out = move(id, IntentState::confirming, domain::Actor::relayer);
  REQUIRE(!now.attempts.empty());
  out.accepted = now.attempts.back().id;
  out.tx_hash = now.attempts.back().hash;
  out.receipt = receipt_of(id);
  out.ack = true;
  return must(out);
}

store::Move Desk::settle_move(const Facts& facts) const {
  store::Move out = move(facts.intent.id, IntentState::settled, domain::Actor::listener);
  out.tx_hash = facts.intent.tx_hash;
  REQUIRE(facts.slot.has_value());
  out.final_tx = paying_tx(facts.intent, *facts.intent.tx_hash, facts.slot->account,
                           facts.slot->sequence.value);
  out.arrived = facts.intent.terms.amount;
  return out;
}

Facts Desk::settle(const IntentId& id) { return must(settle_move(facts(id))); }

Facts Desk::bring_to(const IntentId& id, IntentState state) {
  Facts now = facts(id);
  if (now.intent.state == IntentState::authorized && state != IntentState::authorized) {
    lease_all();
    now = claim(id);
  }
  if (now.intent.state == IntentState::settling && state != IntentState::settling) {
    sign(id);
    now = confirm(id);
  }
  if (now.intent.state == IntentState::confirming && state == IntentState::settled) {
    now = settle(id);
  }
  REQUIRE(now.intent.state == state);
  return now;
}

Facts Desk::facts(const IntentId& id) {
  const auto found = store_.read([&](store::Txn& txn) { return store::find_facts(txn, id); });
  REQUIRE(found.has_value());
  return *found;
}

}  // namespace holdfast::test

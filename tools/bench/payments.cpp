#include "payments.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/domain/refs.hpp>

namespace holdfast::bench {

namespace {

using boost::asio::awaitable;
using domain::Facts;
using domain::IntentState;
using store::Txn;

const domain::ChainId chain{"eip155:31337"};
const domain::AssetId token{"0x5FbDB2315678afecb367f032d93F642f64180aa3"};
const domain::CallerId caller{"bench"};

// A call of an ERC-20 token with a ref behind it, signed, is of about this size.
constexpr std::size_t signed_size = 210;
// Every payment is driven by one line, and no account may hold it up.
constexpr std::uint32_t most_unconsumed = 100'000;

template <class Fixed>
Fixed numbered(std::string_view kind, std::uint64_t number) {
  const Digest digest = FieldHash(kind).add(number).finish();
  Fixed out;
  std::copy_n(digest.begin(), Fixed::size, out.value.begin());
  return out;
}

// An account's address, in the length of a real one.
domain::Address address(std::uint64_t number) {
  const auto bytes = numbered<FixedBytes<20, struct AddressTag>>("account", number);
  return {bytes.hex()};
}

// The times in the records; nothing waits for them.
std::int64_t time_of(std::uint64_t number) {
  return 1'700'000'000'000 + static_cast<std::int64_t>(number);
}

store::Move move(const Facts& facts, IntentState to, domain::Actor actor) {
  store::Move out;
  out.id = facts.intent.id;
  out.to = to;
  out.actor = actor;
  out.who = "bench";
  out.now_ms = facts.intent.created_ms;
  out.version = facts.intent.version;
  return out;
}

store::AttemptToStore attempt_for(const Facts& facts, const domain::Receipt& receipt,
                                  std::uint64_t epoch) {
  store::AttemptToStore out;
  out.id = facts.intent.id;
  out.version = facts.intent.version;
  out.receipt = receipt;
  out.epoch = epoch;
  out.now_ms = facts.intent.created_ms;
  out.attempt.slot = facts.slot->id;
  out.attempt.bytes.assign(signed_size, Byte{0x5a});
  std::ranges::copy(facts.intent.ref.view(), out.attempt.bytes.begin());
  out.attempt.hash = domain::TxHash::from(sha256(out.attempt.bytes));
  out.attempt.fees = {domain::Amount(30'000'000'000), domain::Amount(1'000'000'000), 80'000};
  return out;
}

domain::MinedTx mined(const Facts& facts) {
  const domain::Terms& terms = facts.intent.terms;
  domain::MinedTx tx;
  tx.hash = *facts.intent.tx_hash;
  tx.block.height = 10;
  tx.succeeded = true;
  tx.sender = facts.slot->account;
  tx.sequence = facts.slot->sequence;
  tx.fee_paid = domain::Amount(60'000ULL * 30'000'000'000ULL);
  tx.transfers.push_back({terms.asset, terms.payer, terms.payee, terms.amount, 1});
  tx.trailing_ref = facts.intent.ref;
  return tx;
}

template <class Value>
Value must(Result<Value> result) {
  if (result.has_error()) throw std::runtime_error("refused: " + result.error().detail);
  return std::move(*result);
}

// A write whose refusal ends the benchmark.
awaitable<Facts> move_to(store::Store& store, store::Move wanted) {
  co_return must(co_await store.write(
      [wanted = std::move(wanted)](Txn& txn) { return store::move_intent(txn, wanted); }));
}

}  // namespace

store::NewIntent payout(std::uint64_t number, const domain::Address& from) {
  store::NewIntent out;
  domain::Intent& intent = out.intent;
  intent.id = domain::derive_intent_id(caller, "payment " + std::to_string(number));
  intent.caller = caller;
  intent.terms = {.chain = chain,
                  .asset = token,
                  .payer = from,
                  .payee = address(1'000'000 + number),
                  .amount = domain::Amount(number + 1),
                  .method = {"payout"}};
  intent.state = IntentState::authorized;
  intent.ref = domain::derive_ref(intent.id, intent.terms);
  intent.created_ms = intent.updated_ms = time_of(number);
  intent.publish_before_s = time_of(number) / 1000 + 86'400;
  out.request = {numbered<store::RequestKey>("key", number),
                 FieldHash("request").add(number).finish()};
  return out;
}

awaitable<void> take_over(store::Store& store, std::size_t count, Accounts& out) {
  for (std::size_t i = 0; i < count; ++i) {
    const domain::Address account = address(i);
    out.epochs.push_back(co_await store.write([account](Txn& txn) {
      return store::take_over_account(txn, chain, account, "bench", time_of(0));
    }));
    out.addresses.push_back(account);
  }
}

awaitable<void> Payments::run_line() {
  while (!stopped_ && started_ < most_) co_await run_one();
}

awaitable<void> Payments::run_one() {
  const std::uint64_t number = started_++;
  co_await create(number);
  co_await drive(co_await lease(number));
  ++settled_;
}

awaitable<void> Payments::create(std::uint64_t number) {
  const auto& from = accounts_.addresses[number % accounts_.addresses.size()];
  must(co_await store_.write(
      [wanted = payout(number, from)](Txn& txn) { return store::create_intent(txn, wanted); }));
}

awaitable<store::Leased> Payments::lease(std::uint64_t number) {
  store::LeaseRequest wanted;
  wanted.now_ms = time_of(number);
  wanted.lease_ms = 1'000'000'000;
  wanted.receipts = {numbered<domain::Receipt>("receipt", number)};
  auto leased = co_await store_.write(
      [wanted = std::move(wanted)](Txn& txn) { return store::lease_jobs(txn, wanted); });
  if (leased.size() != 1) throw std::runtime_error("a created payment had no job to lease");
  co_return std::move(leased.front());
}

awaitable<void> Payments::drive(store::Leased leased) {
  const domain::Receipt receipt = leased.lease.receipt;
  const auto& addresses = accounts_.addresses;
  const auto at = std::ranges::find(addresses, leased.facts.intent.terms.payer);
  const std::uint64_t epoch = accounts_.epochs[static_cast<std::size_t>(at - addresses.begin())];

  store::Move claim = move(leased.facts, IntentState::settling, domain::Actor::relayer);
  claim.receipt = receipt;
  claim.candidates = {{.account = *at, .epoch = epoch, .chain_latest = {}, .chain_pending = {}}};
  claim.max_unconsumed = most_unconsumed;
  Facts facts = co_await move_to(store_, std::move(claim));

  facts = must(co_await store_.write([wanted = attempt_for(facts, receipt, epoch)](Txn& txn) {
    return store::store_attempt(txn, wanted);
  }));

  store::Move confirm = move(facts, IntentState::confirming, domain::Actor::relayer);
  confirm.accepted = facts.attempts.back().id;
  confirm.tx_hash = facts.attempts.back().hash;
  confirm.receipt = receipt;
  confirm.ack = true;
  facts = co_await move_to(store_, std::move(confirm));

  store::Move settle = move(facts, IntentState::settled, domain::Actor::listener);
  settle.tx_hash = facts.intent.tx_hash;
  settle.final_tx = mined(facts);
  settle.arrived = facts.intent.terms.amount;
  co_await move_to(store_, std::move(settle));
}

}  // namespace holdfast::bench

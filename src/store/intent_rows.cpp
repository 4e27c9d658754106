// The intents table alone: the one place that knows its columns.
#include "store/rows.hpp"

namespace holdfast::store {
namespace {

using domain::Intent;

std::optional<domain::Authorization> authorization_from(const Row& row, int at) {
  if (row.null(at)) return std::nullopt;
  domain::Authorization out;
  out.nonce = row.fixed<domain::Nonce>(at);
  out.validity = {row.number(at + 1), row.number(at + 2)};
  const ByteView signature = row.blob(at + 3);
  out.signature.assign(signature.begin(), signature.end());
  return out;
}

IntentRow row_from(const Row& row) {
  IntentRow out;
  out.row = row.number(0);
  out.has_job = row.flag(1);
  out.receipt = row.maybe_fixed<domain::Receipt>(2);
  out.has_ref_found = row.flag(3);
  out.intent = intent_from(row, 4);
  return out;
}

std::string select_where(std::string_view where) {
  return std::string("SELECT i.row, j.intent IS NOT NULL, j.receipt, ")
      .append(has_ref_found_column)
      .append(intent_columns)
      .append(" FROM intents i LEFT JOIN jobs j ON j.intent = i.row AND j.kind = 'settle'")
      .append(" WHERE ")
      .append(where);
}

// The ref commits to the terms. If it does not match any more, something else than this program
// changed them, and nothing may go on from there.
void check_ref(const Intent& intent) {
  ensure(domain::derive_ref(intent.id, intent.terms) == intent.ref,
         "an intent's ref does not match its terms");
}

std::optional<domain::RedemptionKey> redemption_key_of(const Intent& intent) {
  if (!intent.authorization) return std::nullopt;
  return domain::derive_redemption_key(intent.terms, intent.authorization->nonce);
}

}  // namespace

const std::string_view intent_columns =
    "i.id, i.ref, i.caller, i.chain, i.asset, i.payer, i.payee, i.amount, i.method, i.bearer,"
    " i.state, i.version, i.tx_hash, i.reason, i.cancel_asked, i.valid_after_s, i.valid_before_s,"
    " i.auth_nonce, i.auth_after_s, i.auth_before_s, i.auth_signature, i.created_ms, i.updated_ms,"
    " i.settling_ms, i.publish_before_s";

// What a transaction of this payment carries: the nonce its payer brought, else its ref.
const std::string_view has_ref_found_column =
    "EXISTS (SELECT 1 FROM refs_found f WHERE f.chain = i.chain"
    " AND f.ref = coalesce(i.auth_nonce, i.ref)), ";

Intent intent_from(const Row& row, int at) {
  Intent out;
  out.id = row.fixed<domain::IntentId>(at);
  out.ref = row.fixed<domain::Ref>(at + 1);
  out.caller = {std::string(row.text(at + 2))};
  out.terms.chain = {std::string(row.text(at + 3))};
  out.terms.asset = {std::string(row.text(at + 4))};
  out.terms.payer = {std::string(row.text(at + 5))};
  out.terms.payee = {std::string(row.text(at + 6))};
  out.terms.amount = row.amount(at + 7);
  out.terms.method = {std::string(row.text(at + 8))};
  out.bearer = row.flag(at + 9);
  out.state = row.named(at + 10, domain::intent_state_from);
  out.version = row.count(at + 11);
  out.tx_hash = row.maybe_fixed<domain::TxHash>(at + 12);
  out.reason = row.text(at + 13);
  out.cancel_asked = row.flag(at + 14);
  out.validity = {row.number(at + 15), row.number(at + 16)};
  out.authorization = authorization_from(row, at + 17);
  out.created_ms = row.number(at + 21);
  out.updated_ms = row.number(at + 22);
  out.settling_ms = row.number(at + 23);
  out.publish_before_s = row.number(at + 24);
  return out;
}

std::optional<IntentRow> load_intent(Txn& txn, const domain::IntentId& id) {
  static const std::string sql = select_where("i.id = $1");
  return first(txn, sql, row_from, id);
}

IntentRow load_intent_at(Txn& txn, std::int64_t row) {
  static const std::string sql = select_where("i.row = $1");
  auto found = first(txn, sql, row_from, row);
  if (!found) damaged("a reference to a payment");
  return std::move(*found);
}

bool insert_intent(Txn& txn, IntentRow& row) {
  const Intent& intent = row.intent;
  check_ref(intent);
  const domain::Terms& terms = intent.terms;
  const domain::Authorization unsigned_yet;
  const bool is_signed = intent.authorization.has_value();
  const auto& authorization = is_signed ? *intent.authorization : unsigned_yet;
  const auto when_signed = [&](auto value) {
    return is_signed ? std::optional(value) : std::nullopt;
  };
  const auto inserted = execute(
      txn,
      "INSERT INTO intents (id, ref, caller, chain, asset, payer, payee, amount, method, bearer,"
      " state, version, tx_hash, reason, cancel_asked, valid_after_s, valid_before_s, auth_nonce,"
      " auth_after_s, auth_before_s, auth_signature, created_ms, updated_ms, settling_ms,"
      " publish_before_s, redemption_key, redemption_ended)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,"
      " $19, $20, $21, $22, $23, $24, $25, $26, 0) ON CONFLICT (id) DO NOTHING",
      intent.id, intent.ref, intent.caller, terms.chain, terms.asset, terms.payer, terms.payee,
      terms.amount.big_endian(), terms.method, intent.bearer, domain::to_text(intent.state),
      intent.version, intent.tx_hash, intent.reason, intent.cancel_asked, intent.validity.after_s,
      intent.validity.before_s, when_signed(authorization.nonce),
      when_signed(authorization.validity.after_s), when_signed(authorization.validity.before_s),
      when_signed(authorization.signature), intent.created_ms, intent.updated_ms,
      intent.settling_ms, intent.publish_before_s, redemption_key_of(intent));
  if (inserted == 1) row.row = txn.db().last_rowid();
  return inserted == 1;
}

void save_standing(Txn& txn, IntentRow& row, std::int64_t now_ms) {
  Intent& intent = row.intent;
  check_ref(intent);
  const std::uint64_t read = intent.version;
  ++intent.version;
  intent.updated_ms = now_ms;
  const auto changed = execute(
      txn,
      "UPDATE intents SET state = $1, version = $2, tx_hash = $3, reason = $4, cancel_asked = $5,"
      " updated_ms = $6, settling_ms = $7 WHERE row = $8 AND version = $9",
      domain::to_text(intent.state), intent.version, intent.tx_hash, intent.reason,
      intent.cancel_asked, intent.updated_ms, intent.settling_ms, row.row, read);
  ensure(changed == 1, "an intent changed inside the transaction that read it");
}

// Without the state, which three indexes ask about: a change that leaves it alone leaves them
// alone.
void save_version(Txn& txn, IntentRow& row, std::int64_t now_ms) {
  Intent& intent = row.intent;
  check_ref(intent);
  const std::uint64_t read = intent.version;
  ++intent.version;
  intent.updated_ms = now_ms;
  const auto changed = execute(
      txn, "UPDATE intents SET version = $1, updated_ms = $2 WHERE row = $3 AND version = $4",
      intent.version, intent.updated_ms, row.row, read);
  ensure(changed == 1, "an intent changed inside the transaction that read it");
}

void save_authorization(Txn& txn, const IntentRow& row) {
  const Intent& intent = row.intent;
  check_ref(intent);
  ensure(intent.authorization.has_value(), "an authorization is saved that is not there");
  const auto& authorization = *intent.authorization;
  const auto changed =
      execute(txn,
              "UPDATE intents SET auth_nonce = $1, auth_after_s = $2, auth_before_s = $3,"
              " auth_signature = $4, redemption_key = $5 WHERE row = $6",
              authorization.nonce, authorization.validity.after_s, authorization.validity.before_s,
              authorization.signature, redemption_key_of(intent), row.row);
  ensure(changed == 1, "an intent that was read is gone");
}

void end_redemption(Txn& txn, std::int64_t intent_row) {
  execute(txn,
          "UPDATE intents SET redemption_ended = 1 WHERE row = $1 AND redemption_key IS NOT NULL",
          intent_row);
}

std::uint64_t raise_version(Txn& txn, std::int64_t intent_row, std::int64_t now_ms) {
  IntentRow row = load_intent_at(txn, intent_row);
  save_version(txn, row, now_ms);
  return row.intent.version;
}

}  // namespace holdfast::store

// What is kept of chains and accounts beyond their payments: final blocks seen, halts, adoptions,
// refs found in transactions this store knows nothing of.
#include <holdfast/domain/refs.hpp>

#include "base/teeth.hpp"
#include "store/events.hpp"
#include "store/reads.hpp"
#include "store/rows.hpp"
#include "store/writes.hpp"

namespace holdfast::store {
namespace {

void add_note(Txn& txn, std::string_view kind, std::string_view who, std::string reason,
              std::int64_t now_ms, const std::optional<Request>& request = std::nullopt) {
  Event event;
  event.at_ms = now_ms;
  event.kind = kind;
  event.who = who;
  event.reason = std::move(reason);
  event.request = request;
  event.actor = who.empty() ? domain::Actor::system : domain::Actor::operator_;
  add_event(txn, std::nullopt, event);
}

}  // namespace

bool note_ref_found(Txn& txn, const RefFound& found) {
  return execute(txn,
                 "INSERT INTO refs_found (chain, ref, tx_hash, account, sequence, at_ms)"
                 " SELECT a.chain, $1, $2, a.row, $3, $4 FROM accounts a WHERE a.chain = $5"
                 " AND a.address = $6 ON CONFLICT (chain, ref, tx_hash) DO NOTHING",
                 found.ref, found.tx_hash, found.sequence, found.now_ms, found.chain,
                 found.account) == 1;
}

std::optional<std::size_t> first_found(Txn& txn, const domain::ChainId& chain,
                                       std::span<const domain::Ref> refs) {
  for (std::size_t i = 0; i < refs.size(); ++i) {
    const auto found =
        number_of(txn, "SELECT EXISTS (SELECT 1 FROM refs_found WHERE chain = $1 AND ref = $2)",
                  chain, refs[i]);
    if (found == 1) return i;
  }
  return std::nullopt;
}

std::optional<domain::Intent> find_by_other_payer(Txn& txn, const domain::ChainId& chain,
                                                  const domain::Address& payer,
                                                  const domain::Ref& ref) {
  static const std::string sql = std::string("SELECT ")
                                     .append(intent_columns)
                                     .append(
                                         " FROM jobs j JOIN intents i ON i.row = j.intent"
                                         " WHERE j.chain = $1 AND i.bearer = 0 AND i.payer <> $2");
  std::optional<domain::Intent> out;
  each(
      txn, sql,
      [&](const Row& row) {
        const domain::Intent intent = intent_from(row);
        domain::Terms terms = intent.terms;
        terms.payer = payer;
        if (!out && domain::derive_ref(intent.id, terms) == ref) out = intent;
      },
      chain, payer);
  return out;
}

Result<Adopted> adopt_account(Txn& txn, const Adoption& adoption) {
  const auto before = answered_at_desk(txn, adoption.request);
  if (before.has_error()) return before.error();
  if (*before) {
    const auto row = find_account(txn, adoption.chain, adoption.account);
    return Adopted{row ? row->adopted.value_or(adoption.sequence) : adoption.sequence, true};
  }
  const auto changed =
      execute(txn,
              "UPDATE accounts SET adopted = max(coalesce(adopted, 0), $1), answered_for = $2"
              " WHERE chain = $3 AND address = $4",
              adoption.sequence, is_restored(txn), adoption.chain, adoption.account);
  if (changed != 1) {
    return refuse(StoreError::not_found, "there is no account " + adoption.account.value);
  }
  add_note(txn, "account", adoption.who,
           adoption.account.value + " of " + adoption.chain.value + " adopted at number " +
               std::to_string(adoption.sequence.value) + ": " + adoption.reason,
           adoption.now_ms, adoption.request);
  return Adopted{adoption.sequence, false};
}

void note_final_block(Txn& txn, const domain::ChainId& chain, const domain::BlockRef& block) {
  if (planted(Tooth::final_falls))
    execute(txn, "UPDATE chains SET final_height = 0 WHERE chain = $1 AND halted = ''", chain);
  execute(txn,
          "INSERT INTO chains (chain, final_height, final_hash, halted) VALUES ($1, $2, $3, '')"
          " ON CONFLICT (chain) DO UPDATE SET final_height = excluded.final_height,"
          " final_hash = excluded.final_hash WHERE excluded.final_height > final_height"
          " AND halted = ''",
          chain, block.height, block.hash);
}

bool halt_chain(Txn& txn, const domain::ChainId& chain, std::string_view why, std::int64_t now_ms) {
  const auto halted =
      execute(txn,
              "INSERT INTO chains (chain, final_height, final_hash, halted) VALUES ($1, 0, $2, $3)"
              " ON CONFLICT (chain) DO UPDATE SET halted = excluded.halted WHERE halted = ''",
              chain, domain::BlockHash{}, why);
  if (halted == 1) {
    add_note(txn, "chain", "", chain.value + " halted: " + std::string(why), now_ms);
  }
  return halted == 1;
}

Result<bool> acknowledge_chain(Txn& txn, const domain::ChainId& chain, const Signature& by) {
  auto before = answered_at_desk(txn, by.request);
  if (before.has_error() || *before) return before;
  const auto changed =
      execute(txn,
              "UPDATE chains SET halted = '', final_height = 0, answered_for = $1 WHERE chain = $2"
              " AND halted <> ''",
              is_restored(txn), chain);
  if (changed != 1) return refuse(StoreError::not_found, chain.value + " is not halted");
  add_note(txn, "chain", by.who, chain.value + " goes on: " + by.why, by.now_ms, by.request);
  return false;
}

std::vector<domain::Intent> ended_authorizations(Txn& txn, const domain::ChainId& chain,
                                                 std::int64_t now_s, std::size_t limit) {
  static const std::string sql = std::string("SELECT ")
                                     .append(intent_columns)
                                     .append(
                                         " FROM intents i WHERE i.redemption_ended = 1"
                                         " AND i.chain = $1 AND i.auth_before_s > $2"
                                         " ORDER BY i.auth_before_s DESC LIMIT $3");
  std::vector<domain::Intent> out;
  each(txn, sql, [&](const Row& row) { out.push_back(intent_from(row)); }, chain, now_s, limit);
  return out;
}

namespace {

/// A payment that came later has the same authorization: what uses it is that one's matter.
bool is_redeemed_again(Txn& txn, const IntentRow& row) {
  const domain::Intent& intent = row.intent;
  if (!intent.authorization) return false;
  const auto later = number_of(
      txn,
      "SELECT (SELECT count(*) FROM intents WHERE redemption_key = $1 AND redemption_ended = 0"
      " AND redemption_key IS NOT NULL AND row > $2) + (SELECT count(*) FROM intents"
      " WHERE redemption_key = $1 AND redemption_ended = 1 AND row > $2)",
      domain::derive_redemption_key(intent.terms, intent.authorization->nonce), row.row);
  return later > 0;
}

}  // namespace

bool note_used_after_end(Txn& txn, const domain::IntentId& id, const domain::TxHash& tx_hash,
                         std::int64_t now_ms) {
  const auto row = load_intent(txn, id);
  if (!row || planted(Tooth::late_use_untold)) return false;
  const auto known = number_of(txn,
                               "SELECT EXISTS (SELECT 1 FROM events WHERE intent = $1"
                               " AND kind = 'alarm' AND tx_hash = $2)",
                               row->row, tx_hash);
  if (known == 1 || is_redeemed_again(txn, *row)) return false;
  Event event;
  event.at_ms = now_ms;
  event.kind = "alarm";
  event.actor = domain::Actor::listener;
  event.reason = "its authorization was used after it had ended";
  event.tx_hash = tx_hash;
  event.version = row->intent.version;
  add_event(txn, row->row, event);
  return true;
}

ChainRecord chain_record(Txn& txn, const domain::ChainId& chain) {
  const auto record = first(
      txn, "SELECT final_height, final_hash, halted, answered_for FROM chains WHERE chain = $1",
      [](const Row& row) {
        ChainRecord out;
        // Height zero: none was seen since the chain was acknowledged.
        if (row.count(0) > 0) {
          out.final_block = domain::BlockRef{row.count(0), row.fixed<domain::BlockHash>(1)};
        }
        out.halted = row.text(2);
        out.answered_for = row.flag(3);
        return out;
      },
      chain);
  ChainRecord out = record.value_or(ChainRecord{});
  out.refs_were_found =
      number_of(txn, "SELECT EXISTS (SELECT 1 FROM refs_found WHERE chain = $1)", chain) == 1;
  return out;
}

}  // namespace holdfast::store

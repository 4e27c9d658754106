#include "sqlite/schema.hpp"

namespace holdfast::sqlite {
namespace {

// Migration 1: the whole record. How it is laid out, and why:
//
// - Rows refer to one another by integer rowids that only grow, so every index over them is written
//   at its right edge. The indexes over random values are few: an intent's id (which is also the
//   idempotency look-up), its ref, and a bearer authorization's redemption key.
// - States and kinds are the domain's own texts. Amounts are 32 bytes, big-endian; a signed amount
//   has one byte for its sign before them. Hashes and ids are their bytes.
// - A choice of words is a chain of ORs: for a list with IN, SQLite builds a table of its own each
//   time, which cost a third of all a write does.
// - What is looked for by state (undriven, watched, open) has a partial index holding only that.
constexpr const char* first = R"sql(
CREATE TABLE intents (
  row INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  ref BLOB NOT NULL UNIQUE CHECK (length(ref) = 32),
  caller TEXT NOT NULL,
  -- terms
  chain TEXT NOT NULL,
  asset TEXT NOT NULL,
  payer TEXT NOT NULL,
  payee TEXT NOT NULL,
  amount BLOB NOT NULL CHECK (length(amount) = 32),
  method TEXT NOT NULL,
  bearer INTEGER NOT NULL CHECK (bearer IN (0, 1)),
  valid_after_s INTEGER NOT NULL,
  valid_before_s INTEGER NOT NULL,
  publish_before_s INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  -- where it stands
  state TEXT NOT NULL CHECK (
    state = 'created' OR state = 'authorized' OR state = 'settling' OR
    state = 'confirming' OR state = 'settled' OR state = 'failed' OR state = 'canceled' OR
    state = 'needs_review'),
  version INTEGER NOT NULL CHECK (version >= 1),
  tx_hash BLOB CHECK (length(tx_hash) = 32),
  reason TEXT NOT NULL,
  cancel_asked INTEGER NOT NULL CHECK (cancel_asked IN (0, 1)),
  updated_ms INTEGER NOT NULL,
  settling_ms INTEGER NOT NULL,
  -- what the payer signed, bearer methods only
  auth_nonce BLOB CHECK (length(auth_nonce) = 32),
  auth_after_s INTEGER,
  auth_before_s INTEGER,
  auth_signature BLOB,
  redemption_key BLOB CHECK (length(redemption_key) = 32),
  -- 1: ended canceled or failed by proof 1, so the authorization may be redeemed by another intent
  redemption_ended INTEGER NOT NULL CHECK (redemption_ended IN (0, 1)),
  CHECK ((auth_nonce IS NULL) = (auth_after_s IS NULL)),
  CHECK ((auth_nonce IS NULL) = (auth_before_s IS NULL)),
  CHECK ((auth_nonce IS NULL) = (auth_signature IS NULL)),
  CHECK ((auth_nonce IS NULL) = (redemption_key IS NULL)),
  CHECK (bearer = 1 OR auth_nonce IS NULL),
  CHECK (bearer = 0 OR auth_nonce IS NOT NULL OR state IN ('created', 'canceled'))
) STRICT;
CREATE UNIQUE INDEX intents_redeeming ON intents (redemption_key)
  WHERE redemption_key IS NOT NULL AND redemption_ended = 0;
CREATE INDEX intents_redeemed_before ON intents (redemption_key) WHERE redemption_ended = 1;
CREATE INDEX intents_by_caller ON intents (caller);
CREATE INDEX intents_by_state ON intents (state) WHERE state <> 'settled';
CREATE INDEX intents_watched ON intents (chain, id)
  WHERE (state = 'settling' OR state = 'confirming' OR state = 'needs_review');

-- History and audit trail. The seq is the cursor of readers.
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  intent INTEGER REFERENCES intents (row),
  kind TEXT NOT NULL,
  from_state TEXT CHECK (
    from_state = 'created' OR from_state = 'authorized' OR from_state = 'settling' OR
    from_state = 'confirming' OR from_state = 'settled' OR from_state = 'failed' OR
    from_state = 'canceled' OR from_state = 'needs_review'),
  to_state TEXT CHECK (
    to_state = 'created' OR to_state = 'authorized' OR to_state = 'settling' OR
    to_state = 'confirming' OR to_state = 'settled' OR to_state = 'failed' OR
    to_state = 'canceled' OR to_state = 'needs_review'),
  actor TEXT NOT NULL CHECK (
    actor = 'api' OR actor = 'operator' OR actor = 'system' OR actor = 'relayer' OR
    actor = 'listener'),
  who TEXT NOT NULL,
  reason TEXT NOT NULL,
  tx_hash BLOB CHECK (length(tx_hash) = 32),
  version INTEGER NOT NULL,
  request_key BLOB CHECK (length(request_key) = 16),
  fingerprint BLOB CHECK (length(fingerprint) = 32),
  CHECK ((request_key IS NULL) = (fingerprint IS NULL)),
  CHECK (kind <> 'move' OR (intent IS NOT NULL AND to_state IS NOT NULL))
) STRICT;
CREATE INDEX events_of_intent ON events (intent) WHERE intent IS NOT NULL;
CREATE TRIGGER events_stay BEFORE UPDATE ON events
  BEGIN SELECT RAISE(ABORT, 'history only grows'); END;

-- The queue. A leased job has a receipt, and visible_ms is the lease's end: so one index serves
-- "oldest visible first" for jobs that wait and for leases that lapsed.
CREATE TABLE jobs (
  intent INTEGER NOT NULL REFERENCES intents (row),
  kind TEXT NOT NULL CHECK (kind = 'settle'),
  chain TEXT NOT NULL,
  visible_ms INTEGER NOT NULL,
  receipt BLOB CHECK (length(receipt) = 16),
  instance BLOB CHECK (length(instance) = 16),
  deliveries INTEGER NOT NULL CHECK (deliveries >= 0),
  lapsed_leases INTEGER NOT NULL CHECK (lapsed_leases >= 0),
  nacks INTEGER NOT NULL CHECK (nacks >= 0),
  why TEXT NOT NULL,
  -- asked for again while leased, by a change the lease's holder may not have seen: its ack then
  -- queues the job for this time instead of ending it
  again_ms INTEGER,
  PRIMARY KEY (intent, kind),
  CHECK ((receipt IS NULL) = (instance IS NULL)),
  CHECK (receipt IS NOT NULL OR again_ms IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_visible ON jobs (visible_ms, intent, chain);
CREATE UNIQUE INDEX jobs_leased ON jobs (receipt) WHERE receipt IS NOT NULL;

CREATE TABLE dead_letters (
  row INTEGER PRIMARY KEY,
  intent INTEGER NOT NULL REFERENCES intents (row),
  kind TEXT NOT NULL CHECK (kind = 'settle'),
  at_ms INTEGER NOT NULL,
  deliveries INTEGER NOT NULL,
  lapsed_leases INTEGER NOT NULL,
  verdict TEXT NOT NULL,       -- why it was parked
  state TEXT NOT NULL,         -- where the intent stood then
  cycles INTEGER NOT NULL,     -- how often it was redriven before
  signed_by TEXT NOT NULL,     -- the operator who redrove or dropped it; empty: parked
  ended_ms INTEGER             -- when that was
) STRICT;
CREATE UNIQUE INDEX dead_letters_parked ON dead_letters (intent, kind) WHERE ended_ms IS NULL;

CREATE TABLE accounts (
  row INTEGER PRIMARY KEY,
  chain TEXT NOT NULL,
  address TEXT NOT NULL,
  epoch INTEGER NOT NULL CHECK (epoch >= 1),
  UNIQUE (chain, address)
) STRICT;

CREATE TABLE slots (
  row INTEGER PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES accounts (row),
  sequence INTEGER NOT NULL CHECK (sequence >= 0),
  state TEXT NOT NULL CHECK (
    state = 'reserved' OR state = 'signed' OR state = 'broadcast' OR state = 'consumed' OR
    state = 'released' OR state = 'reconciliation_required'),
  item INTEGER REFERENCES intents (row),  -- NULL: bound to the account itself
  handed_over INTEGER NOT NULL CHECK (handed_over IN (0, 1)),
  consumed_by BLOB CHECK (length(consumed_by) = 32),
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  CHECK (state <> 'consumed' OR consumed_by IS NOT NULL)
) STRICT;
-- The last line of defence against one number given twice.
CREATE UNIQUE INDEX slots_taken ON slots (account, sequence) WHERE state <> 'released';
CREATE INDEX slots_open ON slots (account, sequence)
  WHERE state <> 'released' AND state <> 'consumed';
CREATE INDEX slots_released ON slots (account, sequence) WHERE state = 'released';
CREATE INDEX slots_of_item ON slots (item) WHERE item IS NOT NULL;

CREATE TABLE attempts (
  row INTEGER PRIMARY KEY,
  intent INTEGER REFERENCES intents (row),
  slot INTEGER REFERENCES slots (row),
  kind TEXT NOT NULL CHECK (kind = 'pay' OR kind = 'noop'),
  bytes BLOB NOT NULL,
  hash BLOB CHECK (length(hash) = 32),
  max_fee BLOB NOT NULL CHECK (length(max_fee) = 32),
  priority_fee BLOB NOT NULL CHECK (length(priority_fee) = 32),
  gas_limit INTEGER NOT NULL CHECK (gas_limit >= 0),
  outcome TEXT NOT NULL CHECK (
    outcome = 'stored' OR outcome = 'accepted' OR outcome = 'refused' OR
    outcome = 'not_sent' OR outcome = 'unknown'),
  detail TEXT NOT NULL,
  stored_ms INTEGER NOT NULL,
  posted_ms INTEGER NOT NULL,
  CHECK (intent IS NOT NULL OR slot IS NOT NULL),
  CHECK (kind <> 'pay' OR intent IS NOT NULL)
) STRICT;
CREATE INDEX attempts_of_intent ON attempts (intent) WHERE intent IS NOT NULL;
CREATE INDEX attempts_of_slot ON attempts (slot) WHERE slot IS NOT NULL;
CREATE TRIGGER attempts_stay BEFORE DELETE ON attempts
  BEGIN SELECT RAISE(ABORT, 'attempts are only added'); END;

-- The journal. An entry's legs are one value: they are written once, read whole and hashed whole.
-- Each leg: length of the account's name (2 bytes), the name, sign (0 or 1), 32 bytes of magnitude.
CREATE TABLE entries (
  sequence INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (
    kind = 'hold' OR kind = 'post' OR kind = 'void' OR kind = 'gas'),
  chain TEXT NOT NULL,
  asset TEXT NOT NULL,
  legs BLOB NOT NULL,
  at_ms INTEGER NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  intent INTEGER REFERENCES intents (row),  -- of a hold, post or void
  slot INTEGER REFERENCES slots (row),      -- of gas: where the transaction stood
  tx_hash BLOB CHECK (length(tx_hash) = 32),
  CHECK ((kind = 'gas') = (intent IS NULL)),
  CHECK ((kind = 'gas') = (tx_hash IS NOT NULL))
) STRICT;
-- Per intent one hold, and one entry that resolves it.
CREATE UNIQUE INDEX entries_of_intent ON entries (intent, kind = 'hold') WHERE intent IS NOT NULL;
CREATE UNIQUE INDEX entries_of_slot ON entries (slot, tx_hash) WHERE slot IS NOT NULL;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
  BEGIN SELECT RAISE(ABORT, 'the journal is only added to'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries
  BEGIN SELECT RAISE(ABORT, 'the journal is only added to'); END;

CREATE TABLE balances (
  account TEXT NOT NULL,
  chain TEXT NOT NULL,
  asset TEXT NOT NULL,
  posted BLOB NOT NULL CHECK (length(posted) = 33),
  pending BLOB NOT NULL CHECK (length(pending) = 33),
  PRIMARY KEY (account, chain, asset)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  row INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,  -- also the caller's id, so never given twice
  sha256 BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),
  scopes TEXT NOT NULL,       -- separated by spaces
  created_ms INTEGER NOT NULL,
  revoked_ms INTEGER
) STRICT;

-- Where rotations stand.
CREATE TABLE cursors (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
)sql";

// Migration 2: what became of a dead letter, and why. Which request made an API key, and what its
// token was made from besides that request's own secret: so that a repeated request gets the same
// token, which is kept nowhere.
constexpr const char* second = R"sql(
ALTER TABLE dead_letters ADD COLUMN ended_as TEXT
  CHECK (ended_as = 'redriven' OR ended_as = 'dropped');
ALTER TABLE dead_letters ADD COLUMN ended_why TEXT NOT NULL DEFAULT '';
CREATE INDEX dead_letters_of_intent ON dead_letters (intent);
ALTER TABLE api_keys ADD COLUMN request_key BLOB CHECK (length(request_key) = 16);
ALTER TABLE api_keys ADD COLUMN fingerprint BLOB CHECK (length(fingerprint) = 32);
ALTER TABLE api_keys ADD COLUMN salt BLOB CHECK (length(salt) = 16);
CREATE UNIQUE INDEX api_keys_of_request ON api_keys (request_key) WHERE request_key IS NOT NULL;
)sql";

// Migration 3: which store this is, so that its watermark is not taken for another's; and whether
// it was put back from a backup and nobody has answered for that yet.
constexpr const char* third = R"sql(
CREATE TABLE store_identity (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id BLOB NOT NULL CHECK (length(id) = 16),
  restored TEXT NOT NULL  -- the sentence that says so; empty: it was not
) STRICT;
INSERT INTO store_identity (one, id, restored) VALUES (1, randomblob(16), '');
)sql";

// Migration 4: what is known of each chain beyond a process: the newest final block that was seen,
// and why nothing is claimed or posted there. Which number of an account an operator has answered
// for. Refs found in transactions of our accounts that this store knows nothing of.
constexpr const char* fourth = R"sql(
CREATE TABLE chains (
  chain TEXT PRIMARY KEY,
  final_height INTEGER NOT NULL CHECK (final_height >= 0),
  final_hash BLOB NOT NULL CHECK (length(final_hash) = 32),
  halted TEXT NOT NULL  -- a sentence; empty: it is not
) STRICT, WITHOUT ROWID;
ALTER TABLE accounts ADD COLUMN adopted INTEGER CHECK (adopted >= 0);
CREATE TABLE refs_found (
  ref BLOB PRIMARY KEY CHECK (length(ref) = 32),
  account INTEGER NOT NULL REFERENCES accounts (row),
  sequence INTEGER NOT NULL CHECK (sequence >= 0),
  tx_hash BLOB NOT NULL CHECK (length(tx_hash) = 32),
  at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX intents_ended_until ON intents (chain, auth_before_s) WHERE redemption_ended = 1;
)sql";

// Migration 5: a slot's standing, so that most changes of its state touch no index.
constexpr const char* fifth = R"sql(
CREATE TABLE slots_now (
  row INTEGER PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES accounts (row),
  sequence INTEGER NOT NULL CHECK (sequence >= 0),
  state TEXT NOT NULL CHECK (
    state = 'reserved' OR state = 'signed' OR state = 'broadcast' OR state = 'consumed' OR
    state = 'released' OR state = 'reconciliation_required'),
  -- The state as the indexes need it: a change between two open states touches none of them.
  standing TEXT NOT NULL CHECK (
    (standing = 'open' AND state <> 'released' AND state <> 'consumed') OR
    (standing = state AND (state = 'released' OR state = 'consumed'))),
  item INTEGER REFERENCES intents (row),  -- NULL: bound to the account itself
  handed_over INTEGER NOT NULL CHECK (handed_over IN (0, 1)),
  consumed_by BLOB CHECK (length(consumed_by) = 32),
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  CHECK (state <> 'consumed' OR consumed_by IS NOT NULL)
) STRICT;
INSERT INTO slots_now SELECT row, account, sequence, state,
  CASE WHEN state IN ('released', 'consumed') THEN state ELSE 'open' END,
  item, handed_over, consumed_by, created_ms, updated_ms FROM slots;
DROP TABLE slots;
ALTER TABLE slots_now RENAME TO slots;
-- The last line of defence against one number given twice.
CREATE UNIQUE INDEX slots_taken ON slots (account, sequence) WHERE standing <> 'released';
CREATE INDEX slots_open ON slots (account, sequence) WHERE standing = 'open';
CREATE INDEX slots_released ON slots (account, sequence) WHERE standing = 'released';
CREATE INDEX slots_of_item ON slots (item) WHERE item IS NOT NULL;
)sql";

// Migration 6: a transaction may cost gas more than once at its number: mined, taken back with what
// was called final, and mined again at another price. Its first cost is reversed, not changed.
constexpr const char* sixth = R"sql(
ALTER TABLE entries ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
DROP INDEX entries_of_slot;
CREATE UNIQUE INDEX entries_of_slot ON entries (slot, tx_hash, turn) WHERE slot IS NOT NULL;
)sql";

// Migration 7: an operator's request about an account or a chain, asked again, is found by its key.
constexpr const char* seventh = R"sql(
CREATE UNIQUE INDEX events_of_request ON events (request_key)
  WHERE request_key IS NOT NULL AND intent IS NULL;
)sql";

// Migration 8: every unknown transaction that carries a ref, not the first alone: another may stand
// in its place after a reorg.
constexpr const char* eighth = R"sql(
CREATE TABLE refs_found_now (
  chain TEXT NOT NULL,
  ref BLOB NOT NULL CHECK (length(ref) = 32),
  tx_hash BLOB NOT NULL CHECK (length(tx_hash) = 32),
  account INTEGER NOT NULL REFERENCES accounts (row),
  sequence INTEGER NOT NULL CHECK (sequence >= 0),
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (chain, ref, tx_hash)
) STRICT, WITHOUT ROWID;
INSERT INTO refs_found_now SELECT a.chain, f.ref, f.tx_hash, f.account, f.sequence, f.at_ms
  FROM refs_found f JOIN accounts a ON a.row = f.account;
DROP TABLE refs_found;
ALTER TABLE refs_found_now RENAME TO refs_found;
)sql";

// Migration 9: whom an operator has answered for since the store was put back from a backup.
constexpr const char* ninth = R"sql(
ALTER TABLE accounts ADD COLUMN answered_for INTEGER NOT NULL DEFAULT 0
  CHECK (answered_for IN (0, 1));
ALTER TABLE chains ADD COLUMN answered_for INTEGER NOT NULL DEFAULT 0
  CHECK (answered_for IN (0, 1));
)sql";

// Migration 10: which request submitted an authorization. The payment's id is made from what it
// redeems, so it does not tell; where a key came twice before, the first is meant.
constexpr const char* tenth = R"sql(
CREATE TABLE submissions (
  request_key BLOB PRIMARY KEY CHECK (length(request_key) = 16),
  intent INTEGER NOT NULL REFERENCES intents (row)
) STRICT, WITHOUT ROWID;
INSERT INTO submissions SELECT e.request_key, e.intent FROM events e
  JOIN intents i ON i.row = e.intent
  WHERE e.kind = 'move' AND e.from_state IS NULL AND e.to_state = 'authorized'
  AND i.bearer = 1 AND e.request_key IS NOT NULL
  ORDER BY e.seq ON CONFLICT (request_key) DO NOTHING;
)sql";

// Migration 11: who was told that a payment succeeded (domain/success.hpp).
constexpr const char* eleventh = R"sql(
CREATE TABLE successes (
  intent INTEGER PRIMARY KEY REFERENCES intents (row),
  life BLOB NOT NULL CHECK (length(life) = 16),
  asker BLOB CHECK (length(asker) = 32),
  fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
  offered_ms INTEGER NOT NULL,
  delivered_ms INTEGER
) STRICT;
)sql";

// Migration 12: who is watched is found by state. An index by id over those under way was written
// at a random place when a payment was claimed, and again when it was settled.
constexpr const char* twelfth = R"sql(
DROP INDEX intents_watched;
)sql";

constexpr const char* scripts[] = {first,   second, third, fourth, fifth,    sixth,
                                   seventh, eighth, ninth, tenth,  eleventh, twelfth};

}  // namespace

std::span<const char* const> migrations() { return scripts; }

}  // namespace holdfast::sqlite

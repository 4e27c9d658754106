// Owns: the double-entry rules: chart of accounts, entries, the hash chain, the projection.
// Must never: change or remove an entry, or accept one whose legs do not sum to zero.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/result.hpp>
#include <holdfast/base/sha256.hpp>
#include <holdfast/domain/ids.hpp>

namespace holdfast::domain {

enum class JournalError {
  unbalanced = 1,    ///< the legs do not sum to zero
  too_few_legs,
  zero_leg,
  repeated_account,
  overflow,          ///< a leg or a balance over 2^256 − 1
  conflict,          ///< the same entry id with other content: a bug
  no_hold,           ///< post or void without a hold
  resolved,          ///< the hold was posted or voided already
  over_hold,         ///< a post of more than was held
  broken_chain,
};
boost::system::error_code make_error_code(JournalError error);

/// A sign and a 256-bit magnitude; zero is never negative.
struct SignedAmount {
  bool negative = false;
  U256 magnitude;

  bool operator==(const SignedAmount&) const = default;
  /// Empty when the magnitude overflows.
  std::optional<SignedAmount> plus(const SignedAmount& other) const;
  SignedAmount negated() const { return {!magnitude.is_zero() && !negative, magnitude}; }
  std::string decimal() const;
};

enum class EntryKind { hold, post, void_, gas };
std::string_view to_text(EntryKind kind);
std::optional<EntryKind> entry_kind_from(std::string_view text);

/// One line of an entry: so much on this account.
struct Leg {
  std::string account;  ///< "source:<address>", "hold:<chain>", "payee:…", "fee:<asset>", "gas:…"
  SignedAmount amount;
  bool operator==(const Leg&) const = default;
};

/// One entry; all legs in one asset of one chain.
struct Entry {
  std::string id;  ///< "<intent id>/hold", "/post", "/void", "<tx hash>/gas", or see `gas_entries`
  EntryKind kind = EntryKind::hold;
  ChainId chain;
  AssetId asset;
  std::vector<Leg> legs;
  std::int64_t at_ms = 0;  ///< wall time; not part of the content a replay is compared by

  bool same_content(const Entry& other) const;
};

std::string source_account(const Address& address);
std::string hold_account(const ChainId& chain);
std::string payee_account(const Address& address);
std::string fee_account(const AssetId& asset);
std::string gas_account(const ChainId& chain);

/// source −a, hold +a.
Entry make_hold(const IntentId& id, const ChainId& chain, const AssetId& asset,
                const Address& payer, const Amount& amount, std::int64_t at_ms);
/// hold −held, payee +arrived, fee +(held − arrived) when less arrived. `over_hold` when more.
Result<Entry> make_post(const Entry& hold, const Address& payee, const Amount& arrived,
                        std::int64_t at_ms);
/// The hold's legs reversed.
Entry make_void(const Entry& hold, std::int64_t at_ms);
/// What a mined transaction cost our account: source −g, gas +g, in the native asset. A zero fee
/// makes an entry that `check_entry` refuses: the caller writes none.
Entry make_gas(const TxHash& hash, const ChainId& chain, const Address& account,
               const Amount& fee_paid, std::int64_t at_ms);
/// What the journal lacks so that of one number exactly what `consumer` cost stands there. `there`
/// are the number's gas entries, oldest first. A chain that takes back finality may mine the same
/// transaction again at another price, or another one: what stood is reversed (`<id>/back`), and
/// the consumer's cost follows (`<tx hash>/gas`, the second time `<tx hash>/gas/2`). Empty: it
/// stands already, or cost nothing.
struct GasEntry {
  Entry entry;
  std::optional<std::size_t> reverses;  ///< which of those there
};
std::vector<GasEntry> gas_entries(std::span<const Entry> there, const Entry& consumer);
/// Which of a number's gas entries, oldest first, nothing after them reverses: one at most.
std::vector<std::size_t> standing_gas(std::span<const Entry> there);

/// At least two legs, none zero, no account twice, summing to zero.
Result<void> check_entry(const Entry& entry);

/// What the journal holds of one payment when another entry of it comes in.
struct EntriesThere {
  std::optional<Entry> same_id;  ///< the entry with the very id
  std::optional<Entry> hold;  ///< for a post or void: the hold it names
  std::optional<Entry> resolution;  ///< the post or void that resolved this hold
};
enum class Appending {
  append,
  replay,  ///< the same entry is there: write nothing, no error
};
/// Every rule for one entry that wants in: `conflict`, what `check_entry` refuses, `no_hold`,
/// `resolved` (a hold resolves exactly once, by post or by void), `over_hold`.
Result<Appending> check_append(const Entry& entry, const EntriesThere& there);

/// SHA-256 over the hash before it, the sequence number, and all content of the entry (with its
/// time). The first entry's `previous` is all zeros.
Digest entry_hash(const Digest& previous, std::uint64_t sequence, const Entry& entry);

/// (account, chain, asset) → what it holds.
struct BalanceKey {
  std::string account;
  ChainId chain;
  AssetId asset;
  auto operator<=>(const BalanceKey&) const = default;
};
/// `posted` moves by post and gas, `pending` by holds not resolved yet.
struct Balance {
  SignedAmount posted;
  SignedAmount pending;
  bool operator==(const Balance&) const = default;
};

/// What one leg does to its account's balance: a hold adds to pending; a post or void takes the
/// hold's legs out of pending (`hold` is the entry they resolve) and a post puts the net movement
/// (source −, payee +, fee +) into posted. Gas goes into posted. So once every hold is resolved,
/// every pending is zero. The entry has passed `check_entry`. `no_hold`, `over_hold`, or `conflict`
/// for a void that is not its hold reversed.
Result<std::map<BalanceKey, Balance>> balance_changes(const Entry& entry,
                                                      const std::optional<Entry>& hold);
/// Empty when a magnitude goes over 2^256 − 1.
std::optional<Balance> add(const Balance& left, const Balance& right);

}  // namespace holdfast::domain

template <>
struct boost::system::is_error_code_enum<holdfast::domain::JournalError> : std::true_type {};

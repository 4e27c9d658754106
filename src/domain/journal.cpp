#include <holdfast/domain/journal.hpp>

#include <algorithm>

#include "domain/enum_text.hpp"
#include "domain/error_category.hpp"

namespace holdfast::domain {
namespace {

constexpr EnumText<EntryKind> kind_texts[] = {
    {EntryKind::hold, "hold"},
    {EntryKind::post, "post"},
    {EntryKind::void_, "void"},
    {EntryKind::gas, "gas"},
};

constexpr EnumText<JournalError> error_texts[] = {
    {JournalError::unbalanced, "the legs do not sum to zero"},
    {JournalError::too_few_legs, "an entry has at least two legs"},
    {JournalError::zero_leg, "no leg is zero"},
    {JournalError::repeated_account, "no account stands twice in an entry"},
    {JournalError::overflow, "an amount is over 2^256 - 1"},
    {JournalError::conflict, "the entry is there already with other content"},
    {JournalError::no_hold, "there is no hold to resolve"},
    {JournalError::resolved, "the hold is resolved already"},
    {JournalError::over_hold, "more than was held"},
    {JournalError::broken_chain, "the journal's hash chain is broken"},
};

constexpr std::string_view hold_suffix = "/hold";
constexpr std::string_view back_suffix = "/back";

SignedAmount plus_of(const Amount& amount) { return {false, amount}; }
SignedAmount minus_of(const Amount& amount) { return plus_of(amount).negated(); }

std::string account_of(std::string_view kind, std::string_view name) {
  return std::string(kind).append(":").append(name);
}

const Leg& held_leg(const Entry& hold) {
  const std::string account = hold_account(hold.chain);
  const auto leg = std::find_if(hold.legs.begin(), hold.legs.end(),
                                [&](const Leg& each) { return each.account == account; });
  ensure(leg != hold.legs.end() && !leg->amount.negative, "a hold entry holds nothing");
  return *leg;
}

std::string sibling_id(const Entry& hold, EntryKind kind) {
  ensure(hold.id.ends_with(hold_suffix), "a hold entry's id does not end in /hold");
  return hold.id.substr(0, hold.id.size() - hold_suffix.size()).append("/").append(to_text(kind));
}

Entry sibling(const Entry& hold, EntryKind kind, std::int64_t at_ms) {
  ensure(hold.kind == EntryKind::hold, "only a hold can be resolved");
  return {sibling_id(hold, kind), kind, hold.chain, hold.asset, {}, at_ms};
}

std::vector<Leg> reversed(const std::vector<Leg>& legs) {
  std::vector<Leg> out;
  out.reserve(legs.size());
  for (const Leg& leg : legs) out.push_back({leg.account, leg.amount.negated()});
  return out;
}

}  // namespace

boost::system::error_code make_error_code(JournalError error) {
  static const TextCategory category("holdfast.journal", error_texts);
  return {static_cast<int>(error), category};
}

std::string_view to_text(EntryKind kind) { return text_of(kind_texts, kind); }

std::optional<EntryKind> entry_kind_from(std::string_view text) {
  return enum_of(kind_texts, text);
}

std::optional<SignedAmount> SignedAmount::plus(const SignedAmount& other) const {
  if (negative == other.negative) {
    const auto sum = magnitude.plus(other.magnitude);
    if (!sum) return std::nullopt;
    return SignedAmount{negative && !sum->is_zero(), *sum};
  }
  const bool mine_is_larger = magnitude >= other.magnitude;
  const SignedAmount& larger = mine_is_larger ? *this : other;
  const SignedAmount& smaller = mine_is_larger ? other : *this;
  const U256 rest = *larger.magnitude.minus(smaller.magnitude);
  return SignedAmount{larger.negative && !rest.is_zero(), rest};
}

std::string SignedAmount::decimal() const { return (negative ? "-" : "") + magnitude.decimal(); }

bool Entry::same_content(const Entry& other) const {
  return id == other.id && kind == other.kind && chain == other.chain && asset == other.asset &&
         legs == other.legs;
}

std::string source_account(const Address& address) { return account_of("source", address.value); }
std::string hold_account(const ChainId& chain) { return account_of("hold", chain.value); }
std::string payee_account(const Address& address) { return account_of("payee", address.value); }
std::string fee_account(const AssetId& asset) { return account_of("fee", asset.value); }
std::string gas_account(const ChainId& chain) { return account_of("gas", chain.value); }

Entry make_hold(const IntentId& id, const ChainId& chain, const AssetId& asset,
                const Address& payer, const Amount& amount, std::int64_t at_ms) {
  return {text(id).append(hold_suffix),
          EntryKind::hold,
          chain,
          asset,
          {{source_account(payer), minus_of(amount)}, {hold_account(chain), plus_of(amount)}},
          at_ms};
}

Result<Entry> make_post(const Entry& hold, const Address& payee, const Amount& arrived,
                        std::int64_t at_ms) {
  Entry entry = sibling(hold, EntryKind::post, at_ms);
  const Amount& held = held_leg(hold).amount.magnitude;
  const auto rest = held.minus(arrived);
  if (!rest) {
    return refuse(JournalError::over_hold,
                  "arrived " + arrived.decimal() + " is more than the held " + held.decimal());
  }
  entry.legs.push_back({hold_account(hold.chain), minus_of(held)});
  if (!arrived.is_zero()) entry.legs.push_back({payee_account(payee), plus_of(arrived)});
  if (!rest->is_zero()) entry.legs.push_back({fee_account(hold.asset), plus_of(*rest)});
  return entry;
}

Entry make_void(const Entry& hold, std::int64_t at_ms) {
  Entry entry = sibling(hold, EntryKind::void_, at_ms);
  entry.legs = reversed(hold.legs);
  return entry;
}

Entry make_gas(const TxHash& hash, const ChainId& chain, const Address& account,
               const Amount& fee_paid, std::int64_t at_ms) {
  return {hash.hex().append("/gas"),
          EntryKind::gas,
          chain,
          native_asset,
          {{source_account(account), minus_of(fee_paid)}, {gas_account(chain), plus_of(fee_paid)}},
          at_ms};
}

std::vector<std::size_t> standing_gas(std::span<const Entry> there) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (!there[i].id.ends_with(back_suffix)) {
      out.push_back(i);
      continue;
    }
    std::erase_if(out, [&](std::size_t at) {
      return std::string(there[at].id).append(back_suffix) == there[i].id;
    });
  }
  return out;
}

std::vector<GasEntry> gas_entries(std::span<const Entry> there, const Entry& consumer) {
  const auto times = std::count_if(there.begin(), there.end(), [&](const Entry& each) {
    return each.id.starts_with(consumer.id) && !each.id.ends_with(back_suffix);
  });
  const bool costs = std::none_of(consumer.legs.begin(), consumer.legs.end(),
                                  [](const Leg& leg) { return leg.amount.magnitude.is_zero(); });
  std::vector<GasEntry> out;
  bool stands = false;
  for (const std::size_t at : standing_gas(there)) {
    const Entry& entry = there[at];
    if (!stands && entry.id.starts_with(consumer.id) && entry.legs == consumer.legs) {
      stands = true;
      continue;
    }
    out.push_back({{std::string(entry.id).append(back_suffix), EntryKind::gas, entry.chain,
                    entry.asset, reversed(entry.legs), consumer.at_ms},
                   at});
  }
  if (stands || !costs) return out;
  out.push_back({consumer, std::nullopt});
  if (times > 0) out.back().entry.id.append("/").append(std::to_string(times + 1));
  return out;
}

Digest entry_hash(const Digest& previous, std::uint64_t sequence, const Entry& entry) {
  FieldHash hash("holdfast/journal/1");
  hash.add(ByteView(previous))
      .add(sequence)
      .add(entry.id)
      .add(to_text(entry.kind))
      .add(entry.chain.value)
      .add(entry.asset.value)
      .add(static_cast<std::uint64_t>(entry.at_ms))
      .add(std::uint64_t{entry.legs.size()});
  for (const Leg& leg : entry.legs) {
    hash.add(leg.account)
        .add(std::string_view(leg.amount.negative ? "-" : "+"))
        .add(leg.amount.magnitude.big_endian());
  }
  return hash.finish();
}

}  // namespace holdfast::domain

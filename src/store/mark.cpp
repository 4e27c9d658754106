#include "store/mark.hpp"

#include <charconv>
#include <utility>
#include <vector>

#include <holdfast/base/log.hpp>

#include "base/teeth.hpp"
#include "store/events.hpp"
#include "store/journal.hpp"
#include "store/reads.hpp"
#include "store/writes.hpp"

namespace holdfast::store {
namespace {

constexpr std::string_view first_line = "holdfast mark 1";

/// The words of a text, by single spaces and line ends.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size() - 1);
    out.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return out;
}

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

[[noreturn]] void refuse_mark(const std::string& name, const sql::SideRecord& beside,
                              const std::string& why) {
  throw sql::Failure(sql::Cause::corrupt,
                     name + " is not opened: its mark " + beside.name() + " " + why);
}

std::string where_text(std::uint64_t journal, std::int64_t event) {
  return "journal entry " + std::to_string(journal) + " and event " + std::to_string(event);
}

std::optional<std::string> stored_sentence(Txn& txn) {
  auto text = first(txn, "SELECT restored FROM store_identity",
                    [](const Row& row) { return std::string(row.text(0)); });
  if (!text) damaged("a store without its identity");
  if (text->empty()) return std::nullopt;
  return text;
}

}  // namespace

std::string encode_mark(const Mark& mark) {
  std::string out(first_line);
  out.append("\nstore ").append(to_hex(mark.store.view()));
  out.append("\njournal ").append(std::to_string(mark.journal));
  out.append(" ").append(to_hex(mark.entry_hash));
  out.append("\nevents ").append(std::to_string(mark.event));
  out.append("\n");
  const Digest sum = sha256(as_bytes(out));
  return out.append("sha256 ").append(to_hex(sum)).append("\n");
}

// Read leniently, then written again: only what comes out as it went in is a mark.
std::optional<Mark> decode_mark(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() != 12) return std::nullopt;
  Mark mark;
  const bool read = from_hex_into(words[4], mark.store.value) &&
                    read_number(words[6], mark.journal) &&
                    from_hex_into(words[7], mark.entry_hash) && read_number(words[9], mark.event);
  if (!read || encode_mark(mark) != text) return std::nullopt;
  return mark;
}

Mark mark_of(Txn& txn) {
  Mark mark;
  const auto id = first(txn, "SELECT id FROM store_identity",
                        [](const Row& row) { return row.fixed<StoreId>(0); });
  if (!id) damaged("a store without its identity");
  mark.store = *id;
  const auto tip = first(txn, "SELECT sequence, hash FROM entries ORDER BY sequence DESC LIMIT 1",
                         [](const Row& row) { return std::pair(row.count(0), row.digest(1)); });
  if (tip) std::tie(mark.journal, mark.entry_hash) = *tip;
  mark.event = number_of(txn, "SELECT coalesce(max(seq), 0) FROM events");
  return mark;
}

Marker::Marker(std::unique_ptr<sql::SideRecord> beside, std::string name)
    : beside_(std::move(beside)), name_(std::move(name)) {}

void Marker::open(sql::Connection& db) {
  Txn txn(db);
  check_journal_tail(txn, name_);
  const Mark now = mark_of(txn);
  if (const auto behind = compare(txn, now)) {
    db.begin_write();
    execute(txn, "UPDATE store_identity SET restored = $1 WHERE restored = ''", *behind);
    // What was answered for before is not what was lost now.
    execute(txn, "UPDATE accounts SET answered_for = 0");
    execute(txn, "UPDATE chains SET answered_for = 0");
    db.commit();
  }
  restored_ = stored_sentence(txn);
  if (restored_) log::alarm("store_restored", {{"why", *restored_}});
  keep(txn);
}

// A store ahead of its mark is the usual one: the mark follows in steps, and a commit whose sync
// failed may come back.
std::optional<std::string> Marker::compare(Txn& txn, const Mark& now) {
  const auto content = beside_->read();
  if (!content) {
    if (now.event > 0) log::warn("mark_missing", {{"store", name_}, {"mark", beside_->name()}});
    return std::nullopt;
  }
  const auto mark = decode_mark(as_text(*content));
  if (!mark) {
    refuse_mark(name_, *beside_,
                "is damaged, so nobody can say whether the store is behind it; remove the mark to "
                "open the store as it is");
  }
  if (mark->store != now.store) {
    refuse_mark(name_, *beside_,
                "belongs to another store; put that one back, or remove the mark if this one is "
                "meant");
  }
  kept_ = mark;
  if (planted(Tooth::restored_unnoticed)) return std::nullopt;
  if (mark->journal > now.journal || mark->event > now.event) {
    return name_ + " ends at " + where_text(now.journal, now.event) + ", and was once at " +
           where_text(mark->journal, mark->event) + ": it was put back from a backup, or lost " +
           "the end of its log";
  }
  if (mark->journal == 0) return std::nullopt;
  const auto hash = first(
      txn, "SELECT hash FROM entries WHERE sequence = $1",
      [](const Row& row) { return row.digest(0); }, mark->journal);
  if (hash == mark->entry_hash) return std::nullopt;
  return name_ + " holds another journal entry " + std::to_string(mark->journal) +
         " than it once did: it was put back from a backup and used";
}

void Marker::keep(Txn& txn) {
  const Mark now = mark_of(txn);
  if (kept_ == now) return;
  beside_->write(as_bytes(encode_mark(now)));
  kept_ = now;
}

bool is_restored(Txn& txn) { return stored_sentence(txn).has_value(); }

bool acknowledge_restored(Txn& txn, std::string_view who, std::int64_t now_ms) {
  const auto sentence = stored_sentence(txn);
  if (!sentence) return false;
  execute(txn, "UPDATE store_identity SET restored = ''");
  execute(txn, "UPDATE accounts SET answered_for = 0");
  execute(txn, "UPDATE chains SET answered_for = 0");
  Event event;
  event.at_ms = now_ms;
  event.kind = "account";
  event.actor = domain::Actor::operator_;
  event.who = who;
  event.reason = "acknowledged: " + *sentence;
  add_event(txn, std::nullopt, event);
  return true;
}

}  // namespace holdfast::store

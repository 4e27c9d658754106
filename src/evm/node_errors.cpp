#include "evm/node_errors.hpp"

#include <algorithm>
#include <optional>

#include <boost/json/object.hpp>

#include "evm/revert.hpp"

namespace holdfast::evm {
namespace {

using Kind = ports::RefusalKind;
namespace json = boost::json;

constexpr std::size_t longest_read = 4096;   // bytes of a message that are looked at
constexpr std::size_t longest_shown = 200;   // bytes of a message that are handed on
constexpr std::size_t longest_reason = 256;  // bytes of a revert's reason

// The only codes whose meaning does not depend on the client. Besu's numbers, EIP-1474's and those
// of others collide on nearly all the rest, -32000 to -32011 above all.
struct CodeRow {
  std::int64_t code;
  ErrorMeaning meaning;
};
constexpr CodeRow codes[] = {
    {3, Kind::reverted},       // geth and whoever follows it
    {-32015, Kind::reverted},  // parity, nethermind
    {-32601, Kind::no_such_method},
    {429, RateLimited{}},
    {-32005, RateLimited{}},  // EIP-1474; Besu's gas limit is known by its text
    {-32007, RateLimited{}},  // providers
    {-32011, RateLimited{}},
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_letter(char left, char right) { return lower(left) == lower(right); }

bool alphanumeric(char c) {
  const char small = lower(c);
  return (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9');
}

std::string_view trimmed(std::string_view text) {
  static constexpr std::string_view blank = " \t\r\n\"'";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Where `text` begins in `message` as a word of its own; npos when it does not.
std::size_t find_word(std::string_view message, std::string_view text) {
  auto from = message.begin();
  while (true) {
    const auto hit = std::search(from, message.end(), text.begin(), text.end(), same_letter);
    if (hit == message.end()) return std::string_view::npos;
    // "unknown transaction" is not "known transaction".
    if (hit == message.begin() || !alphanumeric(*(hit - 1)) || !alphanumeric(text.front())) {
      return static_cast<std::size_t>(hit - message.begin());
    }
    from = hit + 1;
  }
}

bool matches(const ErrorRow& row, std::string_view message) {
  if (row.match == TextMatch::within) return find_word(message, row.text) != message.npos;
  if (message.size() < row.text.size()) return false;
  if (row.match == TextMatch::whole && message.size() != row.text.size()) return false;
  return std::equal(row.text.begin(), row.text.end(), message.begin(), same_letter);
}

std::string shown(std::string_view text, std::size_t limit) {
  return printable(as_bytes(text.substr(0, longest_read)), limit);
}

/// The bytes behind the first "0x" in `data` ("0x08c3…", "Reverted 0x08c3…").
std::optional<Bytes> revert_bytes(std::string_view data) {
  const auto at = data.find("0x");
  if (at == data.npos) return std::nullopt;
  std::string_view digits = data.substr(at);
  if (const auto end = digits.find_first_not_of("0123456789abcdefABCDEFx"); end != digits.npos) {
    digits = digits.substr(0, end);
  }
  auto bytes = from_hex(digits);
  if (!bytes || bytes->empty()) return std::nullopt;
  return bytes;
}

/// Some nodes decode the reason themselves and send no data: "execution reverted: <reason>".
std::string reason_in_words(std::string_view message) {
  static constexpr std::string_view wrapper = "execution reverted";
  const auto at = find_word(message, wrapper);
  std::string_view rest = at == message.npos ? message : message.substr(at + wrapper.size());
  if (!rest.empty() && rest.front() == ':') rest.remove_prefix(1);
  rest = trimmed(rest);
  return rest.empty() ? "reverted without a reason" : shown(rest, longest_reason);
}

std::string revert_reason(std::string_view message, std::string_view data) {
  if (const auto bytes = revert_bytes(data)) return decode_revert(*bytes).text;
  return reason_in_words(message.substr(0, longest_read));
}

/// The data of an error as a text: as it is, or one level down, where some proxies put it.
std::string_view data_text(const json::value& data) {
  if (const auto* text = data.if_string()) return *text;
  if (const auto* object = data.if_object()) {
    const auto* inner = object->if_contains("data");
    if (inner != nullptr && inner->is_string()) return inner->get_string();
  }
  return {};
}

std::string_view member_text(const json::object& object, std::string_view name) {
  const auto* member = object.if_contains(name);
  return member != nullptr && member->is_string() ? std::string_view(member->get_string())
                                                  : std::string_view();
}

std::string code_and_words(std::int64_t code, std::string_view message) {
  const std::string words = shown(trimmed(message), longest_shown);
  return "error " + std::to_string(code) + (words.empty() ? "" : ": " + words);
}

constexpr std::string_view known_mark = "already known";

}  // namespace

ErrorMeaning classify(std::int64_t code, std::string_view message, std::string_view data) {
  message = trimmed(message.substr(0, longest_read));
  for (const ErrorRow& row : error_rows()) {
    if (matches(row, message)) return row.meaning;
  }
  // Besu's limit on a transaction's gas has several wordings and EIP-1474's code for a rate limit.
  if (code == -32005 && find_word(message, "gas limit") != message.npos) return Kind::gas;
  for (const CodeRow& row : codes) {
    if (row.code == code) return row.meaning;
  }
  // Nothing is read into `data` but this: its words are mostly a contract's.
  static constexpr ErrorRow reverted_data{Kind::reverted, TextMatch::start, "parity",
                                          "reverted 0x"};
  if (matches(reverted_data, data)) return reverted_data.meaning;
  return Unclear{};
}

ports::Outcome<json::value> outcome_of_error(const json::value& error) {
  const auto* object = error.if_object();
  if (object == nullptr) return ports::Unknown{"an error that is not an object", false};
  std::int64_t code = 0;
  if (const auto* member = object->if_contains("code"); member != nullptr && member->is_int64()) {
    code = member->get_int64();
  }
  const std::string_view message = member_text(*object, "message");
  const auto* data_member = object->if_contains("data");
  const std::string_view data = data_member == nullptr ? "" : data_text(*data_member);

  const ErrorMeaning meaning = classify(code, message, data);
  if (std::holds_alternative<RateLimited>(meaning)) {
    return ports::Unknown{"rate limit, " + code_and_words(code, message), true, true};
  }
  if (std::holds_alternative<AlreadyKnown>(meaning)) {
    return ports::Refused{Kind::other,
                          std::string(known_mark) + ", " + code_and_words(code, message)};
  }
  if (const auto* kind = std::get_if<Kind>(&meaning)) {
    return ports::Refused{*kind, *kind == Kind::reverted ? revert_reason(message, data)
                                                         : code_and_words(code, message)};
  }
  return ports::Unknown{"the node answered " + code_and_words(code, message), false, true};
}

bool says_already_known(const ports::Refused& refused) {
  // Messages of this kind begin with "error <code>" otherwise, so no node can put the mark there.
  return refused.kind == Kind::other && refused.message.starts_with(known_mark);
}

}  // namespace holdfast::evm

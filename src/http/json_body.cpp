#include "http/json_body.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "http/json_keys.hpp"

namespace holdfast::http {
namespace {

namespace json = boost::json;

Problem bad_json(std::string detail) { return {400, "bad_json", std::move(detail)}; }

/// As Boost.JSON writes it. Most texts need no escape.
void add_text(std::string& out, std::string_view text) {
  const bool is_plain = std::ranges::all_of(
      text, [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
  if (is_plain) {
    out.append("\"").append(text).append("\"");
  } else {
    out += json::serialize(json::string_view(text.data(), text.size()));
  }
}

void add_sorted(std::string& out, const json::value& value);

void add_sorted(std::string& out, const json::object& object) {
  std::vector<std::pair<std::string_view, const json::value*>> members;
  members.reserve(object.size());
  for (const auto& pair : object) members.emplace_back(pair.key(), &pair.value());
  std::ranges::sort(members, {}, &decltype(members)::value_type::first);
  char before = '{';
  for (const auto& [key, value] : members) {
    out += std::exchange(before, ',');
    add_text(out, key);
    out += ':';
    add_sorted(out, *value);
  }
  out += members.empty() ? "{}" : "}";
}

void add_sorted(std::string& out, const json::value& value) {
  if (const json::object* object = value.if_object()) return add_sorted(out, *object);
  if (const json::string* text = value.if_string()) return add_text(out, *text);
  const json::array* list = value.if_array();
  if (list == nullptr) {
    out += json::serialize(value);
    return;
  }
  char before = '[';
  for (const json::value& item : *list) {
    out += std::exchange(before, ',');
    add_sorted(out, item);
  }
  out += list->empty() ? "[]" : "]";
}

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= longest_text &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

}  // namespace

bool is_address_text(std::string_view text) {
  static constexpr std::size_t length = 42;
  const auto is_digit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  return text.size() == length && text.starts_with("0x") &&
         std::ranges::all_of(text.substr(2), is_digit);
}

JsonBody read_json(std::string_view text, bool may_be_empty, std::size_t most_levels) {
  if (text.empty()) {
    if (may_be_empty) return {};
    return {bad_json("the body is empty; a JSON object is needed"), {}};
  }
  json::parse_options options;
  options.max_depth = most_levels;
  boost::system::error_code error;
  json::value value = json::parse(text, error, {}, options);
  if (error == json::error::too_deep) {
    return {bad_json("the body has more than " + std::to_string(most_levels) + " levels"), {}};
  }
  if (error) return {bad_json("the body is not JSON in UTF-8"), {}};
  const bool may_repeat = names_in(value) != names_in(text);
  if (const auto twice = may_repeat ? repeated_key(text, most_levels) : std::nullopt) {
    return {bad_json(shown(*twice) + ": the field comes more than once"), {}};
  }
  if (!value.is_object()) return {bad_json("the body must be a JSON object"), {}};
  return {std::nullopt, std::move(value.get_object())};
}

std::string canonical_text(const json::object& object) {
  std::string out;
  add_sorted(out, object);
  return out;
}

Fields::Fields(const json::object& object, std::initializer_list<std::string_view> known)
    : object_(object) {
  for (const auto& pair : object) {
    if (std::ranges::find(known, std::string_view(pair.key())) == known.end()) {
      refuse("unknown_field", shown(pair.key()) + ": no such field here");
    }
  }
}

Fields::Fields(const json::object& object, std::string path)
    : object_(object), path_(std::move(path)) {}

void Fields::refuse(std::string_view code, std::string detail) {
  if (!problem_) problem_ = Problem{400, code, std::move(detail)};
}

const json::value* Fields::needed(std::string_view name) {
  const json::value* value = object_.if_contains(name);
  if (value == nullptr) refuse("missing_field", named(name) + ": the field is missing");
  return value;
}

std::string Fields::checked_word(std::string_view name, const json::value& value) {
  const json::string* text = value.if_string();
  if (text == nullptr || !is_word(*text)) {
    refuse("bad_field", named(name) + ": must be a string of 1 to " + std::to_string(longest_text) +
                            " printable ASCII characters without blanks");
    return {};
  }
  return std::string(*text);
}

std::string Fields::word(std::string_view name) {
  const json::value* value = needed(name);
  return value == nullptr ? std::string{} : checked_word(name, *value);
}

std::string Fields::word_or_empty(std::string_view name) {
  const json::value* value = object_.if_contains(name);
  return value == nullptr ? std::string{} : checked_word(name, *value);
}

std::string Fields::sentence(std::string_view name, bool is_needed) {
  const json::value* value = is_needed ? needed(name) : object_.if_contains(name);
  if (value == nullptr) return {};
  const json::string* text = value->if_string();
  if (text == nullptr || text->empty() || text->size() > longest_reason || has_control(*text)) {
    refuse("bad_field", named(name) + ": must be a string of 1 to " +
                            std::to_string(longest_reason) + " bytes without control characters");
    return {};
  }
  return std::string(*text);
}

domain::Amount Fields::amount(std::string_view name) {
  const json::value* value = needed(name);
  if (value == nullptr) return {};
  const json::string* text = value->if_string();
  const auto read = text == nullptr ? std::nullopt : U256::from_decimal(*text);
  if (!read || read->is_zero()) {
    refuse(
        "bad_field",
        named(name) +
            ": must be a string of decimal digits, 1 to 2^256-1 base units of the asset, without "
            "sign, point, exponent, blank or leading zero");
    return {};
  }
  return *read;
}

std::int64_t Fields::seconds(std::string_view name, std::int64_t highest) {
  const json::value* value = object_.if_contains(name);
  if (value == nullptr) return 0;
  const std::int64_t* number = value->if_int64();
  if (number == nullptr || *number < 1 || *number > highest) {
    refuse("bad_field",
           named(name) + ": must be a whole number of seconds, 1 to " + std::to_string(highest));
    return 0;
  }
  return *number;
}

Bytes Fields::hex(std::string_view name, std::size_t longest) {
  const json::value* value = needed(name);
  if (value == nullptr) return {};
  const json::string* text = value->if_string();
  const bool fits = text != nullptr && text->size() <= longest;
  auto bytes = fits ? from_hex(*text) : std::nullopt;
  if (!bytes || bytes->empty()) {
    refuse("bad_field", named(name) + ": must be a string of hex digits, whole bytes, at most " +
                            std::to_string(longest) + " characters");
    return {};
  }
  return std::move(*bytes);
}

U256 Fields::whole(std::string_view name) {
  const json::value* value = needed(name);
  if (value == nullptr) return {};
  const json::string* text = value->if_string();
  const auto read = text == nullptr ? std::nullopt : U256::from_decimal(*text);
  if (!read) {
    refuse("bad_field", named(name) + ": must be a string of decimal digits, 0 to 2^256-1");
    return {};
  }
  return *read;
}

std::string Fields::address(std::string_view name) {
  const json::value* value = needed(name);
  if (value == nullptr) return {};
  const json::string* text = value->if_string();
  if (text == nullptr || !is_address_text(*text)) {
    refuse("bad_field", named(name) + ": must be a string of \"0x\" and 40 hex digits");
    return {};
  }
  return std::string(*text);
}

const json::object* Fields::part(std::string_view name) {
  const json::value* value = needed(name);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) refuse("bad_field", named(name) + ": must be an object");
  return value->if_object();
}

const json::object* Fields::part_or_none(std::string_view name) {
  const json::value* value = object_.if_contains(name);
  if (value == nullptr || value->is_null()) return nullptr;
  return part(name);
}

std::vector<std::string> Fields::words(std::string_view name, std::size_t most) {
  const json::value* value = needed(name);
  if (value == nullptr) return {};
  std::vector<std::string> out;
  const json::array* list = value->if_array();
  const bool fits = list != nullptr && !list->empty() && list->size() <= most;
  if (!fits) {
    refuse("bad_field",
           named(name) + ": must be a list of 1 to " + std::to_string(most) + " strings");
    return out;
  }
  for (const json::value& item : *list) {
    std::string word = checked_word(name, item);
    if (std::ranges::find(out, word) != out.end()) {
      refuse("bad_field", named(name) + ": " + shown(word) + " comes more than once");
    }
    out.push_back(std::move(word));
  }
  return out;
}

std::optional<domain::TxHash> Fields::hash_or_none(std::string_view name) {
  const json::value* value = object_.if_contains(name);
  if (value == nullptr) return std::nullopt;
  const json::string* text = value->if_string();
  const auto hash = text == nullptr ? std::nullopt : domain::TxHash::from_text(*text);
  if (!hash) {
    refuse("bad_field", named(name) + ": must be a transaction's hash, \"0x\" and 64 hex digits");
  }
  return hash;
}

std::vector<domain::TxHash> Fields::hashes(std::string_view name, std::size_t most) {
  std::vector<domain::TxHash> out;
  if (object_.if_contains(name) == nullptr) return out;
  for (const std::string& word : words(name, most)) {
    if (const auto hash = domain::TxHash::from_text(word)) {
      out.push_back(*hash);
    } else {
      refuse("bad_field", named(name) + ": " + shown(word) + " is no transaction's hash");
    }
  }
  return out;
}

}  // namespace holdfast::http

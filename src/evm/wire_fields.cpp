#include "evm/wire_fields.hpp"

#include <algorithm>

namespace holdfast::evm {
namespace {

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

bool is_data(std::string_view text) {
  return text.starts_with("0x") && text.size() % 2 == 0 &&
         std::all_of(text.begin() + 2, text.end(), is_hex_digit);
}

Fields::Fields(const boost::json::value& value, std::string_view what)
    : object_(value.if_object()), what_(what) {
  if (object_ == nullptr) refusal_ = what_ + " is not a JSON object";
}

void Fields::refuse(std::string_view key, std::string_view reason) {
  if (failed()) return;
  refusal_ = what_ + "." + std::string(key) + " " + std::string(reason);
}

const boost::json::value* Fields::member(std::string_view key) {
  if (failed()) return nullptr;
  const boost::json::value* value = object_->if_contains(key);
  if (value == nullptr) refuse(key, "is missing");
  return value;
}

std::string_view Fields::prefixed(std::string_view key) {
  const boost::json::value* value = member(key);
  if (value == nullptr) return {};
  const boost::json::string* text = value->if_string();
  if (text == nullptr || !std::string_view(*text).starts_with("0x")) {
    refuse(key, "is not hex behind 0x");
    return {};
  }
  return *text;
}

U256 Fields::amount(std::string_view key) {
  const boost::json::value* value = member(key);
  if (value == nullptr) return {};
  const Read<U256> read = read_quantity(*value, key);
  if (!read) {
    refuse(key, "is not a hex quantity of at most 256 bits");
    return {};
  }
  return *read;
}

std::uint64_t Fields::number(std::string_view key, std::uint64_t limit) {
  const std::optional<std::uint64_t> number = amount(key).to_u64();
  if (!number || *number > limit) {
    refuse(key, "is over " + std::to_string(limit));
    return 0;
  }
  return *number;
}

std::string_view Fields::data(std::string_view key) {
  const std::string_view text = prefixed(key);
  if (!failed() && !is_data(text)) refuse(key, "is not pairs of hex digits behind 0x");
  return failed() ? std::string_view{} : text;
}

bool Fields::absent(std::string_view key) const {
  if (object_ == nullptr) return true;
  const boost::json::value* value = object_->if_contains(key);
  return value == nullptr || value->is_null();
}

bool Fields::is_true(std::string_view key) const {
  if (object_ == nullptr) return false;
  const boost::json::value* value = object_->if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

const boost::json::array* Fields::list(std::string_view key, std::size_t limit) {
  const boost::json::value* value = member(key);
  if (value == nullptr) return nullptr;
  const boost::json::array* items = value->if_array();
  if (items == nullptr) {
    refuse(key, "is not a list");
  } else if (items->size() > limit) {
    refuse(key, "has more than " + std::to_string(limit) + " items");
  }
  return failed() ? nullptr : items;
}

}  // namespace holdfast::evm

// Owns: reading the members of one JSON object, field by field, for the files of wire*.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "evm/wire.hpp"

namespace holdfast::evm {

/// True for "0x" and an even number of hex digits.
bool is_data(std::string_view text);

/// The first refusal sticks, and everything read after it is zero: read all, then ask once.
class Fields {
 public:
  /// `what` names the object in refusals: "receipt".
  Fields(const boost::json::value& value, std::string_view what);

  U256 amount(std::string_view key);
  std::uint64_t number(std::string_view key, std::uint64_t limit = wire_limits::number);
  /// A text of "0x" and hex digits in pairs; lives as long as the JSON.
  std::string_view data(std::string_view key);
  template <class Fixed>
  Fixed fixed(std::string_view key) {
    const auto value = Fixed::from_text(prefixed(key));
    if (!value && !failed()) refuse(key, "is not hex of its length");
    return failed() ? Fixed{} : *value;
  }
  /// Missing or null.
  bool absent(std::string_view key) const;
  bool is_true(std::string_view key) const;
  /// Null after a refusal.
  const boost::json::array* list(std::string_view key, std::size_t limit);

  void refuse(std::string_view key, std::string_view reason);
  bool failed() const { return !refusal_.empty(); }
  Unreadable refusal() const { return {refusal_}; }

 private:
  const boost::json::value* member(std::string_view key);
  /// The text of a member when it begins with "0x"; empty otherwise.
  std::string_view prefixed(std::string_view key);

  const boost::json::object* object_ = nullptr;
  std::string what_;
  std::string refusal_;
};

}  // namespace holdfast::evm

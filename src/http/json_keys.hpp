// Owns: finding an object key that comes twice. Boost.JSON keeps the last silently, and then a
// request could mean one thing to us and another to whoever looked at it before.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

namespace holdfast::http {

/// How many keys all objects in it have; once each.
std::size_t names_in(const boost::json::value& value);
/// How many keys come in this text, which must be JSON. More than in what it was read to: one came
/// twice.
std::size_t names_in(std::string_view text);
/// A key that comes twice in the same object of this JSON; empty when there is none or `text` is no
/// JSON of at most `max_depth` levels.
std::optional<std::string> repeated_key(std::string_view text, std::size_t max_depth);

}  // namespace holdfast::http

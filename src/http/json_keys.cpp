#include "http/json_keys.hpp"

#include <set>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <boost/json/basic_parser_impl.hpp>

namespace holdfast::http {
namespace {

namespace json = boost::json;
using boost::system::error_code;

/// Sees every key of a parse and keeps those of the objects it is in.
struct KeyWatch {
  constexpr static std::size_t max_object_size = std::size_t(-1);
  constexpr static std::size_t max_array_size = std::size_t(-1);
  constexpr static std::size_t max_key_size = std::size_t(-1);
  constexpr static std::size_t max_string_size = std::size_t(-1);

  std::vector<std::set<std::string>> open;
  std::string key;
  std::optional<std::string> repeated;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) {
    open.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, error_code&) {
    open.pop_back();
    return true;
  }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t, error_code&) { return true; }
  bool on_key_part(json::string_view part, std::size_t, error_code&) {
    key.append(part);
    return true;
  }
  bool on_key(json::string_view part, std::size_t, error_code& error) {
    key.append(part);
    if (!open.back().insert(key).second) {
      repeated = key;
      error = json::error::syntax;  // no need to read on
      return false;
    }
    key.clear();
    return true;
  }
  bool on_string_part(json::string_view, std::size_t, error_code&) { return true; }
  bool on_string(json::string_view, std::size_t, error_code&) { return true; }
  bool on_number_part(json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, error_code&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, error_code&) { return true; }
  bool on_double(double, json::string_view, error_code&) { return true; }
  bool on_bool(bool, error_code&) { return true; }
  bool on_null(error_code&) { return true; }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }
};

}  // namespace

std::size_t names_in(const json::value& value) {
  std::size_t count = 0;
  if (const json::object* object = value.if_object()) {
    count = object->size();
    for (const auto& pair : *object) count += names_in(pair.value());
  } else if (const json::array* list = value.if_array()) {
    for (const json::value& item : *list) count += names_in(item);
  }
  return count;
}

std::size_t names_in(std::string_view text) {
  std::size_t count = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    if (!in_string && c == ':') ++count;
  }
  return count;
}

std::optional<std::string> repeated_key(std::string_view text, std::size_t max_depth) {
  json::parse_options options;
  options.max_depth = max_depth;
  json::basic_parser<KeyWatch> parser(options);
  error_code error;
  parser.write_some(false, text.data(), text.size(), error);
  return std::move(parser.handler().repeated);
}

}  // namespace holdfast::http

// Owns: what is read from a request's JSON body: strictly, each field once, with the limits named.
// Must never: guess: a field nobody knows, a number where text belongs, or a second meaning is a
// refusal that names the field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include <holdfast/domain/ids.hpp>

#include "http/problem.hpp"

namespace holdfast::http {

/// One level for each object or list.
inline constexpr std::size_t max_json_depth = 16;
inline constexpr std::size_t longest_text = 128;  ///< bytes: chain, method, asset, addresses
inline constexpr std::size_t longest_signature_text = 4'096;
inline constexpr std::size_t longest_reason = 200;

/// The body as an object; an empty body is the empty object where `may_be_empty`. `bad_json` for
/// anything that is not one object of valid UTF-8, at most `most_levels` deep, no key twice.
struct JsonBody {
  std::optional<Problem> problem;
  boost::json::object object;
};
JsonBody read_json(std::string_view text, bool may_be_empty,
                   std::size_t most_levels = max_json_depth);

/// The same for every spelling of the same JSON: keys sorted, no blanks.
std::string canonical_text(const boost::json::object& object);

/// "0x" and 40 hex digits, in any case: how a client may write an account on an EVM chain.
bool is_address_text(std::string_view text);

/// The fields of one body. Reading goes on after a problem; the first one is kept.
class Fields {
 public:
  /// `known` are all fields this request takes; another is `unknown_field` and named.
  Fields(const boost::json::object& object, std::initializer_list<std::string_view> known);
  /// The fields of an object inside a body that others define: what nobody knows is not minded.
  /// `path` stands before each name in a problem ("paymentPayload.").
  Fields(const boost::json::object& object, std::string path);

  /// Printable ASCII without blanks, 1 to `longest_text` bytes.
  std::string word(std::string_view name);
  /// As `word`; empty when it is not there.
  std::string word_or_empty(std::string_view name);
  /// UTF-8 without control characters, at most `longest_reason` bytes; empty when it is not there
  /// and need not be.
  std::string sentence(std::string_view name, bool needed);
  /// A decimal string of base units, 1 to 2^256 − 1: digits only, no leading zero. A JSON number is
  /// refused: most languages would have rounded it.
  domain::Amount amount(std::string_view name);
  /// A JSON integer from 1 to `highest`; 0 when it is not there.
  std::int64_t seconds(std::string_view name, std::int64_t highest);
  /// Hex text of whole bytes, with or without "0x", at most `longest` characters.
  Bytes hex(std::string_view name, std::size_t longest = longest_signature_text);
  /// A decimal string, 0 to 2^256 − 1, written as amounts are.
  U256 whole(std::string_view name);
  /// "0x" and 40 hex digits; in any case.
  std::string address(std::string_view name);
  /// An object; null and a problem when it is missing or another thing.
  const boost::json::object* part(std::string_view name);
  /// The same; null without a problem when it is missing or `null`.
  const boost::json::object* part_or_none(std::string_view name);
  /// 1 to `most` words, none twice.
  std::vector<std::string> words(std::string_view name, std::size_t most);

  /// A transaction's hash: "0x" and 64 hex digits; empty when it is not there.
  std::optional<domain::TxHash> hash_or_none(std::string_view name);
  /// 1 to `most` of them, none twice; empty when it is not there.
  std::vector<domain::TxHash> hashes(std::string_view name, std::size_t most);

  void refuse(std::string_view code, std::string detail);
  const std::optional<Problem>& problem() const { return problem_; }

 private:
  const boost::json::value* needed(std::string_view name);
  std::string checked_word(std::string_view name, const boost::json::value& value);
  std::string named(std::string_view name) const { return path_ + std::string(name); }

  const boost::json::object& object_;
  std::string path_;
  std::optional<Problem> problem_;
};

}  // namespace holdfast::http

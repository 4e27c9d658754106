// Owns: what a node's JSON-RPC error means: the catalogue of clients' wordings, read by text before
// code, because clients share texts far more than they share codes.
// Must never: take a contract's words for the node's own; make a no of what it does not know.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <boost/json/value.hpp>

#include <holdfast/ports/outcome.hpp>

namespace holdfast::evm {

/// The node has these bytes: success for whoever posted them.
struct AlreadyKnown {
  bool operator==(const AlreadyKnown&) const = default;
};
/// The endpoint asks for fewer calls. Nothing is said about the call itself.
struct RateLimited {
  bool operator==(const RateLimited&) const = default;
};
/// Anything else: busy, out of sync, an internal error, or words nobody has catalogued.
struct Unclear {
  bool operator==(const Unclear&) const = default;
};
using ErrorMeaning = std::variant<Unclear, AlreadyKnown, RateLimited, ports::RefusalKind>;

/// Where in the message a row's text must be found, always in either case.
enum class TextMatch : std::uint8_t {
  within,  ///< anywhere a word begins; any suffix
  start,  ///< at the beginning; any suffix. For identifiers and words too common elsewhere
  whole,  ///< the message is this text and nothing else
};

struct ErrorRow {
  ErrorMeaning meaning;
  TextMatch match = TextMatch::within;
  std::string_view client;
  std::string_view text;
};

/// The catalogue, in the order it is asked: the first row that matches decides. The first rows are
/// those whose messages end in words a contract chose.
std::span<const ErrorRow> error_rows();

/// `data` is the error's data when it is a text (hex for a revert), else empty. Text before code;
/// of the codes only those that mean the same thing in every client. Falls back to Unclear.
ErrorMeaning classify(std::int64_t code, std::string_view message, std::string_view data);

/// The member "error" of an answer as an outcome: refused, or unknown (with the mark of a rate
/// limit). Messages are printable, bounded, and for a revert the contract's decoded reason.
/// "Already known" is refused here, since there is no result: see `says_already_known`. Whoever
/// knows secrets that the node may have echoed takes them out of the message afterwards.
ports::Outcome<boost::json::value> outcome_of_error(const boost::json::value& error);

/// This refusal of eth_sendRawTransaction means that the node has these bytes: an acceptance.
bool says_already_known(const ports::Refused& refused);

}  // namespace holdfast::evm

// Owns: how an expected refusal is returned: a code for programs, a sentence for people.
// Must never: carry a broken environment (that is an exception) or a remote answer (an Outcome).
#pragma once

#include <string>
#include <utility>

#include <boost/system/result.hpp>

namespace holdfast {

/// A refusal. `code` belongs to one floor's error enum; `detail` is one clear sentence that names
/// the field and the limit, fit to be shown to the caller: no secrets, no internals.
struct Error {
  boost::system::error_code code;
  std::string detail;

  bool operator==(const Error& other) const { return code == other.code; }
};

/// Thrown when a refused Result is read as a value: a bug in the reader.
[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location& at);

template <class T>
using Result = boost::system::result<T, Error>;

/// `return refuse(StoreError::version_conflict, "…");`
template <class Enum>
Error refuse(Enum code, std::string detail) {
  return Error{make_error_code(code), std::move(detail)};
}

}  // namespace holdfast

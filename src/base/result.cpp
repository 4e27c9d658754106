#include <holdfast/base/result.hpp>

#include <boost/system/system_error.hpp>

namespace holdfast {

void throw_exception_from_error(const Error& error, const boost::source_location& at) {
  boost::throw_with_location(boost::system::system_error(error.code, error.detail), at);
}

}  // namespace holdfast

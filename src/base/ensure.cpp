#include <holdfast/base/ensure.hpp>

#include <cstdio>
#include <cstdlib>

namespace holdfast {

void ensure_failed(std::string_view what, std::source_location at) {
  std::fprintf(stderr, "holdfast: broken promise: %.*s (%s:%u)\n", static_cast<int>(what.size()),
               what.data(), at.file_name(), at.line());
  std::abort();
}

}  // namespace holdfast

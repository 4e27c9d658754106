#include "base/teeth.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <doctest/doctest.h>

using holdfast::Tooth;
using holdfast::tooth_rows;
using holdfast::ToothRow;

#ifndef HOLDFAST_TEETH
namespace {

constexpr bool any_planted() {
  for (const ToothRow& row : tooth_rows) {
    if (holdfast::planted(row.tooth)) return true;
  }
  return holdfast::planted(Tooth::none);
}

// A constant: what a tooth guards is not in this build, and nothing can be set to make it so.
static_assert(!any_planted(), "only a build with HOLDFAST_TEETH has any");

}  // namespace
#endif

TEST_CASE("teeth: each fault has a row of its own, in order, with a name and a sentence") {
  std::set<std::string_view> names;
  int at = 0;
  for (const ToothRow& row : tooth_rows) {
    CHECK(static_cast<int>(row.tooth) == ++at);
    CHECK(names.insert(row.name).second);
    CHECK(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
    CHECK_FALSE(row.fault.empty());
  }
  CHECK(static_cast<int>(Tooth::outcome_unversioned) == at);
}

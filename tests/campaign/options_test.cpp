// What `--without` takes away, and that places are counted before anything is.
#include <doctest/doctest.h>

#include "options.hpp"

using namespace holdfast::campaign;

TEST_CASE("options: what is taken away is a place or a mishap, and anything else is named") {
  Cut cut;
  CHECK(take_away(cut, {"3", "0"}).empty());
  CHECK(cut.strokes == std::set<std::size_t>{0, 3});
  const std::string mishap(holdfast::sim::to_text(static_cast<holdfast::sim::Mishap>(0)));
  CHECK(take_away(cut, {mishap}).empty());
  CHECK(cut.mishaps.size() == 1);
  CHECK(take_away(cut, {"1", "3x"}) == "3x");
  CHECK_FALSE(take_away(cut, {""}).empty());
}

TEST_CASE("setting: every place can be taken away, also where an outside sender drops blows") {
  const Profile& hell = *find_profile("hell");
  bool dropped = false;
  for (std::uint64_t seed = 1; seed < 400; ++seed) {
    const Setting whole = setting_of(seed, hell, {});
    REQUIRE(whole.strokes.size() <= whole.places);
    dropped = dropped || whole.strokes.size() < whole.places;
    Cut all;
    for (std::size_t place = 0; place < whole.places; ++place) all.strokes.insert(place);
    const Setting none = setting_of(seed, hell, all);
    CHECK(none.strokes.empty());
    CHECK(none.places == whole.places);
  }
  CHECK(dropped);
}

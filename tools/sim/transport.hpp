// Owns: a verdict on its way from the process that ran the seed to the one that adds up: a line of
// JSON.
// Must never: lose a rule that was broken.
#pragma once

#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "seed_run.hpp"

namespace holdfast::campaign {

boost::json::object to_json(const Tally& tally);

/// With its line end; without the story.
std::string to_line(const Verdict& verdict);
Verdict from_line(std::string_view line);

}  // namespace holdfast::campaign

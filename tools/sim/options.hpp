// Owns: the command line of holdfast-sim: what it may say, and the sentence for what it may not.
// Must never: take an option and do nothing with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "campaign.hpp"

namespace holdfast::campaign {

struct Command {
  Orders orders;
  bool all_teeth = false;
};

/// Nothing: `exit_code` says how to end, and the sentence (or the help) was printed.
std::optional<Command> read_command(int argc, char** argv, int& exit_code);

/// Reads `--without`; returns the first word that means nothing, or nothing.
std::string take_away(Cut& cut, const std::vector<std::string>& words);

}  // namespace holdfast::campaign

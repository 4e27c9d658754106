// Owns: the list of benchmarks. Each takes its options, prints its report and returns the exit
// code.
#pragma once

#include <string_view>

#include "support/arguments.hpp"

namespace holdfast::bench {

inline constexpr std::string_view store_help =
    "  Durable payments per second through the store and its named writes: six writes a payment\n"
    "  (intent + job; lease; claim + hold + slot; signed attempt; confirming + ack; post + "
    "settled),\n"
    "  with group commit, and the same work with a commit for every write.\n"
    "    --in-flight N   payments at once (1000)\n"
    "    --seconds N     for each of the two (5)\n"
    "    --store PATH    where the stores are made, on the disk to be measured (the temporary "
    "one)\n"
    "    --keep          leaves the stores there\n"
    "    --json\n";
int run_store(tools::Arguments arguments);

inline constexpr std::string_view floor_help =
    "  The SQL of a payment's named writes and one signature, in a bare loop with no engine "
    "around\n"
    "  it: what a payment costs at least.\n"
    "    --batch N       payments that share each commit (256)\n"
    "    --seconds N     (5)\n"
    "    --folder PATH   where the store is made, on the disk to be measured (the temporary one)\n"
    "    --json\n";
int run_floor(tools::Arguments arguments);

}  // namespace holdfast::bench

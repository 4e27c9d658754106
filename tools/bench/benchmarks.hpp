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

inline constexpr std::string_view fill_help =
    "  Makes a store with finished payments in it, through the named writes; what comes on top of "
    "them\n"
    "  is measured by `holdfast-load --store FILE --on-top`.\n"
    "    --store FILE    a new file, kept\n"
    "    --payments N    (100000)\n"
    "    --json\n";
int run_fill(tools::Arguments arguments);

inline constexpr std::string_view queue_help =
    "  Jobs per second through the queue: all are enqueued (each with the payment it is a note "
    "of),\n"
    "  then leased as the dispatcher leases them and acked one by one, in group commits.\n"
    "    --jobs N        (20000)\n"
    "    --in-flight N   writes that wait at once; jobs leased and not yet acked (2000)\n"
    "    --folder PATH   where the store is made, on the disk to be measured (the temporary one)\n"
    "    --json\n";
int run_queue(tools::Arguments arguments);

inline constexpr std::string_view micro_help =
    "  Nanoseconds of each hot part alone: a durable commit, a signature, a recovery, a "
    "transaction's\n"
    "  bytes, a node's answer, a turn, a decision.\n"
    "    --filter TEXT   only those whose name matches this regular expression\n"
    "    --repeat N      the median of as many runs (5)\n"
    "    --folder PATH   where the store is made, on the disk to be measured (the temporary one)\n"
    "    --json\n";
int run_micro(tools::Arguments arguments);

}  // namespace holdfast::bench

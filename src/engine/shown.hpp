// Owns: the store's rows as the public face shows them.
#pragma once

#include <holdfast/engine/engine.hpp>
#include "store/dead_letters.hpp"
#include "store/desk.hpp"
#include "store/model.hpp"

namespace holdfast::engine {

HistoryItem shown(const store::Event& event);
DeadLetter shown(const store::DeadLetter& row);
DeadLetterPage shown(const store::DeadLetterPage& page);
/// As stored alone: what the chain says is added by whoever asked it.
AccountStatus shown(const store::AccountNumbers& row);
Detail shown(domain::Facts facts, const std::vector<store::Event>& history,
             std::vector<store::EntryRow> entries);
/// What may be done about it as far as the facts tell.
std::vector<domain::Resolution> possible_resolutions(const domain::Facts& facts,
                                                     const domain::Now& now);

}  // namespace holdfast::engine

#include "tally.hpp"

namespace holdfast::campaign {

std::uint64_t& Tally::at(std::string_view table, std::string_view name) {
  auto found = tables_.find(table);
  if (found == tables_.end()) found = tables_.emplace(table, Table{}).first;
  auto entry = found->second.find(name);
  if (entry == found->second.end()) entry = found->second.emplace(name, 0).first;
  return entry->second;
}

void Tally::add(const Tally& other) {
  for (const auto& [table, names] : other.tables_) {
    for (const auto& [name, times] : names) count(table, name, times);
  }
}

}  // namespace holdfast::campaign

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

std::uint64_t Tally::of(std::string_view table, std::string_view name) const {
  const auto found = tables_.find(table);
  if (found == tables_.end()) return 0;
  const auto entry = found->second.find(name);
  return entry == found->second.end() ? 0 : entry->second;
}

std::vector<std::string> Tally::zeros() const {
  std::vector<std::string> out;
  for (const auto& [table, names] : tables_) {
    for (const auto& [name, times] : names) {
      if (times == 0) out.push_back(table + "/" + name);
    }
  }
  return out;
}

}  // namespace holdfast::campaign

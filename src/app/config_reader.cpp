#include "app/config_reader.hpp"

#include <algorithm>

#include "evm/revert.hpp"

namespace holdfast::app {
namespace {

constexpr std::size_t longest_shown = 256;  // bytes of a key

}  // namespace

const TomlNode* ConfigReader::take(const std::string& key) {
  asked_.insert(key);
  if (table_ == nullptr) return nullptr;
  const auto found = table_->find(key);
  return found == table_->end() ? nullptr : &found->second;
}

template <class T>
const T* ConfigReader::take_as(const std::string& key, std::string_view kind) {
  const TomlNode* const node = take(key);
  if (node == nullptr) return nullptr;
  const T* const value = std::get_if<T>(&node->value);
  if (value == nullptr) problem(key, "must be " + std::string(kind));
  return value;
}

std::string ConfigReader::text(const std::string& key, const std::string& otherwise,
                               std::size_t longest) {
  return maybe_text(key, longest).value_or(otherwise);
}

std::optional<std::string> ConfigReader::maybe_text(const std::string& key, std::size_t longest) {
  const auto* value = take_as<std::string>(key, "a text in quotes");
  if (value == nullptr) return std::nullopt;
  if (value->empty() || value->size() > longest) {
    problem(key, "must have 1 to " + std::to_string(longest) + " bytes");
    return std::nullopt;
  }
  return *value;
}

std::int64_t ConfigReader::number(const std::string& key, std::int64_t otherwise,
                                  std::int64_t least, std::int64_t most) {
  return maybe_number(key, least, most).value_or(otherwise);
}

std::optional<std::int64_t> ConfigReader::maybe_number(const std::string& key, std::int64_t least,
                                                       std::int64_t most) {
  const auto* value = take_as<std::int64_t>(key, "a whole number");
  if (value == nullptr) return std::nullopt;
  if (*value < least || *value > most) {
    problem(key, "must be from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
  }
  return *value;
}

bool ConfigReader::flag(const std::string& key, bool otherwise) {
  const auto* value = take_as<bool>(key, "true or false");
  return value == nullptr ? otherwise : *value;
}

U256 ConfigReader::amount(const std::string& key, const U256& otherwise) {
  const auto* value = take_as<std::string>(key, "a decimal number in quotes");
  if (value == nullptr) return otherwise;
  const auto amount = U256::from_decimal(*value);
  if (!amount) problem(key, "must be a plain decimal number of base units, at most 2^256 - 1");
  return amount.value_or(otherwise);
}

std::string ConfigReader::word(const std::string& key, const std::string& otherwise,
                               const std::vector<std::string>& words) {
  const auto* value = take_as<std::string>(key, "a text in quotes");
  if (value == nullptr) return otherwise;
  if (std::find(words.begin(), words.end(), *value) != words.end()) return *value;
  std::string all;
  for (const std::string& one : words) all += (all.empty() ? "" : ", ") + one;
  problem(key, "must be one of: " + all);
  return otherwise;
}

std::vector<std::string> ConfigReader::texts(const std::string& key) {
  std::vector<std::string> out;
  const auto* items = take_as<TomlArray>(key, "a list of texts");
  if (items == nullptr) return out;
  for (const TomlNode& item : *items) {
    if (const auto* one = std::get_if<std::string>(&item.value)) {
      out.push_back(*one);
    } else {
      problem(key, "must be a list of texts");
    }
  }
  return out;
}

ConfigReader ConfigReader::table(const std::string& key) {
  const auto* members = take_as<TomlTable>(key, "a table");
  return {members, line_of(key), full(key), problems_};
}

std::vector<ConfigReader> ConfigReader::tables(const std::string& key) {
  std::vector<ConfigReader> out;
  const auto* items = take_as<TomlArray>(key, "given as [[" + full(key) + "]]");
  if (items == nullptr) return out;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const TomlNode& item = (*items)[i];
    const auto* members = std::get_if<TomlTable>(&item.value);
    if (members == nullptr) {
      problem(key, "must be given as [[" + full(key) + "]]");
      continue;
    }
    out.emplace_back(members, item.line, full(key) + "." + std::to_string(i + 1), problems_);
  }
  return out;
}

std::vector<ConfigReader> ConfigReader::some_tables(const std::string& key, std::string missing) {
  const std::size_t before = problems_.size();
  std::vector<ConfigReader> out = tables(key);
  if (out.empty() && problems_.size() == before) problem(key, std::move(missing));
  return out;
}

void ConfigReader::problem(const std::string& key, std::string sentence) {
  problems_.push_back({line_of(key), full(key), std::move(sentence)});
}

void ConfigReader::refuse_unknown_keys() {
  if (table_ == nullptr) return;
  for (const auto& [key, node] : *table_) {
    if (asked_.contains(key)) continue;
    problems_.push_back({node.line, full(key), "is no key of this configuration"});
  }
}

unsigned ConfigReader::line_of(const std::string& key) const {
  if (table_ == nullptr) return line_;
  const auto found = table_->find(key);
  return found == table_->end() ? line_ : found->second.line;
}

std::string ConfigReader::full(const std::string& key) const {
  const std::string all = path_.empty() ? key : path_ + "." + key;
  return evm::printable(as_bytes(all), longest_shown);  // the file's writer chose every byte of it
}

}  // namespace holdfast::app

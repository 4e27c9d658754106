// Owns: the parts that several answers are made of, as JSON values. The fields are listed in
// render.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <holdfast/engine/engine.hpp>

namespace holdfast::http {

boost::json::value text_or_null(std::string_view text);
boost::json::value moment_or_null(std::int64_t wall_ms);
boost::json::array list_of(std::span<const std::string> texts);
/// A list's next cursor, as text; null where there is no more.
boost::json::value cursor_json(std::int64_t next);

template <class Fixed>
boost::json::value hex_or_null(const std::optional<Fixed>& bytes) {
  if (!bytes) return nullptr;
  return boost::json::string(bytes->hex());
}

template <class Items, class One>
boost::json::array each_of(const Items& items, One one) {
  boost::json::array out;
  for (const auto& item : items) out.push_back(one(item));
  return out;
}

boost::json::object intent_json(const domain::Intent& intent);
boost::json::object slot_json(const domain::Slot& slot);
boost::json::object attempt_json(const domain::Attempt& attempt);
boost::json::object history_json(const engine::HistoryItem& item, bool with_who);
boost::json::object journal_json(const engine::JournalItem& item);
boost::json::object detail_json(const engine::Detail& detail, bool for_operator);

}  // namespace holdfast::http

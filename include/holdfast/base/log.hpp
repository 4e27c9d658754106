// Owns: the structured log: an event name and fields, one line each.
// Must never: be given a key, a token or a URL with credentials; fields are ids, names and counts.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::log {

enum class Level { debug, info, warn, alarm };

struct Field {
  std::string_view key;
  std::string value;

  Field(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(v) {}
  Field(std::string_view k, std::integral auto v) : key(k), value(std::to_string(v)) {}
};

using Fields = std::initializer_list<Field>;

/// Would a line of this level be written? Asked first where the fields of lines that are usually
/// not written cost something to make.
bool is_on(Level level);
/// One line: `event key=value …`. Below the level set, nothing is formatted.
void write(Level level, std::string_view event, Fields fields);

inline void debug(std::string_view event, Fields fields = {}) {
  write(Level::debug, event, fields);
}
inline void info(std::string_view event, Fields fields = {}) { write(Level::info, event, fields); }
inline void warn(std::string_view event, Fields fields = {}) { write(Level::warn, event, fields); }
/// Something a person must look at: counted in the metrics as well by whoever raises it.
inline void alarm(std::string_view event, Fields fields = {}) {
  write(Level::alarm, event, fields);
}

using Sink = std::function<void(Level, std::string_view line)>;
/// Replaces the sink (stderr through spdlog by default); an embedder hands lines to its own log. An
/// empty one brings the default back.
/// Not thread-safe: call before the engine starts.
void set_sink(Sink sink);
void set_level(Level lowest);

}  // namespace holdfast::log

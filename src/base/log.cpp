#include <holdfast/base/log.hpp>

#include <algorithm>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace holdfast::log {
namespace {

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::debug: return spdlog::level::debug;
    case Level::info: return spdlog::level::info;
    case Level::warn: return spdlog::level::warn;
    case Level::alarm: return spdlog::level::critical;
  }
  return spdlog::level::info;
}

void to_stderr(Level level, std::string_view line) {
  static const auto logger = [] {
    auto made = std::make_shared<spdlog::logger>("holdfast",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    made->set_level(spdlog::level::debug);
    return made;
  }();
  logger->log(spdlog_level(level), "{}", line);
}

struct State {
  Sink sink = to_stderr;
  Level lowest = Level::info;
};

State& state() {
  static State only;
  return only;
}

// A value from outside must not forge a second line or a second field.
void append_value(std::string& line, std::string_view value) {
  const auto is_plain = [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
  };
  const bool plain = !value.empty() && std::all_of(value.begin(), value.end(), is_plain);
  if (plain) {
    line.append(value);
    return;
  }
  line.push_back('"');
  for (const char c : value) {
    if (c == '"' || c == '\\') line.push_back('\\');
    const auto code = static_cast<unsigned char>(c);
    line.push_back(code < 0x20 || code == 0x7f ? '?' : c);
  }
  line.push_back('"');
}

}  // namespace

bool is_on(Level level) { return level >= state().lowest; }

void write(Level level, std::string_view event, Fields fields) {
  if (!is_on(level)) return;
  std::string line(event);
  for (const Field& field : fields) {
    line.push_back(' ');
    line.append(field.key);
    line.push_back('=');
    append_value(line, field.value);
  }
  state().sink(level, line);
}

void set_sink(Sink sink) { state().sink = sink ? std::move(sink) : Sink(to_stderr); }
void set_level(Level lowest) { state().lowest = lowest; }

}  // namespace holdfast::log

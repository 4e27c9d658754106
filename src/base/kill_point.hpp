// Owns: the places at which a test has the process killed, to see that its record survives it. They
// are compiled only where HOLDFAST_KILL_POINTS is defined, which no shipped binary does.
//
// The environment variable HOLDFAST_KILL_AT names one: "KP4" at the first pass, "KP4:3" at the
// third. The process then gets SIGKILL: nothing is flushed, no frame is destroyed. With
// HOLDFAST_KILL_WITH=STOP it gets SIGSTOP, and sleeps there until somebody wakes it.
//
//   KP1  reservation committed               KP6  post's outcome stored, intent still settling
//   KP2  raw bytes and hash committed        KP7  confirming stored
//   KP3  before the send                     KP8  final receipt seen, nothing posted to the journal
//   KP4  request written, no answer read     KP9  settled, with its post
//   KP5  answer read, not stored
//
// A post that a node accepted is stored by the move to confirming, in whose write the job is acked,
// so KP6 comes right before that write; post and settled are one write, so KP9 comes right after
// it. CREATE1 to 3: creating an intent, with its row, then its key and answer, then its job written
// and none of it committed; CREATE4: all of it committed, nobody answered.
#pragma once

#ifdef HOLDFAST_KILL_POINTS

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

namespace holdfast {

inline void kill_point(std::string_view name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets the environment
  static const char* const wanted = std::getenv("HOLDFAST_KILL_AT");
  if (wanted == nullptr) return;
  const std::string_view text = wanted;
  const std::size_t colon = text.find(':');
  if (text.substr(0, colon) != name) return;
  static const int pass =
      colon == std::string_view::npos ? 1 : std::stoi(std::string(text.substr(colon + 1)));
  static std::atomic<int> passes = 0;
  if (++passes != pass) return;
  const char* const with = std::getenv("HOLDFAST_KILL_WITH");  // NOLINT(concurrency-mt-unsafe)
  ::kill(::getpid(), with != nullptr && std::string_view(with) == "STOP" ? SIGSTOP : SIGKILL);
}

}  // namespace holdfast

#define HOLDFAST_KILL_POINT(name) ::holdfast::kill_point(name)
#define HOLDFAST_KILL_POINT_IF(condition, name) \
  if (condition) ::holdfast::kill_point(name)

#else

#define HOLDFAST_KILL_POINT(name) static_cast<void>(0)
#define HOLDFAST_KILL_POINT_IF(condition, name) static_cast<void>(0)

#endif

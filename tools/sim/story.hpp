// Owns: the life of one payment for a reader: what the engine logged of it, what it wrote, what the
// chain saw, in order of time.
// Must never: cost anything when nobody asked for it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/world.hpp"

namespace holdfast::campaign {

class Machine;

class Story {
 public:
  /// `of`: "pi_…", "all", or empty for nothing. Takes over the log of the process.
  Story(sim::SimWorld& world, std::string of);
  ~Story();
  Story(const Story&) = delete;
  Story& operator=(const Story&) = delete;

  /// A line that belongs to whom it names. An attempt is read anew whenever the store is opened,
  /// and told once: again, it would read like a second signature.
  void line(std::string text);
  /// A mark that belongs to every payment's life.
  void note(const std::string& sentence);
  std::vector<std::string> take(Machine& machine);

 private:
  struct Line {
    std::int64_t at_ms = 0;
    bool of_all = false;
    std::string text;
    std::size_t place = 0;  ///< among those of one moment
  };
  void add(bool of_all, std::string text);

  sim::SimWorld& world_;
  std::string of_;
  std::vector<Line> lines_;
  std::set<std::string> attempts_;
};

}  // namespace holdfast::campaign

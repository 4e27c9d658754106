// Owns: the one line a person watches while payments run.
#pragma once

#include <string>

#include "drive.hpp"

namespace holdfast::load {

/// Without a line end. `before` is the moment shown last.
std::string progress_line(const Moment& now, const Moment& before, const Driven& driven);

/// The line as it is written over by the next, on stderr and to a person only.
class Line {
 public:
  Line();
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  void show(const Moment& now, const Driven& driven);

 private:
  bool shown_;
  Moment before_;
};

}  // namespace holdfast::load

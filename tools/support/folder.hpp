// Owns: a folder of our own for the files of one run.
#pragma once

#include <filesystem>
#include <string>

namespace holdfast::tools {

/// Removed at the end, with all in it, unless it is to be kept.
class Folder {
 public:
  /// Throws runtime_error when none can be made in `parent`.
  Folder(const std::filesystem::path& parent, const std::string& name, bool keep = false);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
  bool keep_;
};

/// To stderr, when files there are in memory, where a commit costs nothing and a figure says
/// little.
void warn_if_in_memory(const std::string& program, const std::filesystem::path& folder);

}  // namespace holdfast::tools

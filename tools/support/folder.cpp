#include "folder.hpp"

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <system_error>

#include <sys/vfs.h>

namespace holdfast::tools {

Folder::Folder(const std::filesystem::path& parent, const std::string& name, bool keep)
    : keep_(keep) {
  std::string path = (parent / (name + "-XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr) {
    throw std::runtime_error("no folder can be made in " + parent.string());
  }
  path_ = path;
}

Folder::~Folder() {
  std::error_code ignored;
  if (!keep_) std::filesystem::remove_all(path_, ignored);
}

void warn_if_in_memory(const std::string& program, const std::filesystem::path& folder) {
  constexpr long tmpfs = 0x01021994;
  struct statfs found{};
  if (statfs(folder.c_str(), &found) == 0 && found.f_type == tmpfs) {
    std::cerr << program << ": " << folder.string()
              << " is in memory, where a commit costs nothing; name a place on a disk (--store)\n";
  }
}

}  // namespace holdfast::tools

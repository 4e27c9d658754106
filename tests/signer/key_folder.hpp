// A folder of key files that goes with the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include <doctest/doctest.h>

namespace holdfast::tests {

class KeyFolder {
 public:
  KeyFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "holdfast-keys-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
  }
  ~KeyFolder() { std::filesystem::remove_all(root_); }
  KeyFolder(const KeyFolder&) = delete;
  KeyFolder& operator=(const KeyFolder&) = delete;

  std::string path(const std::string& name) const { return root_ + "/" + name; }
  /// Writes a file of mode 0600, without a buffer that would keep the text. Its path.
  std::string file(const std::string& name, std::string_view text) const {
    const std::string at = path(name);
    ::unlink(at.c_str());
    const int out = ::open(at.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    REQUIRE(out >= 0);
    const auto written = ::write(out, text.data(), text.size());
    ::close(out);
    REQUIRE(written == static_cast<ssize_t>(text.size()));
    return at;
  }

 private:
  std::string root_;
};

}  // namespace holdfast::tests

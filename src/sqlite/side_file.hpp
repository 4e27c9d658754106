// Owns: a small file beside the database, replaced whole and durably: written under another name,
// synced, renamed, and the folder synced.
// Must never: touch the database or its log, or leave half a file under its name.
#pragma once

#include <string>

#include <holdfast/ports/sql.hpp>

namespace holdfast::sqlite {

class SideFile final : public sql::SideRecord {
 public:
  /// "<database><ending>", where a symbolic link to the database leads. `store` begins the
  /// sentences.
  SideFile(const std::string& database, const char* ending, std::string store);

  std::optional<Bytes> read() override;
  void write(ByteView content) override;
  std::string name() const override;

 private:
  std::string path_;
  std::string store_;
};

/// Where the database really is: symbolic links followed.
std::string real_path_of(const std::string& database);

}  // namespace holdfast::sqlite

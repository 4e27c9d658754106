// Runs one target of this folder on every file of a corpus, without libFuzzer: each input that ever
// showed something is a test of every build.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** words) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (const char* word : std::span(words, static_cast<std::size_t>(count)).subspan(1)) {
    if (fs::is_directory(word)) {
      for (const auto& entry : fs::directory_iterator(word)) files.push_back(entry.path());
    } else if (fs::exists(word)) {
      files.emplace_back(word);
    } else {
      std::fprintf(stderr, "replay: there is no file %s\n", word);
      return 1;
    }
  }
  if (files.empty()) {
    std::fputs("replay: name a corpus, or files; there is none here\n", stderr);
    return 1;
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    std::printf("%s\n", file.filename().c_str());
    std::fflush(stdout);  // the last name printed is the one that failed
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> text{std::istreambuf_iterator<char>(in), {}};
    // As long as the input and no longer: a sanitizer sees what reads behind its end.
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    std::ignore = LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu inputs, all well\n", files.size());
}

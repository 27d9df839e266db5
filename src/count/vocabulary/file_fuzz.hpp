// For fuzzers: an assertion that ends the run, and bytes as a file in memory that can be opened by its
// path.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace plimsoll::count {

inline void expect(bool good, const char* what, std::string_view text = {}) {
  if (good) return;
  std::fprintf(stderr, "%s, on %zu bytes: ", what, text.size());
  for (const char c : text)
    std::fprintf(stderr, "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  std::fprintf(stderr, "\n");
  std::abort();
}

class FuzzFile {
 public:
  explicit FuzzFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", 0)) {
    if (descriptor_ < 0 ||
        ::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      std::abort();
  }
  ~FuzzFile() { ::close(descriptor_); }
  FuzzFile(const FuzzFile&) = delete;
  FuzzFile& operator=(const FuzzFile&) = delete;

  std::filesystem::path path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

}  // namespace plimsoll::count

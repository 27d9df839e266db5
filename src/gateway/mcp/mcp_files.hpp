// Files that somebody else names: only those below one folder, however the path gets there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "plimsoll/count.hpp"

namespace plimsoll::gateway {

struct WeighedFile {
  std::int64_t bytes = 0;
  std::optional<Tokens> tokens;  // none: too large to be counted while somebody waits
};

class RootedFiles {
 public:
  static Result<RootedFiles> below(const std::filesystem::path& root);

  // Counts a regular file. A relative path starts at the root. One that leads out of it, by dots or by
  // symlinks, is refused without being opened; also one that is swapped for such a link in between.
  Result<WeighedFile> weigh(std::string_view path, const Tokenizer& tokenizer, Specials specials) const;
  // Its size alone.
  Result<WeighedFile> measure(std::string_view path) const;

  const std::filesystem::path& root() const { return root_; }

 private:
  class Opened;
  explicit RootedFiles(std::filesystem::path root) : root_(std::move(root)) {}
  bool holds(const std::filesystem::path& real) const;
  Result<Opened> open(std::string_view path) const;

  std::filesystem::path root_;  // real: no links, no dots
};

}  // namespace plimsoll::gateway

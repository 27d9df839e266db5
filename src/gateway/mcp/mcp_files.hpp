// Access to files named by agents, restricted to one folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "plimsoll/count.hpp"

namespace plimsoll::gateway {

struct WeighedFile {
  std::int64_t bytes = 0;          // of a document: of its text
  std::optional<Tokens> tokens{};  // none: too large to count during a request
  std::string_view document{};     // "PDF" or ".docx": its text was counted
};

class RootedFiles {
 public:
  static Result<RootedFiles> below(const std::filesystem::path& root);

  // Counts a regular file, of a PDF or a .docx its text. A relative path starts at the root. A path that
  // leads outside, by dots or symlinks, is refused without opening it; also one that is replaced by such a
  // link meanwhile.
  Result<WeighedFile> weigh(std::string_view path, const Tokenizer& tokenizer, Specials specials) const;
  // Returns only its size.
  Result<WeighedFile> measure(std::string_view path) const;

  const std::filesystem::path& root() const { return root_; }

 private:
  class Opened;
  explicit RootedFiles(std::filesystem::path root) : root_(std::move(root)) {}
  bool holds(const std::filesystem::path& real) const;
  Result<Opened> open(std::string_view path) const;
  static Result<std::optional<WeighedFile>> weigh_document(const Opened& file, std::string_view path,
                                                           const Tokenizer& tokenizer, Specials specials);

  std::filesystem::path root_;  // real: no links, no dots
};

}  // namespace plimsoll::gateway

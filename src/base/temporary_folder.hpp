// A folder of one's own that goes with whoever made it.
#pragma once

#include <filesystem>
#include <string_view>

namespace plimsoll::base {

// Nobody else can look into it. Where none could be made its path is empty.
class TemporaryFolder {
 public:
  // `what` it is for ("eval") is part of its name.
  explicit TemporaryFolder(std::string_view what);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace plimsoll::base

// A temporary folder that is deleted with the object.
#pragma once

#include <filesystem>
#include <string_view>

namespace plimsoll::base {

// Only this user can read it. If it could not be created, its path is empty.
class TemporaryFolder {
 public:
  // `what`: its purpose ("eval"), part of its name.
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

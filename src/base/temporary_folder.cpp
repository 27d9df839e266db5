#include "base/temporary_folder.hpp"

#include <stdlib.h>

#include <string>
#include <system_error>

namespace plimsoll::base {

TemporaryFolder::TemporaryFolder(std::string_view what) {
  std::error_code unknown;
  std::string name =
      (std::filesystem::temp_directory_path(unknown) / ("plimsoll-" + std::string(what) + "-XXXXXX"))
          .string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace plimsoll::base

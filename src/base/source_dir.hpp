// Where this source tree stands, for tests that read files of it. Only tests link it.
#pragma once

#include <filesystem>

namespace plimsoll::base {

std::filesystem::path source_dir();

}  // namespace plimsoll::base

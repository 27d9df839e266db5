// Reads the format of data/models.toml.
#pragma once

#include <string_view>
#include <vector>

#include "plimsoll/models.hpp"

namespace plimsoll::window {

// Unknown keys and bad values are errors that name the model and the key.
Result<std::vector<ModelCard>> read_catalogue(std::string_view toml_text, std::string_view origin);

}  // namespace plimsoll::window

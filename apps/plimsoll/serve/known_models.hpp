// The model catalogue with the user's additions.
#pragma once

#include "config/settings.hpp"
#include "plimsoll/models.hpp"

namespace plimsoll {

// Returns the built-in catalogue, extended by the setting models_file.
Result<ModelCatalogue> known_models(const config::Settings& settings);

}  // namespace plimsoll

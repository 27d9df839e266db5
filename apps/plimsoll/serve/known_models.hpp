// The model catalogue with the user's additions.
#pragma once

#include "base/settings/settings.hpp"
#include "plimsoll/models.hpp"

namespace plimsoll {

// Returns the built-in catalogue, extended by the setting models_file.
Result<ModelCatalogue> known_models(const base::Settings& settings);

}  // namespace plimsoll

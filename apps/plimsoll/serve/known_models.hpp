// The catalogue of models with what the user added to it.
#pragma once

#include "base/settings/settings.hpp"
#include "plimsoll/models.hpp"

namespace plimsoll {

// The built-in one, extended by the file that the setting models_file names.
Result<ModelCatalogue> known_models(const base::Settings& settings);

}  // namespace plimsoll

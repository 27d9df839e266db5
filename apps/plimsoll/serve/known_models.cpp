#include "serve/known_models.hpp"

#include "base/files.hpp"
#include "base/try.hpp"

namespace plimsoll {

Result<ModelCatalogue> known_models(const config::Settings& settings) {
  constexpr std::uint64_t limit_bytes = 16U << 20;
  TRY(ModelCatalogue catalogue, ModelCatalogue::built_in());
  if (!settings.models_file.empty()) {
    TRY(const std::string own, base::read_file(settings.models_file, limit_bytes));
    TRY_VOID(catalogue.extend(own, settings.models_file.string()));
  }
  return catalogue;
}

}  // namespace plimsoll

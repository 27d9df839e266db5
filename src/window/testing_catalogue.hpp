// For the tests of this folder: the catalogue that is built in.
#pragma once

#include <gtest/gtest.h>

#include "plimsoll/models.hpp"

namespace plimsoll {

inline const ModelCatalogue& catalogue() {
  static const ModelCatalogue made = [] {
    auto built = ModelCatalogue::built_in();
    if (!built) ADD_FAILURE() << built.error().what;
    return built ? *std::move(built) : ModelCatalogue();
  }();
  return made;
}

}  // namespace plimsoll

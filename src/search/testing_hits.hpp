// For the tests of this folder: hits as text.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "plimsoll/index.hpp"

namespace plimsoll::search {

inline std::string shown(const std::vector<Hit>& hits) {
  std::string all;
  for (const Hit& hit : hits) all += fmt::format("{}/{}={:.9g} ", hit.chunk, hit.document, hit.score);
  return all;
}

}  // namespace plimsoll::search

// An open index in the engine's open_indexes.
#pragma once

#include "index/documents.hpp"
#include "library/open_indexes.hpp"

namespace plimsoll {

inline Result<std::unique_ptr<library::LoadedIndex>> load_index(Documents& documents, const IndexInfo& info) {
  auto opened = documents.open_index(info.name, info.owner);
  if (!opened) return tl::unexpected(std::move(opened).error());
  return std::unique_ptr<library::LoadedIndex>(new library::LoadedIndex{
      std::move(opened->index), std::move(opened->open), std::move(opened->notes), {}});
}

}  // namespace plimsoll

// Indexes as the engine's shelf keeps them open.
#pragma once

#include "documents.hpp"
#include "engine/shelf.hpp"

namespace plimsoll {

inline Result<std::unique_ptr<engine::ShelvedIndex>> shelve(Documents& documents, const IndexInfo& info) {
  auto opened = documents.open_index(info.name, info.owner);
  if (!opened) return tl::unexpected(std::move(opened).error());
  return std::unique_ptr<engine::ShelvedIndex>(new engine::ShelvedIndex{
      std::move(opened->index), std::move(opened->open), std::move(opened->notes), {}});
}

}  // namespace plimsoll

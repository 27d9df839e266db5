#include "library/open_indexes.hpp"

#include "base/try.hpp"

namespace plimsoll::library {

Result<std::shared_ptr<const LoadedIndex>> OpenIndexes::take(std::string_view owner, std::string_view name) {
  const auto stamp = store_.find_stamp(owner, name);
  if (!stamp && stamp.error().code == Errc::not_found) {
    forget(owner, name);  // another process may have removed it
    return fail(Errc::not_found, "No such index: '{}' exists.", name);
  }
  if (!stamp) return tl::unexpected(stamp.error());
  const std::lock_guard lock(mutex_);
  std::shared_ptr<LoadedIndex>& place = open_[{std::string(owner), std::string(name)}];
  if (place && place->open.info.id == stamp->id && place->index->revision() == stamp->revision) return place;
  TRY(const IndexInfo info, store_.find_index(owner, name));
  if (!place || place->open.info.id != info.id) {
    TRY(place, opener_(info));
  } else {
    TRY_VOID(place->index->refresh());
    place->open.chunks.forget(info.id);  // removed text must not stay in memory
  }
  place->tokens = info.tokens;
  return place;
}

void OpenIndexes::forget(std::string_view owner, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto place = open_.find({std::string(owner), std::string(name)});
  if (place == open_.end()) return;
  if (place->second) place->second->open.chunks.forget(place->second->open.info.id);
  open_.erase(place);
}

}  // namespace plimsoll::library

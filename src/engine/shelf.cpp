#include "engine/shelf.hpp"

#include "base/try.hpp"

namespace plimsoll::engine {
namespace {

Result<std::int64_t> tokens_of(Store& store, std::string_view owner, IndexId id) {
  TRY(const auto all, store.indexes(owner));
  for (const IndexInfo& info : all)
    if (info.id == id) return info.tokens;
  return 0;
}

}  // namespace

Result<std::shared_ptr<const ShelvedIndex>> Shelf::take(std::string_view owner, std::string_view name) {
  auto info = store_.find_index(owner, name);
  if (!info && info.error().code == Errc::not_found)
    return fail(Errc::not_found, "No such index: '{}' exists.", name);
  if (!info) return tl::unexpected(info.error());
  const std::lock_guard lock(mutex_);
  std::shared_ptr<ShelvedIndex>& place = open_[{std::string(owner), std::string(name)}];
  if (!place || place->open.info.id != info->id) {
    TRY(auto opened, opener_(*info));
    TRY(const std::int64_t tokens, tokens_of(store_, owner, info->id));
    opened->tokens = tokens;
    place = std::move(opened);
  } else if (place->index->revision() != info->revision) {
    TRY_VOID(place->index->refresh());
    TRY(const std::int64_t tokens, tokens_of(store_, owner, info->id));
    place->tokens = tokens;
  }
  return place;
}

}  // namespace plimsoll::engine

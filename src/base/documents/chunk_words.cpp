#include "base/documents/chunk_words.hpp"

#include <algorithm>

#include "base/text/names.hpp"

namespace plimsoll::base {

void read_chunk_names(const StoredChunk& chunk, std::vector<ChunkName>& out) {
  static thread_local std::vector<Name> names;
  out.clear();
  read_names(chunk.text, names);
  for (const Name& name : names) out.push_back({NameUse::mention, name.key});
  for (std::string_view path = chunk.path; !path.empty();) {  // "Guide > Install"
    const std::size_t end = std::min(path.find(" > "), path.size());
    if (std::string key = name_key(path.substr(0, end)); !key.empty())
      out.push_back({NameUse::title, std::move(key)});
    path.remove_prefix(std::min(end + 3, path.size()));
  }
  if (chunk.chunk.span.start != 0) return;
  OpeningNames opening = opening_names(chunk.text);
  for (std::string& key : opening.titles) out.push_back({NameUse::title, std::move(key)});
  for (std::string& key : opening.others) out.push_back({NameUse::other, std::move(key)});
}

}  // namespace plimsoll::base

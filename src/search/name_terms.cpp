#include "search/name_terms.hpp"

#include "base/documents/chunk_words.hpp"

namespace plimsoll::search {

std::string name_term(NameUse use, std::string_view key) {
  std::string out(1, static_cast<char>(use));
  out += key;
  return out;
}

void name_terms_of(const StoredChunk& chunk, std::vector<std::string>& out) {
  static thread_local std::vector<base::ChunkName> names;
  out.clear();
  base::read_chunk_names(chunk, names);
  for (const base::ChunkName& name : names) out.push_back(name_term(name.use, name.key));
}

}  // namespace plimsoll::search

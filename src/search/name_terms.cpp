#include "search/name_terms.hpp"

#include "base/text/names.hpp"

namespace plimsoll::search {

std::string name_term(NameUse use, std::string_view key) {
  std::string out(1, static_cast<char>(use));
  out += key;
  return out;
}

void name_terms_of(const StoredChunk& chunk, std::vector<std::string>& out) {
  static thread_local std::vector<base::Name> names;
  out.clear();
  base::read_names(chunk.text, names);
  for (const base::Name& name : names) out.push_back(name_term(NameUse::mention, name.key));
  for (std::string_view path = chunk.path; !path.empty();) {  // "Guide > Install"
    const std::size_t end = std::min(path.find(" > "), path.size());
    if (std::string key = base::name_key(path.substr(0, end)); !key.empty())
      out.push_back(name_term(NameUse::title, key));
    path.remove_prefix(std::min(end + 3, path.size()));
  }
  if (chunk.chunk.span.start != 0) return;
  const base::OpeningNames opening = base::opening_names(chunk.text);
  for (const std::string& key : opening.titles) out.push_back(name_term(NameUse::title, key));
  for (const std::string& key : opening.others) out.push_back(name_term(NameUse::other, key));
}

}  // namespace plimsoll::search

// The neighbourhood of a name: what is called so, what mentions it, and the names mentioned with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "library/find_passages.hpp"

namespace plimsoll::library {

struct NameNeighbours {
  std::string key;                    // folded: "mary poppins"
  std::vector<std::string> titled;    // keys of documents with this title or heading
  std::vector<std::string> others;    // keys of documents about something with this other name
  std::vector<std::string> mentions;  // keys of documents that mention it
  std::size_t chunks = 0;             // that mention it, also those beyond `most`
  std::vector<NameCount> names;       // in the same chunks, most frequent first
};

// `most`: of each list. A name that the index does not know has empty lists.
Result<NameNeighbours> neighbours_of(const OpenIndex& open, std::string_view name, std::size_t most);

}  // namespace plimsoll::library

// What a new index is made with.
#pragma once

#include <string>
#include <vector>

#include "index/documents.hpp"

namespace plimsoll {

// Those of the settings. One that is not at hand leaves an index that is searched by words alone, and a note.
Result<std::vector<EmbedderInfo>> usual_embedders(const base::Settings& settings, Documents& documents,
                                                  std::vector<std::string>& notes);

}  // namespace plimsoll

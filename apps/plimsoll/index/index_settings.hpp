// Default settings of a new index.
#pragma once

#include <string>
#include <vector>

#include "index/documents.hpp"

namespace plimsoll {

// Returns the embedders of the settings. If one is not available: none, and a note that says so.
Result<std::vector<EmbedderInfo>> usual_embedders(const config::Settings& settings, Documents& documents,
                                                  std::vector<std::string>& notes);

}  // namespace plimsoll

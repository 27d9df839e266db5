// `plimsoll index add`: adds files and folders to an index, with a progress bar.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll {

struct IndexAddOptions {
  std::string name;
  std::vector<std::string> paths;
  std::string tokenizer;
  std::string model;
  std::vector<std::string> embedders;  // as given; empty: from the setting
  bool no_embedder = false;
  Tokens chunk_tokens = 0;  // 0: from the model or the setting
  std::vector<std::string> metadata;
  std::vector<std::string> include, exclude;  // patterns as in .gitignore
  bool prune = false;
  bool verbose = false;
  bool json = false;
  bool quiet = false;
};

// Returns the exit status: 0, or 1 if some files could not be read.
Result<int> index_add(const config::Settings& settings, const IndexAddOptions& options);

}  // namespace plimsoll

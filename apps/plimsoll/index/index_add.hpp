// `plimsoll index add`: files and folders into an index, with a bar while it goes on.
#pragma once

#include <string>
#include <vector>

#include "base/settings/settings.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll {

struct IndexAddOptions {
  std::string name;
  std::vector<std::string> paths;
  std::string tokenizer;
  std::string model;
  std::vector<std::string> embedders;  // as given; empty: the setting's
  bool no_embedder = false;
  Tokens chunk_tokens = 0;  // 0: the model's, or the setting's
  std::vector<std::string> metadata;
  std::vector<std::string> include, exclude;  // patterns as in .gitignore
  bool prune = false;
  bool verbose = false;
  bool json = false;
  bool quiet = false;
};

// The exit status: 0, or 1 where files could not be read that should have gone in.
Result<int> index_add(const base::Settings& settings, const IndexAddOptions& options);

}  // namespace plimsoll

// The keys of documents that were read from files.
//
// A file is known by its absolute path. Its key is short, "docs/guide.md", and belongs to that file for as
// long as the document is in the index: a file of another folder that would get the same key gets a longer
// one, "project/docs/guide.md".
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plimsoll/store.hpp"

namespace plimsoll::ingest {

class DocumentKeys {
 public:
  explicit DocumentKeys(std::vector<StoredSource> stored);

  struct Assigned {
    std::string key;
    FileSource file;
    bool is_stored = false;   // the index has a document of this key, of this file
    bool is_changed = false;  // its bytes are others than those of the stored one
    bool is_adopted = false;  // the stored document was of no known file, or of one that has been moved here
  };
  // `label`: the key that it gets if no other file has it. `hash`: of its bytes. A file without a path has
  // the label for its key.
  Assigned assign(std::string_view label, FileSource file, const std::string& hash);

 private:
  struct Known {
    std::string hash;
    FileSource file;
  };
  using Keys = std::unordered_map<std::string, Known>;

  Keys::iterator find(const std::string& label, const FileSource& file, const std::string& hash);
  std::string free_key(const std::string& label, const std::string& path) const;

  Keys by_key_;
  std::unordered_map<std::string, std::string> key_of_path_;
  std::unordered_set<std::string> roots_found_;  // whose files older versions have stored
};

}  // namespace plimsoll::ingest

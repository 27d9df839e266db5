// The keys of documents that were read from files.
//
// A file is identified by its absolute path. Its key is short, "docs/guide.md", and belongs to that file
// while the document is in the index: a file of another folder that would get the same key gets a longer one,
// "project/docs/guide.md".
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
    bool is_stored = false;   // the index has a document with this key from this file
    bool is_changed = false;  // its bytes differ from the stored ones
    bool is_adopted = false;  // the stored document had no known file, or its file was moved here
  };
  // `label`: the key unless another file has it. `hash`: of its bytes. A file without a path uses
  // the label as key.
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
  std::unordered_set<std::string> roots_found_;  // with files stored by older versions
};

}  // namespace plimsoll::ingest

#include "ingest/keys.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace plimsoll::ingest {
namespace {

// Returns the label, then ever longer suffixes of the path, up to the whole path.
std::vector<std::string> candidates(const std::string& label, const std::string& path) {
  std::vector<std::string> out{label};
  const auto parts = std::count(label.begin(), label.end(), '/') + 1;
  std::size_t at = path.size();
  for (std::ptrdiff_t taken = 1; at > 0; ++taken) {
    at = path.rfind('/', at - 1);
    if (at == std::string::npos) break;
    if (taken > parts) out.push_back(path.substr(at + 1));
  }
  out.push_back(path);
  return out;
}

bool is_gone(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  return status.type() == std::filesystem::file_type::not_found;
}

}  // namespace

DocumentKeys::DocumentKeys(std::vector<StoredSource> stored) {
  for (StoredSource& one : stored) {
    if (one.file.path && !one.file.path->empty()) key_of_path_.emplace(*one.file.path, one.key);
    by_key_.emplace(std::move(one.key), Known{std::move(one.source_hash), std::move(one.file)});
  }
}

DocumentKeys::Keys::iterator DocumentKeys::find(const std::string& label, const FileSource& file,
                                                const std::string& hash) {
  const std::string path = file.path.value_or("");
  if (path.empty()) return by_key_.find(label);
  if (const auto known = key_of_path_.find(path); known != key_of_path_.end())
    return by_key_.find(known->second);
  // Older versions used the label as key, or the whole path if two files of one run had the same label. With
  // other bytes, the same label may belong to another folder. It counts as the same file if another
  // file of that folder was already recognised by its bytes.
  for (const std::string& key : {path, label}) {
    const auto known = by_key_.find(key);
    if (known == by_key_.end() || known->second.file.path) continue;
    if (known->second.hash == hash) roots_found_.insert(file.root);
    if (key == path || roots_found_.contains(file.root)) return known;
  }
  for (const std::string& key : candidates(label, path)) {
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) break;
    const std::string old = known->second.file.path.value_or("");
    if (!old.empty() && known->second.hash == hash && is_gone(old)) return known;
  }
  return by_key_.end();
}

std::string DocumentKeys::free_key(const std::string& label, const std::string& path) const {
  for (const std::string& key : candidates(label, path))
    if (!by_key_.contains(key)) return key;
  for (int number = 2;; ++number)
    if (std::string key = fmt::format("{} ({})", path, number); !by_key_.contains(key)) return key;
}

DocumentKeys::Assigned DocumentKeys::assign(std::string_view label, FileSource file,
                                            const std::string& hash) {
  Assigned out;
  const std::string path = file.path.value_or("");
  const auto known = find(std::string(label), file, hash);
  if (known == by_key_.end()) {
    out.key = path.empty() ? std::string(label) : free_key(std::string(label), path);
    out.file = std::move(file);
  } else {
    out.key = known->first;
    out.is_stored = true;
    out.is_changed = known->second.hash != hash;
    const bool same_file = path.empty() || known->second.file.path == path;
    out.is_adopted = !same_file;
    if (out.is_adopted && known->second.file.path) key_of_path_.erase(*known->second.file.path);
    out.file = same_file ? known->second.file : std::move(file);
  }
  if (!path.empty()) key_of_path_.insert_or_assign(path, out.key);
  by_key_.insert_or_assign(out.key, Known{hash, out.file});
  return out;
}

}  // namespace plimsoll::ingest

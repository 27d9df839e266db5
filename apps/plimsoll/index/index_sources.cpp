#include "index/index_sources.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "ingest/walk.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

// Returns the prefix of document keys below a path: the path as given or, if it is absolute or contains "..",
// its last part.
std::string key_root(const std::filesystem::path& given) {
  std::filesystem::path path = given.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path == ".") return "";
  const std::string text = path.generic_string();
  return path.is_absolute() || text.starts_with("..") ? path.filename().generic_string() : text;
}

// Resolves links in the folder but not in the file name: a link to a file is a separate
// document.
Result<std::string> absolute_path(const std::filesystem::path& given, bool folder) {
  std::error_code error;
  const auto full = std::filesystem::absolute(given, error).lexically_normal();
  const auto resolved = std::filesystem::canonical(folder ? full : full.parent_path(), error);
  if (error) return fail(Errc::io_failed, "cannot find where '{}' is: {}", given.string(), error.message());
  return (folder ? resolved : resolved / full.filename()).generic_string();
}

bool is_below(std::string_view path, std::string_view root) {
  if (!path.starts_with(root)) return false;
  return path.size() == root.size() || root.ends_with('/') || path[root.size()] == '/';
}

std::string joined(const std::string& folder, const std::string& name) {
  if (folder.empty()) return name;
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

}  // namespace

Result<Sources> find_sources(const IndexAddOptions& options) {
  ingest::WalkOptions walk_options;
  walk_options.include = options.include;
  walk_options.exclude = options.exclude;
  Sources out;
  std::set<std::string> taken;  // a file may be below two of the given paths
  for (const std::string& given : options.paths) {
    std::error_code error;
    const bool folder = std::filesystem::is_directory(given, error);
    if (!std::filesystem::exists(given, error)) {
      out.problems.push_back({given, "no such file or folder"});
      continue;
    }
    TRY(const std::string full, absolute_path(given, folder));
    const Root root{key_root(given), full};
    out.roots.push_back(root);
    TRY_VOID(ingest::walk(
        given, walk_options,
        [&](const ingest::FoundFile& file) -> Result<void> {
          const std::string path = folder ? joined(root.path, file.key) : root.path;
          if (!taken.insert(path).second) return {};
          const std::string key = folder ? joined(root.label, file.key) : root.label;
          out.files.push_back({key, {path, root.path}, file.path, file.bytes, file.wanted});
          out.bytes += file.bytes;
          return {};
        },
        [&](const ingest::WalkProblem& problem) {
          (problem.skipped ? out.skipped : out.problems).push_back({problem.path.string(), problem.reason});
          const std::string below = problem.path.lexically_relative(given).generic_string();
          if (!problem.skipped) out.unseen.push_back(below == "." ? root.path : joined(root.path, below));
        }));
  }
  return out;
}

namespace {

bool is_deleted(const std::string& path) {
  std::error_code error;
  return std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::not_found;
}

bool is_below_one_of(const std::vector<Root>& roots, const std::string& path) {
  return std::ranges::any_of(roots, [&](const Root& root) { return is_below(path, root.path); });
}

// Returns whether --prune removes a document whose file was not found below the given paths: if the file was
// deleted, or if an ignore file or a pattern now excludes it. The latter only for documents added with one of
// the same paths: for another path, other ignore files may apply. A file that cannot be checked, for example
// in a folder that may not be listed, is not pruned.
bool is_pruned(const FileSource& file, const Sources& sources) {
  if (!is_below_one_of(sources.roots, *file.path)) return false;
  if (is_deleted(*file.path)) return true;
  const auto hides = [&](const std::string& path) { return is_below(*file.path, path); };
  if (std::ranges::any_of(sources.unseen, hides)) return false;
  return std::ranges::any_of(sources.roots, [&](const Root& root) { return file.root == root.path; });
}

}  // namespace

Result<std::size_t> prune(Documents& documents, const IndexInfo& index, const Sources& sources,
                          std::vector<std::string>& notes) {
  std::set<std::string_view> there;
  for (const ingest::SourceFile& file : sources.files) there.insert(*file.source.path);
  TRY(const auto stored, documents.store().sources(index.id));
  std::vector<std::string> gone;
  std::size_t unknown = 0;
  for (const StoredSource& one : stored) {
    const auto labelled = [&](const Root& root) {
      return root.label.empty() || is_below(one.key, root.label);
    };
    if (!one.file.path)
      unknown += std::ranges::any_of(sources.roots, labelled) ? 1 : 0;
    else if (!one.file.path->empty() && !there.contains(*one.file.path) && is_pruned(one.file, sources))
      gone.push_back(one.key);
  }
  if (unknown > 0) {
    notes.push_back(
        fmt::format("{} not found, but not removed: an older version stored them without their folder; "
                    "`plimsoll index remove {} DOCUMENT` removes them",
                    unknown == 1 ? "1 document was" : fmt::format("{} documents were", unknown), index.name));
  }
  if (gone.empty()) return 0;
  TRY(const auto removed, documents.store().remove(index.id, gone));
  documents.compact(notes);
  return removed.size();
}

Result<std::string> note_on_deleted(Documents& documents, const IndexInfo& index, const Sources& sources) {
  TRY(const auto stored, documents.store().sources(index.id));
  std::size_t deleted = 0;
  std::string first;
  for (const StoredSource& one : stored) {
    if (!one.file.path || one.file.path->empty()) continue;
    if (!is_below_one_of(sources.roots, *one.file.path) || !is_deleted(*one.file.path)) continue;
    if (deleted++ == 0) first = printable(one.key);
  }
  if (deleted == 0) return std::string();
  if (deleted == 1)
    return fmt::format("the file of 1 document was deleted or renamed: {}; --prune removes the document",
                       first);
  return fmt::format(
      "the files of {} documents were deleted or renamed, for example {}; --prune removes the documents",
      base::with_thousands(static_cast<std::int64_t>(deleted)), first);
}

}  // namespace plimsoll

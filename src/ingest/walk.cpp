#include "ingest/walk.hpp"

#include <algorithm>
#include <system_error>
#include <vector>

#include <fmt/ranges.h>

#include "base/files.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "ingest/ignore.hpp"

namespace plimsoll::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_ignore_file = std::uint64_t{1} << 20;

// The rules of one folder, at the root, below or above it, and how paths map to it.
struct Level {
  IgnoreRules rules;
  std::string prefix;    // prefix of keys relative to this folder ("src/" for a root inside)
  std::size_t drop = 0;  // bytes of the key for this folder
};

class Patterns {
 public:
  explicit Patterns(const WalkOptions& options)
      : include_(fmt::format("{}", fmt::join(options.include, "\n"))),
        exclude_(fmt::format("{}", fmt::join(options.exclude, "\n"))),
        chosen_(!options.include.empty()) {}

  bool excludes(const std::string& key, bool is_folder) const {
    return exclude_.verdict(key, is_folder).value_or(false);
  }
  // Matches a file by its own name or by a parent folder.
  bool includes(const std::string& key) const {
    for (std::size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1))
      if (include_.verdict(key.substr(0, slash), true).value_or(false)) return true;
    return include_.verdict(key, false).value_or(false);
  }
  bool chosen() const { return chosen_; }

 private:
  IgnoreRules include_, exclude_;
  bool chosen_;
};

class Walker {
 public:
  Walker(const fs::path& root, const WalkOptions& options,
         const std::function<Result<void>(const FoundFile&)>& found,
         const std::function<void(const WalkProblem&)>& problem)
      : root_(root), options_(options), patterns_(options), found_(found), problem_(problem) {}

  Result<void> run() {
    if (options_.ignore_files) read_rules_above();
    return folder(root_, "", 0);
  }

 private:
  struct Entry {
    std::string name;
    fs::path path;
  };

  Result<void> folder(const fs::path& path, const std::string& key, std::uint32_t depth) {
    if (depth > options_.most_depth) {
      problem_({path, fmt::format("more than {} folders deep; not entered", options_.most_depth)});
      return {};
    }
    const std::size_t levels = levels_.size();
    if (options_.ignore_files) read_rules(path, "", key.size());
    for (const Entry& entry : entries_of(path)) TRY_VOID(take(entry, key + entry.name, depth));
    levels_.resize(levels, Level{.rules = IgnoreRules(""), .prefix = {}});
    return {};
  }

  std::vector<Entry> entries_of(const fs::path& path) {
    std::vector<Entry> entries;
    std::error_code error;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      std::string name = at->path().filename().string();
      if (name == ".git" || (!options_.hidden && name.starts_with('.'))) continue;
      entries.push_back({.name = std::move(name), .path = at->path()});
    }
    if (error) problem_({path, fmt::format("cannot list it: {}", error.message())});
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
    return entries;
  }

  Result<void> take(const Entry& entry, const std::string& key, std::uint32_t depth) {
    std::error_code error;
    const fs::file_status link = fs::symlink_status(entry.path, error);
    const bool is_link = !error && fs::is_symlink(link);
    const fs::file_status status = is_link ? fs::status(entry.path, error) : link;
    const bool is_folder = !error && fs::is_directory(status);
    if (is_left_out(key, is_folder && !is_link) || patterns_.excludes(key, is_folder && !is_link)) return {};
    if (!is_folder && patterns_.chosen() && !patterns_.includes(key)) return {};
    if (!base::is_valid_utf8(key)) {
      problem_({entry.path, "its name is not UTF-8"});
    } else if (is_link && status.type() == fs::file_type::not_found) {
      problem_({entry.path, "a broken link"});
    } else if (error) {
      problem_({entry.path, fmt::format("cannot check it: {}", error.message())});
    } else if (is_folder && is_link) {
      problem_({entry.path, "a link to a folder; not followed", /*skipped=*/true});
    } else if (is_folder) {
      return folder(entry.path, key + "/", depth + 1);
    } else if (!fs::is_regular_file(status)) {
      problem_({entry.path, "neither a file nor a folder", /*skipped=*/true});
    } else {
      const std::uint64_t bytes = fs::file_size(entry.path, error);
      if (error)
        problem_({entry.path, fmt::format("cannot check it: {}", error.message())});
      else
        return found_({.path = entry.path, .key = key, .bytes = bytes, .wanted = patterns_.chosen()});
    }
    return {};
  }

  // The innermost file with a matching rule decides.
  bool is_left_out(const std::string& key, bool is_folder) const {
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
      if (const auto verdict = level->rules.verdict(level->prefix + key.substr(level->drop), is_folder))
        return *verdict;
    return false;
  }

  void read_rules(const fs::path& folder, const std::string& prefix, std::size_t drop) {
    for (const char* const name : {".gitignore", ".plimsollignore"}) {
      const fs::path path = folder / name;
      std::error_code error;
      if (!fs::is_regular_file(path, error)) continue;
      const auto text = base::read_file(path, most_ignore_file);
      if (!text) {
        problem_({path, text.error().what});
        continue;
      }
      if (IgnoreRules rules(*text); !rules.empty())
        levels_.push_back({.rules = std::move(rules), .prefix = prefix, .drop = drop});
    }
  }

  // Reads rules from the folder with .git down to the parent of the root.
  void read_rules_above() {
    std::error_code error;
    const fs::path start = fs::canonical(root_, error);
    if (error) return;
    std::vector<fs::path> above;
    for (fs::path at = start; !fs::exists(at / ".git", error); at = at.parent_path()) {
      if (at == at.parent_path()) return;  // not in a repository
      above.push_back(at.parent_path());
    }
    for (auto at = above.rbegin(); at != above.rend(); ++at)
      read_rules(*at, start.lexically_relative(*at).generic_string() + "/", 0);
  }

  const fs::path& root_;
  const WalkOptions& options_;
  Patterns patterns_;
  const std::function<Result<void>(const FoundFile&)>& found_;
  const std::function<void(const WalkProblem&)>& problem_;
  std::vector<Level> levels_;
};

}  // namespace

Result<void> walk(const fs::path& root, const WalkOptions& options,
                  const std::function<Result<void>(const FoundFile&)>& found,
                  const std::function<void(const WalkProblem&)>& problem) {
  std::error_code error;
  const fs::file_status status = fs::status(root, error);
  if (status.type() == fs::file_type::not_found)
    return fail(Errc::not_found, "no such file or folder: '{}'", root.string());
  if (error) return fail(Errc::io_failed, "cannot check '{}': {}", root.string(), error.message());
  if (fs::is_directory(status)) return Walker(root, options, found, problem).run();
  if (!fs::is_regular_file(status)) {
    problem({root, "neither a file nor a folder"});
    return {};
  }
  const std::string name = root.filename().string();
  const Patterns patterns(options);
  if (patterns.excludes(name, false) || (patterns.chosen() && !patterns.includes(name))) return {};
  const std::uint64_t bytes = fs::file_size(root, error);
  if (error) return fail(Errc::io_failed, "cannot check '{}': {}", root.string(), error.message());
  return found({.path = root, .key = name, .bytes = bytes, .wanted = true});
}

}  // namespace plimsoll::ingest

#include "index/index_copy.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "index/documents.hpp"
#include "index/stores.hpp"
#include "library/copy_index.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress_bar.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

struct CopiedIndex {
  std::string name, as;
  library::IndexCopied outcome;
};

// Returns the owner of a key's private indexes in a store.
Result<std::string> owner_of(const config::Settings& settings, const std::string& key) {
  if (key.empty()) return std::string(local_owner);
  TRY(const auto keys, open_keys(settings, /*create=*/false));
  TRY(const auto all, keys->keys());
  const auto found = std::ranges::find(all, key, &ApiKey::name);
  if (found != all.end()) return found->id;
  return fail(Errc::not_found, "{} has no key '{}'; `plimsoll keys list` shows those of the settings' store",
              shown_store(settings), key);
}

Result<std::vector<IndexInfo>> chosen(Store& from, const std::string& owner,
                                      const IndexCopyOptions& options) {
  if (options.names.empty()) return from.indexes(owner);
  std::vector<IndexInfo> out;
  for (const std::string& name : options.names) {
    TRY(out.emplace_back(), from.find_index(owner, name));
  }
  return out;
}

Result<library::IndexCopied> copy_one(Store& from, const IndexInfo& source, Store& to,
                                      const library::IndexTarget& target, const IndexCopyOptions& options,
                                      const Interrupt& interrupt) {
  std::optional<ProgressBar> bar;
  return library::copy_index(
      from, source, to, target, [&](library::IndexCopyStep step, std::int64_t done, std::int64_t total) {
        const bool verifying = step == library::IndexCopyStep::verifying;
        if (!bar || done == 0)
          bar.emplace(static_cast<std::uint64_t>(total), "document", options.quiet || options.json);
        bar->show(static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(done),
                  fmt::format("{} {}", verifying ? "verifying" : "copying", printable(source.name)));
        return !interrupt.wanted();
      });
}

// Deletes the search data of an index that the copy replaced.
Result<void> remove_search_data(const config::Settings& settings, const IndexInfo& replaced) {
  TRY(const auto documents, Documents::open(settings, /*create=*/false));
  return documents->forget(replaced);
}

std::string copies_json(const std::vector<CopiedIndex>& all) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const CopiedIndex& one : all)
    out.push_back({{"index", one.name},
                   {"as", one.as},
                   {"documents", one.outcome.documents},
                   {"there", one.outcome.there},
                   {"checksum", fmt::format("{:016x}", one.outcome.checksum)},
                   {"stopped", one.outcome.stopped}});
  return base::readable_json(out);
}

std::string copies_text(const std::vector<CopiedIndex>& all) {
  if (all.empty()) return "there is no index to copy\n";
  if (all.back().outcome.stopped)
    return fmt::format("stopped in {}; the same command goes on there\n", printable(all.back().name));
  Table drawn{{"INDEX", "DOCUMENTS", "CHECKSUM"}, {false, true, false}, {}, false};
  for (const CopiedIndex& one : all)
    drawn.rows.push_back({printable(one.as), base::with_thousands(one.outcome.documents),
                          fmt::format("{:016x}", one.outcome.checksum)});
  return draw(drawn, terminal_of_stdout()) + "copied; the checksums of both sides agree\n";
}

}  // namespace

Result<int> copy_indexes(const config::Settings& settings, const IndexCopyOptions& options) {
  const config::Settings source = with_store(settings, options.from),
                         target = with_store(settings, options.to);
  if (!options.as.empty() && options.names.size() != 1)
    return fail(Errc::bad_input, "--as names the copy of one index; name that index after TO");
  if (is_same_store(source, target) && options.as.empty())
    return fail(Errc::bad_input, "FROM and TO are the same store, {}; --as gives the copy another name",
                shown_store(source));
  TRY(const auto from, open_documents(source, /*create=*/false));
  TRY(const auto to, open_documents(target, /*create=*/true));
  TRY(const std::string owner, owner_of(source, options.key));
  TRY(const std::string new_owner, owner_of(target, options.key));
  TRY(const auto wanted, chosen(*from, owner, options));
  const Interrupt interrupt;
  std::vector<CopiedIndex> all;
  for (const IndexInfo& one : wanted) {
    const library::IndexTarget into{new_owner, options.as.empty() ? one.name : options.as, options.replace};
    const auto replaced = to->find_index(into.owner, into.name);
    TRY(const library::IndexCopied outcome, copy_one(*from, one, *to, into, options, interrupt));
    all.push_back({one.name, into.name, outcome});
    if (outcome.stopped) break;
    if (replaced) TRY_VOID(remove_search_data(target, *replaced));
  }
  TRY_VOID(print_out(options.json ? copies_json(all) : copies_text(all)));
  return !all.empty() && all.back().outcome.stopped ? 130 : 0;
}

}  // namespace plimsoll

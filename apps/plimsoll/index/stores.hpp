// Opens the stores of the settings: on a PostgreSQL server if `store` names one, or else in the file
// `store_file`.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/copy/copy_tables.hpp"
#include "config/settings.hpp"
#include "plimsoll/keys.hpp"
#include "plimsoll/memory.hpp"
#include "plimsoll/sessions.hpp"
#include "plimsoll/store.hpp"
#include "plimsoll/trace.hpp"
#include "terminal/globals.hpp"

namespace plimsoll {

// Returns the settings with another store: a file, or the URL of a server. Empty: that of the settings.
config::Settings with_store(config::Settings settings, const std::string& given);
// The same as values for `--set`.
std::vector<std::string> store_assignments(const std::string& given);
// Returns the settings with a file of its own and search data beside it: for a store that is soon deleted.
config::Settings with_own_file(config::Settings settings, const std::filesystem::path& file);

// Whether the store is on a server, which other gateways may use at the same time.
bool is_shared(const config::Settings& settings);
bool is_same_store(const config::Settings& a, const config::Settings& b);
// Returns its path, or its address without user and password.
std::string shown_store(const config::Settings& settings);
// Whether it was ever used. A server always counts as used.
bool has_store(const config::Settings& settings);

// Fails if the command line names a file that does not exist. For commands that add nothing of their own to a
// store, where the name is probably mistyped.
Result<void> check_named_store(const Globals& globals, const config::Settings& settings);

// `create`: make the file if it does not exist; the tables on a server are always made.
Result<std::unique_ptr<KeyStore>> open_keys(const config::Settings& settings, bool create);
Result<std::unique_ptr<TraceStore>> open_traces(const config::Settings& settings, bool create);
Result<std::unique_ptr<SessionStore>> open_sessions(const config::Settings& settings, bool create);
Result<std::unique_ptr<FactStore>> open_facts(const config::Settings& settings, bool create);
Result<std::unique_ptr<Store>> open_documents(const config::Settings& settings, bool create);
Result<std::unique_ptr<base::TableRows>> open_tables(const config::Settings& settings, bool create);
// Returns the folder of the search data of its indexes, which may not exist yet: beside the file, or for a
// server in the cache of this machine.
Result<std::filesystem::path> index_folder(const config::Settings& settings);
// Deletes those of its subfolders whose index another gateway removed.
void remove_stale_folders(const config::Settings& settings, const std::filesystem::path& index_folder);
// Turns of gateways that share a server, for library::CollectionTools; empty if the store is a file.
std::function<Result<std::shared_ptr<const void>>(std::string_view owner, std::string_view name)> index_turns(
    const config::Settings& settings);
// Null: the limits are in memory.
Result<std::shared_ptr<LimitStore>> open_limits(const config::Settings& settings);

// Marks jobs that were running when the last server ended, unless another server still uses the store. The
// store counts as used until the result is destroyed.
Result<std::shared_ptr<const void>> take_store(const config::Settings& settings, SessionStore& sessions);

}  // namespace plimsoll

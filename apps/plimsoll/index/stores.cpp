#include "index/stores.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "adapters/postgres/address.hpp"
#include "adapters/postgres/documents.hpp"
#include "adapters/postgres/facts.hpp"
#include "adapters/postgres/index_turns.hpp"
#include "adapters/postgres/keys.hpp"
#include "adapters/postgres/limits.hpp"
#include "adapters/postgres/presence.hpp"
#include "adapters/postgres/sessions.hpp"
#include "adapters/postgres/tables.hpp"
#include "adapters/postgres/traces.hpp"
#include "adapters/sqlite/facts.hpp"
#include "adapters/sqlite/keys.hpp"
#include "adapters/sqlite/sessions.hpp"
#include "adapters/sqlite/store.hpp"
#include "adapters/sqlite/tables.hpp"
#include "adapters/sqlite/traces.hpp"
#include "base/try.hpp"
#include "serve/serve_lock.hpp"

namespace plimsoll {
namespace {

postgres::Options server_of(const config::Settings& settings) {
  postgres::Options options;
  options.url = settings.store;
  options.connections = static_cast<std::size_t>(settings.store_connections);
  return options;
}

bool is_url(const std::string& given) {
  return given.starts_with("postgres://") || given.starts_with("postgresql://");
}

}  // namespace

config::Settings with_store(config::Settings settings, const std::string& given) {
  if (given.empty()) return settings;
  settings.store = base::Secret(is_url(given) ? given : std::string());
  if (!is_url(given)) settings.store_file = given;
  return settings;
}

std::vector<std::string> store_assignments(const std::string& given) {
  if (is_url(given)) return {"store=" + given};
  return {"store=", "store_file=" + given};
}

config::Settings with_own_file(config::Settings settings, const std::filesystem::path& file) {
  settings.store_file = file;
  settings.store = {};
  settings.index_store = {};
  return settings;
}

bool is_shared(const config::Settings& settings) {
  return !settings.store.empty();
}

bool is_same_store(const config::Settings& a, const config::Settings& b) {
  if (is_shared(a) || is_shared(b)) return a.store.reveal() == b.store.reveal();
  return a.store_file == b.store_file;
}

std::string shown_store(const config::Settings& settings) {
  if (!is_shared(settings)) return settings.store_file.string();
  const auto address = postgres::read_address(settings.store);
  return address ? address->shown : "the server of the setting store";
}

bool has_store(const config::Settings& settings) {
  std::error_code none;
  return is_shared(settings) || std::filesystem::exists(settings.store_file, none);
}

Result<void> check_named_store(const Globals& globals, const config::Settings& settings) {
  const bool is_named = std::ranges::any_of(
      globals.set, [](const std::string& setting) { return setting.starts_with("store_file="); });
  if (!is_named || has_store(settings)) return {};
  return fail(Errc::not_found,
              "there is no store at {0}; `plimsoll index add NAME PATH... --store {0}` creates one",
              settings.store_file.string());
}

Result<std::unique_ptr<KeyStore>> open_keys(const config::Settings& settings, bool create) {
  if (is_shared(settings)) return postgres::open_keys(server_of(settings));
  return sqlite::open_keys(settings.store_file, {.create = create});
}

Result<std::unique_ptr<TraceStore>> open_traces(const config::Settings& settings, bool create) {
  if (is_shared(settings)) return postgres::open_traces(server_of(settings));
  return sqlite::open_traces(settings.store_file, {.create = create});
}

Result<std::unique_ptr<SessionStore>> open_sessions(const config::Settings& settings, bool create) {
  if (is_shared(settings)) return postgres::open_sessions(server_of(settings));
  return sqlite::open_sessions(settings.store_file, {.create = create});
}

Result<std::unique_ptr<FactStore>> open_facts(const config::Settings& settings, bool create) {
  if (is_shared(settings)) return postgres::open_facts(server_of(settings));
  return sqlite::open_facts(settings.store_file, {.create = create});
}

Result<std::unique_ptr<Store>> open_documents(const config::Settings& settings, bool create) {
  if (is_shared(settings)) return postgres::open_documents(server_of(settings));
  return sqlite::open_store(settings.store_file, {.create = create});
}

Result<std::unique_ptr<base::TableRows>> open_tables(const config::Settings& settings, bool create) {
  if (is_shared(settings)) return postgres::open_tables(server_of(settings));
  return sqlite::open_tables(settings.store_file, {.create = create});
}

Result<std::filesystem::path> index_folder(const config::Settings& settings) {
  if (is_shared(settings)) {
    TRY(const std::string identity, postgres::store_identity(server_of(settings)));
    return settings.index_cache_dir / identity;
  }
  std::filesystem::path folder = settings.store_file;
  folder += ".indexes";
  return folder;
}

void remove_stale_folders(const config::Settings& settings, const std::filesystem::path& index_folder) {
  if (!is_shared(settings)) return;  // who removes an index from a file removes its search data too
  // The folders first: an index that is created meanwhile is not among them.
  std::error_code ignored;
  std::map<IndexId, std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(index_folder, ignored)) {
    const std::string name = entry.path().filename().string();
    IndexId id = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), id);
    if (read.ec == std::errc() && read.ptr == name.data() + name.size()) folders[id] = entry.path();
  }
  if (folders.empty()) return;
  const auto living = postgres::index_ids(server_of(settings));
  if (!living) return;
  for (const IndexId id : *living) folders.erase(id);
  for (const auto& [id, folder] : folders) std::filesystem::remove_all(folder, ignored);
}

std::function<Result<std::shared_ptr<const void>>(std::string_view, std::string_view)> index_turns(
    const config::Settings& settings) {
  if (!is_shared(settings)) return {};
  return [turns = postgres::IndexTurns::make(server_of(settings))](
             std::string_view owner, std::string_view name) { return turns->take(owner, name); };
}

Result<std::shared_ptr<LimitStore>> open_limits(const config::Settings& settings) {
  if (!is_shared(settings)) return nullptr;
  TRY(auto limits, postgres::open_limits(server_of(settings)));
  return std::shared_ptr<LimitStore>(std::move(limits));
}

Result<std::shared_ptr<const void>> take_store(const config::Settings& settings, SessionStore& sessions) {
  if (is_shared(settings)) {
    TRY(auto presence, postgres::Presence::take(server_of(settings)));
    if (presence->is_alone()) TRY_VOID(sessions.interrupt_runs());
    TRY_VOID(presence->share());
    return std::shared_ptr<const void>(std::move(presence));
  }
  TRY(ServeLock lock, ServeLock::take(settings.store_file));
  if (lock.is_alone()) TRY_VOID(sessions.interrupt_runs());
  TRY_VOID(lock.share());
  return std::make_shared<const ServeLock>(std::move(lock));
}

}  // namespace plimsoll

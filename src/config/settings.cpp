#include "config/settings.hpp"

#include "base/try.hpp"

namespace plimsoll::config {
namespace {

// A release brings its data in PREFIX/share/plimsoll, next to PREFIX/bin/plimsoll. Empty: this is no release.
std::filesystem::path shipped_folder() {
  std::error_code none;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
  const std::filesystem::path folder = program.parent_path().parent_path() / "share" / "plimsoll";
  return std::filesystem::is_directory(folder / "assets", none) ? folder : std::filesystem::path();
}

}  // namespace

base::SettingList all_settings() {
  static const std::vector<base::Setting> all = [] {
    std::vector<base::Setting> together;
    for (const base::SettingList part :
         {models::model_settings(), budget::passage_settings(), library::document_settings(),
          conversation::history_settings(), models::embedded_settings(), gateway::gateway_settings(),
          memory::memory_settings(), ledger::trace_settings(), count::tokenizer_settings(),
          base::log_settings()})
      together.insert(together.end(), part.begin(), part.end());
    return together;
  }();
  return all;
}

const base::Setting* find_setting(std::string_view key) {
  return base::find_setting(all_settings(), key);
}

Result<std::vector<const base::Setting*>> select_settings(std::span<const std::string> keys) {
  return base::select_settings(all_settings(), keys);
}

Result<Settings> resolve_settings(const base::SettingSources& sources) {
  Settings settings;
  settings.store_file = base::data_folder(sources.environment) / "store.db";
  settings.default_vector_db_persist_dir = base::data_folder(sources.environment) / "storage";
  settings.assets_dir = base::cache_folder(sources.environment) / "assets";
  if (!sources.shipped.empty()) settings.assets_dir = sources.shipped / "assets";
  settings.models_dir = base::cache_folder(sources.environment) / "models";
  settings.index_cache_dir = base::cache_folder(sources.environment) / "indexes";
  settings.tokenizer_dir = base::cache_folder(sources.environment) / "tokenizers";
  TRY_VOID(base::apply(settings, all_settings(), sources));
  TRY_VOID(budget::check(settings, settings));
  return settings;
}

Result<Settings> load_settings(const std::filesystem::path& config_file,
                               std::span<const std::string> assignments) {
  TRY(base::SettingSources sources, base::read_sources(config_file, assignments));
  sources.shipped = shipped_folder();
  return resolve_settings(sources);
}

}  // namespace plimsoll::config

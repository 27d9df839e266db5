#include "model/weights.hpp"

#include <algorithm>

#include <toml++/toml.h>

#include "base/paths.hpp"
#include "base/try.hpp"
#include "data/assets_toml.hpp"
#include "index/documents.hpp"
#include "model/model_sources.hpp"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

std::string word_at(const toml::table& table, std::string_view key) {
  return table[key].value_or(std::string());
}

// The files of an asset, there or not.
std::vector<WeightsFile> asset_weights(const config::Settings& settings, std::string_view asset) {
  const toml::table manifest = toml::parse(data::assets_toml);
  std::vector<WeightsFile> files;
  const toml::array* assets = manifest["asset"].as_array();
  for (std::size_t i = 0; assets != nullptr && i < assets->size(); ++i) {
    const toml::table* entry = assets->get_as<toml::table>(i);
    if (entry == nullptr || word_at(*entry, "name") != asset) continue;
    const std::string group = word_at(*entry, "group");
    const toml::array* listed = (*entry)["files"].as_array();
    for (std::size_t k = 0; listed != nullptr && k < listed->size(); ++k) {
      const toml::table* file = listed->get_as<toml::table>(k);
      if (file == nullptr) continue;
      const std::string as = word_at(*file, "as");
      const fs::path name = as.empty() ? fs::path(word_at(*file, "path")).filename() : fs::path(as);
      files.push_back({std::string(asset), settings.assets_dir / asset / name, word_at(*file, "sha256"),
                       "tools/setup " + (group.empty() ? "assets" : group)});
    }
  }
  return files;
}

WeightsFile model_weights(const ModelSource& source, fs::path file) {
  return {source.name, std::move(file), source.sha256, "plimsoll model get " + source.name};
}

}  // namespace

Result<std::vector<WeightsFile>> weights_in_use(const config::Settings& settings) {
  const auto is_chosen = [&](std::string_view name) {
    return std::ranges::find(settings.embedders, name) != settings.embedders.end();
  };
  std::vector<WeightsFile> files;
  if (is_chosen(builtin_embedder)) files = asset_weights(settings, builtin_embedder);
  TRY(const std::vector<ModelSource> sources, model_sources(settings));
  for (const ModelSource& source : sources) {
    if (source.embeds && !is_chosen(source.name)) continue;
    if (fs::path file = installed_file(settings, source); !file.empty())
      files.push_back(model_weights(source, std::move(file)));
  }
  return files;
}

Result<void> check_asset(const config::Settings& settings, std::string_view asset) {
  for (const WeightsFile& file : asset_weights(settings, asset)) {
    std::error_code none;
    if (fs::exists(file.path, none)) TRY_VOID(check_weights(file, base::Checking::if_changed));
  }
  return {};
}

Result<void> check_model(const config::Settings& settings, std::string_view name) {
  TRY(const std::vector<ModelSource> sources, model_sources(settings));
  const auto source = std::ranges::find(sources, name, &ModelSource::name);
  if (source == sources.end()) return {};
  fs::path file = installed_file(settings, *source);
  if (file.empty()) return {};
  return check_weights(model_weights(*source, std::move(file)), base::Checking::if_changed);
}

Result<void> check_weights(const WeightsFile& file, base::Checking checking) {
  if (file.sha256.empty()) return {};
  const fs::path notes = base::cache_folder(base::current_environment()) / "checked";
  auto checked = base::check_file(file.path, file.sha256, notes, checking);
  if (checked || checked.error().code != Errc::damaged) return checked;
  return fail(Errc::damaged, "{}. Delete it and run `{}`", checked.error().what, file.command);
}

}  // namespace plimsoll

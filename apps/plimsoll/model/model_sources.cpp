#include "model/model_sources.hpp"

#include <algorithm>
#include <map>

#include <toml++/toml.h>

#include "base/files.hpp"
#include "base/try.hpp"
#include "data/assets_toml.hpp"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

std::string text_at(const toml::table& table, std::string_view key) {
  return table[key].value_or(std::string());
}

std::uint64_t number_at(const toml::table& table, std::string_view key) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(table[key].value_or(std::int64_t{0}), 0));
}

std::vector<const toml::table*> tables_in(const toml::table& table, std::string_view key) {
  std::vector<const toml::table*> tables;
  const toml::array* list = table[key].as_array();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
    if (const toml::table* entry = list->get_as<toml::table>(i)) tables.push_back(entry);
  return tables;
}

// A model whose file set-up downloads: the entry of that asset has the package and the checksum.
void take_asset(ModelSource& model, const toml::table& asset) {
  model.licence = text_at(asset, "upstream");
  for (const toml::table* file : tables_in(asset, "files")) {
    const fs::path path = text_at(*file, "path");
    if (path.extension() != ".gguf") continue;
    model.file = path.filename().string();
    model.bytes = number_at(*file, "bytes");
    model.sha256 = text_at(*file, "sha256");
    model.parts = {{text_at(asset, "package"), text_at(asset, "version"), path.string(), model.bytes,
                    number_at(asset, "download_bytes"), model.sha256}};
  }
}

void take_parts(ModelSource& model, const toml::table& entry) {
  model.file = text_at(entry, "file");
  model.bytes = number_at(entry, "bytes");
  model.sha256 = text_at(entry, "sha256");
  model.licence = text_at(entry, "upstream");
  for (const toml::table* part : tables_in(entry, "parts"))
    model.parts.push_back({text_at(*part, "package"), text_at(entry, "version"), text_at(*part, "path"),
                           number_at(*part, "bytes"), number_at(*part, "download_bytes"),
                           text_at(*part, "sha256")});
}

bool is_word(std::string_view text) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:+";
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos && text.front() != '-' &&
         text.front() != '.';
}

// Names go into command lines and paths.
Result<void> check(const ModelSource& model, std::string_view where) {
  const auto wrong = [&](std::string_view what) {
    return fail(Errc::bad_setting, "model '{}' in {}: {}", model.name, where, what);
  };
  if (!is_word(model.name)) return wrong("`name` must be letters, digits, '-', '_', '.' and ':'");
  if (!is_word(model.file) || (!model.embeds && !model.file.ends_with(".gguf")))
    return wrong("`file` must be the name of a .gguf file, without a folder");
  if (model.sha256.size() != 64 || model.bytes == 0) return wrong("`bytes` and `sha256` are missing");
  if (model.parts.empty()) return wrong("it has no `parts`");
  std::uint64_t bytes = 0;
  for (const ModelPart& part : model.parts) {
    if (!is_word(part.package) || !is_word(part.version) || part.path.empty() || part.bytes == 0 ||
        part.sha256.size() != 64)
      return wrong("a part needs `package`, `version`, `path`, `bytes` and `sha256`");
    bytes += part.bytes;
  }
  if (bytes != model.bytes)
    return wrong(fmt::format("its parts have {} bytes, but `bytes` is {}", bytes, model.bytes));
  return {};
}

}  // namespace

std::uint64_t ModelSource::download_bytes() const {
  std::uint64_t sum = 0;
  for (const ModelPart& part : parts) sum += std::max(part.download_bytes, std::uint64_t{1});
  return sum;
}

Result<std::vector<ModelSource>> read_model_sources(std::string_view toml, std::string_view where) {
  toml::table manifest;
  try {
    manifest = toml::parse(toml);
  } catch (const toml::parse_error& error) {
    return fail(Errc::bad_setting, "{}: {}", where, error.description());
  }
  std::map<std::string, const toml::table*> assets;
  for (const toml::table* asset : tables_in(manifest, "asset")) assets[text_at(*asset, "name")] = asset;
  std::vector<ModelSource> models;
  for (const toml::table* entry : tables_in(manifest, "model")) {
    ModelSource model;
    model.name = text_at(*entry, "name");
    model.window = static_cast<std::int64_t>(number_at(*entry, "window"));
    model.tools = (*entry)["tools"].value_or(false);
    model.purpose = text_at(*entry, "purpose");
    model.embeds = text_at(*entry, "kind") == "embedder";
    model.asset = text_at(*entry, "asset");
    if (const auto asset = assets.find(model.asset); asset != assets.end())
      take_asset(model, *asset->second);
    else
      take_parts(model, *entry);
    TRY_VOID(check(model, where));
    models.push_back(std::move(model));
  }
  return models;
}

Result<std::vector<ModelSource>> model_sources(const config::Settings& settings) {
  constexpr std::uint64_t limit_bytes = 16U << 20;
  TRY(std::vector<ModelSource> models, read_model_sources(data::assets_toml, "data/assets.toml"));
  if (settings.model_sources_file.empty()) return models;
  TRY(const std::string text, base::read_file(settings.model_sources_file, limit_bytes));
  TRY(std::vector<ModelSource> own, read_model_sources(text, settings.model_sources_file.string()));
  for (ModelSource& model : own) {
    std::erase_if(models, [&](const ModelSource& one) { return one.name == model.name; });
    models.push_back(std::move(model));
  }
  return models;
}

fs::path installed_file(const config::Settings& settings, const ModelSource& source) {
  std::vector<fs::path> places{settings.models_dir / source.file};
  if (!source.asset.empty()) places.insert(places.begin(), settings.assets_dir / source.asset / source.file);
  for (const fs::path& place : places) {
    std::error_code none;
    if (fs::file_size(place, none) == source.bytes && !none) return place;
  }
  return {};
}

std::vector<InstalledModel> installed_models(const config::Settings& settings,
                                             const std::vector<ModelSource>& sources) {
  std::vector<InstalledModel> models;
  std::vector<fs::path> named;
  for (const ModelSource& source : sources) {
    named.push_back(settings.models_dir / source.file);
    if (source.embeds) continue;
    // The tokenizer of an asset was compiled from this very file.
    if (fs::path file = installed_file(settings, source); !file.empty())
      models.push_back({source.name, std::move(file), source.asset, source.sha256});
  }
  std::error_code none;
  std::vector<fs::path> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(settings.models_dir, none))
    if (entry.path().extension() == ".gguf" && entry.path().filename().string().front() != '.' &&
        std::ranges::find(named, entry.path()) == named.end())
      others.push_back(entry.path());
  std::ranges::sort(others);
  for (const fs::path& file : others) models.push_back({file.stem().string(), file, {}, {}});
  return models;
}

}  // namespace plimsoll

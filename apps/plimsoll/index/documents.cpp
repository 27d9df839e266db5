#include "index/documents.hpp"

#include <algorithm>

#include "adapters/embed_http/embedder.hpp"
#include "adapters/llama/text_embedder.hpp"
#include "adapters/onnx/embedder.hpp"
#include "adapters/weaviate/index.hpp"
#include "base/try.hpp"
#include "index/stores.hpp"
#include "library/check_index.hpp"
#include "model/model_sources.hpp"
#include "model/weights.hpp"
#include "serve/find_window.hpp"

namespace plimsoll {

Documents::Documents(const config::Settings& settings, std::unique_ptr<Store> store,
                     std::filesystem::path folder)
    : settings_(settings),
      tokenizers_(settings.assets_dir, settings.tokenizer_dir),
      store_(std::move(store)),
      folder_(std::move(folder)),
      turns_(index_turns(settings)),
      http_("plimsoll/" PLIMSOLL_VERSION, trusted_certificates(), {.body_limit_bytes = 64'000'000}) {}

Result<std::unique_ptr<search::SnapshotIndex>> Documents::derived(const IndexInfo& info) {
  remove_stale_folders(settings_, folder_);
  search::OpenOptions options;
  options.folder = folder_of(info);
  return search::open_index(*store_, info, options);
}

Result<std::unique_ptr<Index>> Documents::opened(const IndexInfo& info) {
  if (has_index_store(settings_)) {
    TRY(auto options, index_store_for(settings_, folder_, info, turns_));
    return weaviate::open_index(http_, *store_, info, options);
  }
  TRY(auto index, derived(info));
  return std::unique_ptr<Index>(std::move(index));
}

Result<std::unique_ptr<Documents>> Documents::open(const config::Settings& settings, bool create) {
  TRY(auto store, open_documents(settings, create));
  TRY(auto folder, index_folder(settings));
  return std::unique_ptr<Documents>(new Documents(settings, std::move(store), std::move(folder)));
}

Result<Embedder*> Documents::embedder(const std::string& name) {
  const std::lock_guard lock(making_);
  const auto known = embedders_.find(name);
  if (known != embedders_.end()) return known->second.get();
  const bool is_remote = name != builtin_embedder && name != multilingual_embedder;
  TRY(auto made, is_remote                  ? remote_embedder(name)
                 : name == builtin_embedder ? minilm_embedder()
                                            : e5_embedder());
  return keep(name, std::move(made), is_remote);
}

Result<std::unique_ptr<Embedder>> Documents::minilm_embedder() const {
  const std::string name(builtin_embedder);
  const auto assets = settings_.assets_dir;
  TRY_VOID(check_asset(settings_, name));
  TRY(auto tokenizer, tokenizers_.open_file(assets / name / "tokenizer.json"));
  return onnx::make_embedder({.library = assets / "onnxruntime" / "libonnxruntime.so",
                              .model = assets / name / "model.onnx",
                              .tokenizer = std::move(tokenizer),
                              .info = {.name = name, .dimensions = 384, .max_tokens = 256},
                              .threads = static_cast<unsigned>(settings_.embed_threads)});
}

std::vector<std::string> Documents::own_embedders() const {
  std::vector<std::string> names{std::string(builtin_embedder)};
  const auto file = e5_file();
  if ((file && !file->empty()) || std::ranges::count(settings_.embedders, multilingual_embedder) > 0)
    names.emplace_back(multilingual_embedder);
  return names;
}

Result<std::filesystem::path> Documents::e5_file() const {
  TRY(const std::vector<ModelSource> sources, model_sources(settings_));
  const auto source = std::ranges::find(sources, multilingual_embedder, &ModelSource::name);
  return source == sources.end() ? std::filesystem::path() : installed_file(settings_, *source);
}

Result<std::unique_ptr<Embedder>> Documents::e5_embedder() const {
  const std::string name(multilingual_embedder);
  TRY(const std::filesystem::path file, e5_file());
  if (file.empty())
    return fail(Errc::not_found, "the embedder {0} is not in {1}; `plimsoll model get {0}` downloads it",
                name, settings_.models_dir.string());
  TRY_VOID(check_model(settings_, name));
  TRY(auto tokenizer, tokenizers_.open_file(file));
  return llama::make_text_embedder({.file = file,
                                    .tokenizer = std::move(tokenizer),
                                    .info = {.name = name, .dimensions = 384, .max_tokens = 512},
                                    .threads = static_cast<unsigned>(settings_.embed_threads)});
}

Embedder* Documents::keep(const std::string& name, std::unique_ptr<Embedder> made, bool remote) {
  auto watched = std::make_unique<WatchedEmbedder>(std::move(made), remote, watch_);
  return embedders_.emplace(name, std::move(watched)).first->second.get();
}

Result<std::unique_ptr<Embedder>> Documents::remote_embedder(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string kind = name.substr(0, colon);
  const bool ollama = kind == "ollama";
  if (colon == std::string::npos || colon + 1 == name.size() || (!ollama && kind != "openai")) {
    return fail(Errc::not_found, "unknown embedder '{}'; use {}, {}, ollama:MODEL or openai:MODEL", name,
                builtin_embedder, multilingual_embedder);
  }
  if (!ollama && settings_.llm_inference_url.empty())
    return fail(Errc::bad_setting, "the embedder '{}' needs a server: set llm_inference_url", name);
  TRY(const auto server, upstream_for(settings_, {}, kind));
  return embed_http::make_embedder(
      http_,
      {.dialect = ollama ? embed_http::Dialect::ollama : embed_http::Dialect::openai,
       .root = server->root,
       .shown = server->shown,
       .model = name.substr(colon + 1),
       .name = name,
       .key = server->key},
      Deadline::after(std::chrono::seconds(60)));
}

Result<std::vector<Embedder*>> Documents::embedders_of(const IndexInfo& info) {
  std::vector<Embedder*> out;
  for (const EmbedderInfo& wanted : info.settings.embedders) {
    TRY(Embedder * found, embedder(wanted.name));
    if (found->info() != wanted) {
      return fail(
          Errc::bad_input,
          "index '{}' has vectors of {} dimensions from '{}', which now returns {}: create a new index",
          info.name, wanted.dimensions, wanted.name, found->info().dimensions);
    }
    out.push_back(found);
  }
  return out;
}

Result<Documents::Searchable> Documents::open_index(std::string_view name, std::string_view owner) {
  TRY(auto info, store_->find_index(owner, name));
  TRY(auto index, opened(info));
  std::vector<std::string> notes;
  std::vector<Embedder*> embedders;
  for (const EmbedderInfo& wanted : info.settings.embedders) {
    auto found = embedder(wanted.name);
    if (found && (*found)->info() == wanted) {
      embedders.push_back(*found);
    } else {
      embedders.push_back(nullptr);
      if (!found) notes.push_back(found.error().what);
    }
  }
  library::OpenIndex open{std::move(info), *store_, chunks_, *index, std::move(embedders)};
  return Searchable{std::move(index), std::move(open), std::move(notes)};
}

Result<void> Documents::snapshot(const IndexInfo& info) {
  if (has_index_store(settings_)) {
    TRY(const auto index, opened(info));
    return {};
  }
  TRY(auto index, derived(info));
  return index->snapshot();
}

Result<void> Documents::forget(const IndexInfo& info) {
  std::error_code error;
  std::filesystem::remove_all(folder_of(info), error);
  if (error) return fail(Errc::io_failed, "{}: {}", folder_of(info).string(), error.message());
  if (!has_index_store(settings_)) return {};
  TRY(const auto options, index_store_for(settings_, folder_, info, turns_));
  return weaviate::remove_index(http_, info, options);
}

void Documents::compact(std::vector<std::string>& notes) {
  if (const auto done = store_->compact(); !done)
    notes.push_back(fmt::format("the store was not compacted: {}", done.error().what));
}

Result<std::vector<std::string>> Documents::verify(const IndexInfo& info) {
  TRY(auto faults, store_->verify(info.id));
  if (!faults.empty()) return faults;
  TRY(const auto index, opened(info));
  TRY(auto derived, library::check_index(*store_, info, *index));
  return derived;
}

std::filesystem::path Documents::folder_of(const IndexInfo& info) const {
  return folder_ / std::to_string(info.id);
}

}  // namespace plimsoll

#include "serve/serve_collections.hpp"

#include "base/log.hpp"
#include "base/try.hpp"
#include "index/index_settings.hpp"
#include "index/index_snapshot.hpp"
#include "index/stores.hpp"

namespace plimsoll {
namespace {

Result<IndexSettings> settings_of_new(const config::Settings& settings, Documents& documents) {
  IndexSettings made;
  made.chunk_tokens = settings.chunk_tokens;
  std::vector<std::string> notes;
  TRY(made.embedders, usual_embedders(settings, documents, notes));
  for (const std::string& note : notes) log::warning("an index without vectors", {{"why", note}});
  return made;
}

}  // namespace

library::CollectionTools collection_tools(const config::Settings& settings, Documents& documents,
                                          library::OpenIndexes& open_indexes) {
  return {open_indexes,
          documents.tokenizers(),
          [&settings, &documents] { return settings_of_new(settings, documents); },
          [&documents](const IndexInfo& info) { return documents.embedders_of(info); },
          [&documents](const IndexInfo& gone) {
            if (const auto done = documents.forget(gone); !done)
              log::warning("the search data of a removed index was left behind",
                           {{"index", gone.name}, {"reason", done.error().what}});
          },
          static_cast<std::uint64_t>(settings.max_document_bytes),
          index_turns(settings)};
}

gateway::KaitoContext kaito_context(const config::Settings& settings, Documents& documents,
                                    library::Collections& collections) {
  gateway::KaitoContext context;
  context.collections = &collections;
  context.snapshots = settings.default_vector_db_persist_dir;
  context.save = [&documents](const IndexInfo& info, const std::filesystem::path& folder) {
    return save_index(documents.store(), info, folder);
  };
  context.load = [&documents](const std::filesystem::path& folder, std::string_view owner,
                              std::string_view name) {
    return load_index(documents.store(), folder, owner, name);
  };
  context.most_nodes = settings.rag_max_top_k;
  context.compat = settings.kaito_compat;
  return context;
}

}  // namespace plimsoll

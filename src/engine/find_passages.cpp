#include "engine/find_passages.hpp"

#include "base/try.hpp"

namespace plimsoll::engine {

std::vector<std::vector<float>> query_vectors(const OpenIndex& open, std::string_view query,
                                              Deadline deadline, std::vector<std::string>& notes) {
  std::vector<std::vector<float>> vectors(open.info.settings.embedders.size());
  for (std::size_t e = 0; e < vectors.size(); ++e) {
    Embedder* embedder = e < open.embedders.size() ? open.embedders[e] : nullptr;
    if (embedder == nullptr) {
      notes.push_back(fmt::format("searched by words alone: the embedder '{}' is not at hand",
                                  open.info.settings.embedders[e].name));
      continue;
    }
    auto vector = embedder->embed_query(query, deadline);
    if (vector) {
      vectors[e] = *std::move(vector);
    } else {
      notes.push_back(fmt::format("searched by words alone: {}", vector.error().what));
    }
  }
  if (vectors.empty()) notes.emplace_back("searched by words alone: the index has no embedder");
  return vectors;
}

Result<Evidence> find_evidence(const OpenIndex& open, std::string_view query,
                               const retrieve::GatherOptions& options, Deadline deadline) {
  std::vector<std::string> notes;
  const std::string in_context =
      options.context_weight > 0 ? options.context + "\n" + std::string(query) : std::string(query);
  const auto vectors = query_vectors(open, in_context, deadline, notes);
  TRY(auto evidence,
      retrieve::gather(open.store, open.chunks, open.info, open.index, query, vectors, options));
  evidence.notes.insert(evidence.notes.end(), notes.begin(), notes.end());
  return evidence;
}

Result<void> locate(const OpenIndex& open, Selection& selection) {
  for (SelectedPassage& passage : selection.passages) {
    TRY(const auto origins, open.chunks.origins(open.info.id, passage.document));
    passage.source = source_span(*origins, passage.span);
  }
  return {};
}

}  // namespace plimsoll::engine

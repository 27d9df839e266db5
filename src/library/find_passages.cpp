#include "library/find_passages.hpp"

#include <algorithm>
#include <map>

#include "base/try.hpp"
#include "retrieve/question_parts.hpp"

namespace plimsoll::library {
namespace {

// The weight of the other parts' words for a part that names its subject (docs/search.md).
constexpr float rest_of_question = 0.1F;

}  // namespace

std::vector<std::vector<float>> query_vectors(const OpenIndex& open, std::string_view query,
                                              Deadline deadline, std::vector<std::string>& notes) {
  std::vector<std::vector<float>> vectors(open.info.settings.embedders.size());
  for (std::size_t e = 0; e < vectors.size(); ++e) {
    Embedder* embedder = e < open.embedders.size() ? open.embedders[e] : nullptr;
    if (embedder == nullptr) {
      notes.push_back(fmt::format("searched by words alone: the embedder '{}' is not available",
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

namespace {

// Returns the views of a query: one, or one for each of its parts.
std::vector<retrieve::QueryView> views_of(const OpenIndex& open, std::string_view query,
                                          const retrieve::GatherOptions& options, Deadline deadline,
                                          std::vector<std::string>& notes) {
  std::vector<retrieve::QuestionPart> parts{{std::string(query), 0}};
  if (options.parts) parts = retrieve::parts_of(query);
  std::vector<retrieve::QueryView> views;
  for (retrieve::QuestionPart& part : parts) {
    // A part that names no subject is compared together with the others.
    const std::string_view own = part.dependence > 0 ? query : std::string_view(part.text);
    const std::string text =
        options.context_weight > 0 ? options.context + "\n" + std::string(own) : std::string(own);
    std::vector<std::string> said;
    auto vectors = query_vectors(open, text, deadline, said);
    for (std::string& note : said)
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
    views.push_back({std::move(part.text), std::move(vectors), std::max(part.dependence, rest_of_question)});
  }
  return views;
}

}  // namespace

Result<Evidence> find_evidence(const OpenIndex& open, std::string_view query,
                               const retrieve::GatherOptions& options, Deadline deadline) {
  std::vector<std::string> notes;
  const auto views = views_of(open, query, options, deadline, notes);
  TRY(auto evidence,
      retrieve::gather(open.store, open.chunks, open.info, open.index, query, std::span(views), options));
  evidence.notes.insert(evidence.notes.end(), notes.begin(), notes.end());
  return evidence;
}

namespace {

// Finds line numbers for the passages of one document whose text is its file.
Result<void> find_lines(const OpenIndex& open, DocumentId document,
                        std::span<SelectedPassage* const> passages) {
  std::vector<std::uint64_t> bytes;
  for (const SelectedPassage* passage : passages) {
    bytes.push_back(passage->span.start);
    bytes.push_back(std::max(passage->span.start, passage->span.end - 1));
  }
  std::ranges::sort(bytes);
  auto known = open.store.lines(document, bytes);
  if (!known && known.error().code == Errc::not_found) return {};  // it was removed or replaced meanwhile
  TRY(const auto lines, std::move(known));
  const auto line_of = [&](std::uint64_t byte) {
    return lines[static_cast<std::size_t>(std::ranges::lower_bound(bytes, byte) - bytes.begin())];
  };
  for (SelectedPassage* passage : passages) {
    passage->first_line = line_of(passage->span.start);
    passage->last_line = line_of(std::max(passage->span.start, passage->span.end - 1));
  }
  return {};
}

}  // namespace

Result<void> locate(const OpenIndex& open, Selection& selection) {
  std::map<DocumentId, std::vector<SelectedPassage*>> in_files;
  for (SelectedPassage& passage : selection.passages) {
    auto known = open.chunks.origins(open.info.id, passage.document);
    if (!known && known.error().code == Errc::not_found) continue;  // it was removed or replaced meanwhile
    TRY(const auto origins, std::move(known));
    passage.source = source_span(*origins, passage.span);
    if (passage.addressable && origins->empty()) in_files[passage.document].push_back(&passage);
  }
  for (const auto& [document, passages] : in_files) TRY_VOID(find_lines(open, document, passages));
  return {};
}

}  // namespace plimsoll::library

#include "ingest/embed.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "base/try.hpp"
#include "ingest/vectors.hpp"

namespace plimsoll::ingest {
namespace {

using Known = std::unordered_map<std::string_view, PackedSentence>;  // by the sentence's text

std::string_view text_of(const Document& document, const Sentence& sentence) {
  return std::string_view(document.text).substr(sentence.span.start, sentence.span.size());
}

Known known_sentences(std::span<const DocumentWithVectors> documents, std::size_t embedder) {
  Known out;
  for (const DocumentWithVectors& each : documents) {
    for (std::size_t c = 0; c < each.document.chunks.size(); ++c) {
      const Chunk& chunk = each.document.chunks[c];
      for (std::size_t i = 0; i < chunk.sentences.size(); ++i) {
        const PackedVector packed = each.vectors[embedder][c].sentence(i);
        out.try_emplace(text_of(each.document, chunk.sentences[i]),
                        PackedSentence{packed.scale, {packed.values.begin(), packed.values.end()}});
      }
    }
  }
  return out;
}

// A call of the embedder should take about a second: long enough to keep all cores busy, short enough to
// react to Ctrl-C. The first call has few texts, the next one twice as many if it was
// fast.
constexpr std::size_t first_texts = 64, most_texts = 4096;
constexpr std::chrono::milliseconds quick_call{500};
// A slow machine or server embeds about ten sentences per second.
constexpr std::chrono::minutes embed_patience{10};

Result<void> embed_some(std::span<const std::string_view> texts, Embedder& embedder, Known& known) {
  TRY(const auto vectors, embedder.embed(texts, Deadline::after(embed_patience)));
  const std::size_t dimensions = embedder.info().dimensions;
  if (vectors.size() != texts.size() * dimensions) {
    return fail(Errc::upstream_failed, "the embedder '{}' returned {} numbers for {} texts of {} dimensions",
                embedder.info().name, vectors.size(), texts.size(), dimensions);
  }
  for (std::size_t i = 0; i < texts.size(); ++i)
    known[texts[i]] = pack(std::span(vectors).subspan(i * dimensions, dimensions));
  return {};
}

// Embeds unknown texts, each once even if it is repeated.
Result<void> add_unknown(std::span<const Document> documents, Embedder& embedder, Known& known,
                         std::size_t embedders_left, EmbedProgress& progress, const KeepGoing& keep_going) {
  std::vector<std::string_view> texts;
  for (const Document& document : documents) {
    for (const Chunk& chunk : document.chunks) {
      for (const Sentence& sentence : chunk.sentences) {
        const std::string_view text = text_of(document, sentence);
        if (known.try_emplace(text).second) texts.push_back(text);
      }
    }
  }
  progress.total = progress.done + texts.size() * embedders_left;
  const auto stop = [&](std::size_t more) {
    progress.more = more;
    progress.done += more;
    return !keep_going(progress);
  };
  std::size_t done = 0, most = first_texts;
  for (auto rest = std::span<const std::string_view>(texts); !rest.empty(); rest = rest.subspan(done)) {
    if (stop(done)) return fail(Errc::timed_out, "stopped");
    done = std::min(most, rest.size());
    const auto began = std::chrono::steady_clock::now();
    TRY_VOID(embed_some(rest.first(done), embedder, known));
    if (std::chrono::steady_clock::now() - began < quick_call) most = std::min(2 * most, most_texts);
  }
  if (stop(done)) return fail(Errc::timed_out, "stopped");
  return {};
}

}  // namespace

Result<std::vector<DocumentWithVectors>> embed_documents(std::vector<Document> documents,
                                                         std::span<Embedder* const> embedders,
                                                         std::span<const DocumentWithVectors> known,
                                                         const KeepGoing& keep_going) {
  std::vector<DocumentWithVectors> out(documents.size());
  for (DocumentWithVectors& each : out) each.vectors.resize(embedders.size());
  EmbedProgress progress;
  for (std::size_t e = 0; e < embedders.size(); ++e) {
    Known vectors = known_sentences(known, e);
    TRY_VOID(add_unknown(documents, *embedders[e], vectors, embedders.size() - e, progress, keep_going));
    for (std::size_t i = 0; i < documents.size(); ++i) {
      for (const Chunk& chunk : documents[i].chunks) {
        std::vector<const PackedSentence*> sentences;
        for (const Sentence& sentence : chunk.sentences)
          sentences.push_back(&vectors.at(text_of(documents[i], sentence)));
        out[i].vectors[e].push_back(chunk_vectors(chunk, sentences, embedders[e]->info().dimensions));
      }
    }
  }
  for (std::size_t i = 0; i < documents.size(); ++i) out[i].document = std::move(documents[i]);
  return out;
}

}  // namespace plimsoll::ingest

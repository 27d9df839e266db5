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

// Each call of the embedder has so many texts at most: their vectors are 6 MB before they are packed.
constexpr std::size_t texts_per_call = 4096;
// A slow machine or server embeds some ten sentences a second.
constexpr std::chrono::minutes embed_patience{10};

Result<void> embed_some(std::span<const std::string_view> texts, Embedder& embedder, Known& known) {
  TRY(const auto vectors, embedder.embed(texts, Deadline::after(embed_patience)));
  const std::size_t dimensions = embedder.info().dimensions;
  if (vectors.size() != texts.size() * dimensions) {
    return fail(Errc::upstream_failed, "the embedder '{}' gave {} numbers for {} texts of {} dimensions",
                embedder.info().name, vectors.size(), texts.size(), dimensions);
  }
  for (std::size_t i = 0; i < texts.size(); ++i)
    known[texts[i]] = pack(std::span(vectors).subspan(i * dimensions, dimensions));
  return {};
}

// Embeds what is not known yet, each text once, however often it stands there.
Result<void> add_unknown(std::span<const Document> documents, Embedder& embedder, Known& known,
                         const KeepGoing& keep_going) {
  std::vector<std::string_view> texts;
  for (const Document& document : documents) {
    for (const Chunk& chunk : document.chunks) {
      for (const Sentence& sentence : chunk.sentences) {
        const std::string_view text = text_of(document, sentence);
        if (known.try_emplace(text).second) texts.push_back(text);
      }
    }
  }
  std::size_t done = 0;
  for (auto rest = std::span<const std::string_view>(texts); !rest.empty(); rest = rest.subspan(done)) {
    if (!keep_going(done)) return fail(Errc::timed_out, "stopped");
    done = std::min(texts_per_call, rest.size());
    TRY_VOID(embed_some(rest.first(done), embedder, known));
  }
  if (!keep_going(done)) return fail(Errc::timed_out, "stopped");
  return {};
}

}  // namespace

Result<std::vector<DocumentWithVectors>> embed_documents(std::vector<Document> documents,
                                                         std::span<Embedder* const> embedders,
                                                         std::span<const DocumentWithVectors> known,
                                                         const KeepGoing& keep_going) {
  std::vector<DocumentWithVectors> out(documents.size());
  for (DocumentWithVectors& each : out) each.vectors.resize(embedders.size());
  for (std::size_t e = 0; e < embedders.size(); ++e) {
    Known vectors = known_sentences(known, e);
    TRY_VOID(add_unknown(documents, *embedders[e], vectors, keep_going));
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

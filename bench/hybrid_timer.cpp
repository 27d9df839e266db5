// Times a whole question to a large index: words and vectors, the sentences around, selection into a budget.
// The question's own embedding is not part of it. `make bench-search` runs it.
//
//   hybrid_timer PASSAGES QUERIES VECTORS.bf16 COUNT FOLDER
//
// FOLDER keeps the store between runs. Every sentence of a passage has the passage's vector. Prints one line
// of JSON.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>

#include "adapters/sqlite/store.hpp"
#include "base/files.hpp"
#include "base/mapped_file.hpp"
#include "base/paths.hpp"
#include "ingest/pipeline.hpp"
#include "ingest/vectors.hpp"
#include "library/find_passages.hpp"
#include "plimsoll/tokenizers.hpp"
#include "search/open.hpp"

namespace plimsoll {
namespace {

constexpr std::uint32_t width = 384;
constexpr std::size_t batch_size = 1'000;

template <typename T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "{}\n", result.error().what);
    std::exit(1);
  }
  return *std::move(result);
}

std::vector<std::string> lines_of(const char* path, std::size_t most) {
  std::ifstream in(path);
  std::vector<std::string> out;
  for (std::string line; out.size() < most && std::getline(in, line);) out.push_back(line);
  return out;
}

std::vector<float> vector_at(std::span<const std::byte> file, std::size_t i) {
  std::vector<float> out(width);
  const auto* values = reinterpret_cast<const std::uint16_t*>(file.data()) + i * width;
  for (std::size_t d = 0; d < width; ++d)
    out[d] = std::bit_cast<float>(static_cast<std::uint32_t>(values[d]) << 16);
  return out;
}

DocumentWithVectors document_of(const std::string& text, std::size_t number, const Tokenizer& tokenizer,
                                std::span<const std::byte> vectors) {
  std::vector<std::string> warnings;
  DocumentWithVectors out;
  out.document = must(
      ingest::make_document(text, fmt::format("{}.txt", number), "passage.txt", tokenizer, {}, warnings));
  const ingest::PackedSentence packed = ingest::pack(vector_at(vectors, number));
  out.vectors.resize(1);
  for (const Chunk& chunk : out.document.chunks) {
    const std::vector<const ingest::PackedSentence*> sentences(chunk.sentences.size(), &packed);
    out.vectors[0].push_back(ingest::chunk_vectors(chunk, sentences, width));
  }
  return out;
}

void fill(Store& store, const IndexInfo& index, const std::vector<std::string>& passages,
          const Tokenizer& tokenizer, std::span<const std::byte> vectors) {
  for (std::size_t i = 0; i < passages.size(); i += batch_size) {
    std::vector<DocumentWithVectors> batch;
    for (std::size_t k = i; k < std::min(i + batch_size, passages.size()); ++k)
      batch.push_back(document_of(passages[k], k, tokenizer, vectors));
    must(store.put(index.id, batch));
  }
}

// Gives back the vector of the question that is asked next.
class Prepared final : public Embedder {
 public:
  const EmbedderInfo& info() const override { return info_; }
  Result<std::vector<float>> embed(std::span<const std::string_view>, Deadline) override { return vector; }
  Result<std::vector<float>> embed_query(std::string_view, Deadline) override { return vector; }
  std::vector<float> vector;

 private:
  EmbedderInfo info_{.name = "prepared", .dimensions = width, .max_tokens = 0};
};

int run(char** arguments) {
  const auto count = static_cast<std::size_t>(std::atoll(arguments[4]));
  const auto passages = lines_of(arguments[1], count);
  const auto queries = lines_of(arguments[2], 1'000);
  const auto vectors = must(base::MappedFile::open(arguments[3]));
  const auto cache = base::cache_folder(base::current_environment());
  const TokenizerLibrary library(cache / "assets", cache / "tokenizers");
  const Tokenizer tokenizer = must(library.open("o200k_base"));
  const std::filesystem::path folder = arguments[5];
  auto store = must(sqlite::open_store(folder / "store.db"));
  Prepared embedder;
  auto index = store->find_index("local", "bench");
  if (!index)
    index = store->create_index(
        "local", "bench", {.tokenizer = "o200k_base", .chunk_tokens = 200, .embedders = {embedder.info()}});
  if (must(std::move(index)).documents == 0)
    fill(*store, must(store->find_index("local", "bench")), passages, tokenizer, vectors.bytes());
  const IndexInfo info = must(store->find_index("local", "bench"));
  search::OpenOptions options;
  options.folder = folder / "derived";
  const auto opening = std::chrono::steady_clock::now();
  auto derived = must(search::open_index(*store, info, options));
  (void)derived->snapshot();
  const std::chrono::duration<double> opened = std::chrono::steady_clock::now() - opening;

  retrieve::ChunkCache chunks(*store);
  const library::OpenIndex open{info, *store, chunks, *derived, {&embedder}};
  retrieve::GatherOptions gather;
  gather.candidates = retrieve::candidates_for(4'000, info.settings.chunk_tokens);
  std::vector<double> times;
  double tokens = 0;
  for (int round = 0; round < 2; ++round) {  // the first fills the caches
    times.clear();
    for (std::size_t i = 0; i < queries.size(); ++i) {
      embedder.vector = vector_at(vectors.bytes(), count + i);
      const auto started = std::chrono::steady_clock::now();
      const Evidence evidence =
          must(library::find_evidence(open, queries[i], gather, Deadline::after(std::chrono::minutes(1))));
      const Selection selection = select_passages(evidence, tokenizer, {.budget = 4'000});
      times.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count());
      tokens += static_cast<double>(selection.tokens);
    }
  }
  std::sort(times.begin(), times.end());
  fmt::print(
      "{{\"chunks\": {}, \"open_s\": {:.2f}, \"p50_ms\": {:.3f}, \"p95_ms\": {:.3f}, \"tokens\": {:.0f}}}\n",
      derived->size(), opened.count(), times[times.size() / 2], times[times.size() * 95 / 100],
      tokens / static_cast<double>(2 * queries.size()));
  return 0;
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: hybrid_timer PASSAGES QUERIES VECTORS.bf16 COUNT FOLDER\n", stderr);
    return 2;
  }
  return plimsoll::run(argv);
}

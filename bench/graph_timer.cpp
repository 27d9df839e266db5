// Times the names of an index: adding them, their size, and questions that follow them. `make bench-graph`
// runs it.
//
//   graph_timer DOCUMENTS QUESTIONS BYTES FOLDER
//
// DOCUMENTS has a document per line. It is repeated up to BYTES of text, each time with another letter at the
// end of all capitalised words, so that each copy has names of its own. Searches by words, without vectors.
// FOLDER keeps the store between runs. Times are CPU time. Prints one line of JSON.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>

#include <fmt/format.h>

#include "adapters/sqlite/store.hpp"
#include "base/paths.hpp"
#include "base/text/text.hpp"
#include "ingest/pipeline.hpp"
#include "library/find_passages.hpp"
#include "plimsoll/tokenizers.hpp"
#include "search/name_terms.hpp"
#include "search/open.hpp"
#include "search/segment_builder.hpp"

namespace plimsoll {
namespace {

constexpr std::size_t batch_size = 1'000;

template <typename T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "{}\n", result.error().what);
    std::exit(1);
  }
  return *std::move(result);
}

std::vector<std::string> lines_of(const char* path) {
  std::ifstream in(path);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// Returns the text with other names: "Paris" becomes "Parisb" in copy 1.
std::string copy_of(const std::string& text, std::size_t copy) {
  if (copy == 0) return text;
  std::string out;
  bool name = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool letter = i < text.size() && base::is_letter(text[i]);
    if (letter && (i == 0 || !base::is_letter(text[i - 1]))) name = base::is_upper(text[i]);
    if (!letter && name && i > 0 && base::is_letter(text[i - 1])) out += static_cast<char>('a' + copy % 26);
    if (i < text.size()) out += text[i];
  }
  return out;
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

struct Built {
  double seconds = 0;
  std::size_t bytes = 0;
};

Built build(const std::vector<StoredChunk>& chunks, bool with_names) {
  const double started = cpu_seconds();
  search::SegmentBuilder builder;
  std::vector<std::string> names;
  for (const StoredChunk& chunk : chunks) {
    const std::string_view text = chunk.text;
    if (with_names) search::name_terms_of(chunk, names);
    builder.add(chunk.id, chunk.document, std::span(&text, 1), names);
  }
  const auto segment = builder.finish(1, 1, static_cast<ChunkId>(chunks.size()));
  return {cpu_seconds() - started, segment.bytes().size()};
}

std::vector<double> times_of(const library::OpenIndex& open, const std::vector<std::string>& questions,
                             bool links) {
  retrieve::GatherOptions gather;
  gather.candidates = retrieve::candidates_for(1'000, open.info.settings.chunk_tokens);
  gather.links = links;
  std::vector<double> times;
  for (const std::string& question : questions) {
    const double started = cpu_seconds();
    must(retrieve::gather(open.store, open.chunks, open.info, open.index, question, {}, gather));
    times.push_back((cpu_seconds() - started) * 1'000);
  }
  std::ranges::sort(times);
  return times;
}

int run(char** arguments) {
  const auto lines = lines_of(arguments[1]);
  const auto questions = lines_of(arguments[2]);
  const auto wanted = static_cast<std::size_t>(std::atoll(arguments[3]));
  const std::filesystem::path folder = arguments[4];
  std::vector<StoredChunk> chunks;
  std::size_t bytes = 0;
  for (std::size_t copy = 0; bytes < wanted && copy < 26; ++copy)
    for (const std::string& line : lines) {
      StoredChunk chunk;
      chunk.id = chunk.document = static_cast<ChunkId>(chunks.size() + 1);
      chunk.text = copy_of(line, copy);
      bytes += chunk.text.size();
      chunks.push_back(std::move(chunk));
    }
  const Built words = build(chunks, false), both = build(chunks, true);

  const auto cache = base::cache_folder(base::current_environment());
  const TokenizerLibrary library(cache / "assets", cache / "tokenizers");
  const Tokenizer tokenizer = must(library.open("o200k_base"));
  auto store = must(sqlite::open_store(folder / "store.db"));
  auto found = store->find_index("local", "graph");
  if (!found) {
    const IndexInfo made = must(store->create_index(
        "local", "graph", {.tokenizer = "o200k_base", .chunk_tokens = 200, .embedders = {}}));
    for (std::size_t i = 0; i < chunks.size(); i += batch_size) {
      std::vector<DocumentWithVectors> batch;
      std::vector<std::string> warnings;
      for (std::size_t k = i; k < std::min(i + batch_size, chunks.size()); ++k)
        batch.push_back({must(ingest::make_document(chunks[k].text, fmt::format("{}.txt", k), "passage.txt",
                                                    tokenizer, {}, warnings)),
                         {}});
      must(store->put(made.id, batch));
    }
  }
  const IndexInfo info = must(store->find_index("local", "graph"));
  auto index = must(search::open_index(*store, info, {}));
  retrieve::ChunkCache cached(*store);
  const library::OpenIndex open{info, *store, cached, *index, {}};
  times_of(open, questions, true);  // fills the caches
  const auto without = times_of(open, questions, false), with = times_of(open, questions, true);
  const double names = both.seconds - words.seconds;
  fmt::print(
      "{{\"text_mb\": {:.1f}, \"tokens\": {}, \"names_mb_per_cpu_s\": {:.1f}, \"words_mb_per_cpu_s\": "
      "{:.1f}, "
      "\"words_bytes_per_text\": {:.2f}, \"names_bytes_per_text\": {:.2f}, \"p50_ms_without\": {:.2f}, "
      "\"p50_ms\": {:.2f}, "
      "\"p95_ms\": {:.2f}}}\n",
      static_cast<double>(bytes) / 1e6, info.tokens, static_cast<double>(bytes) / 1e6 / names,
      static_cast<double>(bytes) / 1e6 / words.seconds,
      static_cast<double>(words.bytes) / static_cast<double>(bytes),
      static_cast<double>(both.bytes - words.bytes) / static_cast<double>(bytes), without[without.size() / 2],
      with[with.size() / 2], with[with.size() * 95 / 100]);
  return 0;
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: graph_timer DOCUMENTS QUESTIONS BYTES FOLDER\n", stderr);
    return 2;
  }
  return plimsoll::run(argv);
}

// Times an index on Weaviate: importing chunks, and searching beside the same queries sent as they are.
// `make bench-weaviate` runs it.
//
//   weaviate_timer URL CHUNKS OBJECTS.jsonl
//
// Writes the schema and the objects to the file, for other clients. Prints one line of JSON.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>

#include <fmt/format.h>

#include "adapters/http/curl_client.hpp"
#include "adapters/weaviate/index.hpp"
#include "adapters/weaviate/objects.hpp"
#include "adapters/weaviate/queries.hpp"
#include "base/json/json_text.hpp"
#include "base/testing_store.hpp"

namespace plimsoll {
namespace {

constexpr std::uint32_t width = 384;
constexpr std::size_t chunks_per_document = 8, queries = 300, hits = 100;

template <typename T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "{}\n", result.error().what);
    std::exit(1);
  }
  return *std::move(result);
}

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// Words by Zipf's law, now and then a name.
std::string text_of(std::mt19937& rng, std::size_t words) {
  constexpr double vocabulary = 30'000;
  std::string out;
  for (std::size_t i = 0; i < words; ++i) {
    const double u = static_cast<double>(rng() % 1'000'000) / 1'000'000;
    const auto rank = static_cast<int>(std::pow(vocabulary, u));
    out += fmt::format("{}ord{} ", rng() % 25 == 0 ? 'W' : 'w', rank);
  }
  return out;
}

// Near one of a thousand centres, as the vectors of texts are.
std::vector<float> vector_of(std::mt19937& rng) {
  std::mt19937 centre(static_cast<unsigned>(rng() % 1'000));
  std::normal_distribution<float> normal;
  std::vector<float> out(width);
  float sum = 0;
  for (float& value : out) {
    value = normal(centre) + normal(rng);
    sum += value * value;
  }
  for (float& value : out) value /= std::sqrt(sum);
  return out;
}

struct Made {
  StoredChunk chunk;
  std::vector<std::vector<std::uint16_t>> whole;
};

// Has its chunks in memory, so that reading them takes no time.
class ReadyStore final : public base::MemoryStore {
 public:
  explicit ReadyStore(std::size_t count) {
    std::mt19937 rng{1};
    for (std::size_t i = 0; i < count; ++i) {
      Made made;
      made.chunk.id = static_cast<ChunkId>(i + 1);
      made.chunk.document = static_cast<DocumentId>(i / chunks_per_document + 1);
      made.chunk.text = text_of(rng, 60 + rng() % 60);
      made.chunk.chunk.span = {i % chunks_per_document * 1'000, i % chunks_per_document * 1'000 + 999};
      made.whole.emplace_back();
      for (const float value : vector_of(rng))
        made.whole[0].push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U));
      all.push_back(std::move(made));
    }
  }
  Result<IndexInfo> find_index(std::string_view, std::string_view) override {
    IndexInfo now = info;
    now.chunks = static_cast<std::int64_t>(all.size());
    return now;
  }
  Result<void> each_chunk(IndexId, ChunkId after, const ChunkVisitor& visit) override {
    for (std::size_t i = static_cast<std::size_t>(after); i < all.size(); ++i)
      if (auto done = visit(all[i].chunk, all[i].whole); !done) return done;
    return {};
  }

  std::vector<Made> all;
};

void write_objects(const char* path, const ReadyStore& store, const weaviate::Address& address) {
  std::ofstream out(path);
  out << weaviate::collection_schema("Plimsoll_bench", 1, address) << '\n';
  weaviate::ObjectWriter writer("Plimsoll_bench", {width});
  for (const Made& made : store.all) out << writer.write(made.chunk, made.whole).json << '\n';
}

struct Times {
  std::vector<double> ours, raw;

  static double median(std::vector<double> all) {
    std::ranges::sort(all);
    return all[all.size() / 2] * 1'000;
  }
  std::string json() const {
    return fmt::format(R"({{"ours_ms":{:.3f},"raw_ms":{:.3f},"ratio":{:.3f}}})", median(ours), median(raw),
                       median(ours) / median(raw));
  }
};

// The two in turn, the first of a pair alternating: the second finds warm caches.
template <typename Ours>
void time_both(std::size_t number, HttpClient& http, const std::string& url, const std::string& graphql,
               const Ours& ours, Times& out) {
  HttpRequest request{"POST", url + "/v1/graphql", {{"Content-Type", "application/json"}}, "{\"query\":"};
  base::append_json_string(request.body, graphql);
  request.body += '}';
  for (const bool first : {true, false}) {
    const auto began = std::chrono::steady_clock::now();
    if (first == (number % 2 == 0)) {
      must(ours());
      out.ours.push_back(seconds_since(began));
    } else {
      must(http.send(request, Deadline::after(std::chrono::seconds(10))));
      out.raw.push_back(seconds_since(began));
    }
  }
}

int run(const char* url, std::size_t count, const char* objects) {
  ReadyStore store(count);
  IndexSettings settings;
  settings.embedders = {{.name = "made", .dimensions = width, .max_tokens = 0}};
  (void)store.create_index("local", "bench", settings);
  store.info.revision = 1;
  weaviate::Options options;
  options.address = must(weaviate::read_address(base::Secret(url)));
  options.store = "bench";
  write_objects(objects, store, options.address);
  adapters::CurlClient http("plimsoll-bench", {}, {.body_limit_bytes = 64'000'000});

  const auto began = std::chrono::steady_clock::now();
  const auto index = must(weaviate::open_index(http, store, store.info, options));
  const double import = seconds_since(began);

  const std::string name = weaviate::collection_name(options.store, store.info);
  std::mt19937 rng{2};
  Times words, vectors;
  (void)index->lexical("word1", 1);  // asks for the languages once
  for (std::size_t i = 0; i < queries; ++i) {
    const std::string query = text_of(rng, 5);
    std::string stems;
    for (const QueryTerm& term : must(index->terms(query))) stems += (stems.empty() ? "" : " ") + term.term;
    time_both(
        i, http, options.address.nodes[0], weaviate::bm25_query(name, stems, hits, nullptr),
        [&] { return index->lexical(query, hits); }, words);
    const std::vector<float> vector = vector_of(rng);
    time_both(
        i, http, options.address.nodes[0], weaviate::nearest_query(name, 0, vector, hits, nullptr),
        [&] { return index->nearest(0, vector, hits); }, vectors);
  }
  fmt::print(R"({{"chunks":{},"import_s":{:.2f},"words":{},"vectors":{}}})"
             "\n",
             count, import, words.json(), vectors.json());
  return 0;
}

}  // namespace
}  // namespace plimsoll

int main(int count, char** arguments) {
  if (count != 4) {
    fmt::print(stderr, "weaviate_timer URL CHUNKS OBJECTS.jsonl\n");
    return 2;
  }
  return plimsoll::run(arguments[1], static_cast<std::size_t>(std::atoll(arguments[2])), arguments[3]);
}

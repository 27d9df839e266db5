// Times searching. `make bench-search` runs it beside tantivy; each way gives one line of JSON.
//
//   search_timer words PASSAGES QUERIES ROUNDS FOLDER   build the inverted index, find the ten best of each
//   query search_timer vectors FILE.bf16 COUNT ROUNDS         COUNT vectors of 384, behind them the queries:
//   recall and time search_timer many COUNT                             so many synthetic vectors: memory,
//   recall and time
#include <algorithm>
#include <ctime>
#include <fstream>
#include <random>
#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/mapped_file.hpp"
#include "search/lexical.hpp"
#include "search/vectors.hpp"

namespace {

using namespace plimsoll;
using namespace plimsoll::search;
using Json = nlohmann::ordered_json;

constexpr std::uint32_t dimensions = 384;
constexpr std::size_t best = 10;

// Of all threads.
double cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

template <typename Call>
double least_ms(int rounds, std::size_t times, const Call& call) {
  double least = 0;
  for (int round = 0; round < rounds; ++round) {
    const double before = cpu_s();
    for (std::size_t i = 0; i < times; ++i) call(i);
    const double took = (cpu_s() - before) * 1e3 / static_cast<double>(times);
    least = round == 0 ? took : std::min(least, took);
  }
  return least;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

Json time_words(const std::string& passages, const std::string& queries, int rounds,
                const std::filesystem::path& folder) {
  const auto texts = lines_of(passages);
  const auto asked = lines_of(queries);
  const double before = cpu_s();
  SegmentBuilder builder;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string_view text = texts[i];
    builder.add(static_cast<ChunkId>(i + 1), static_cast<DocumentId>(i + 1), std::span(&text, 1));
  }
  const Segment built = builder.finish(1, 1, static_cast<ChunkId>(texts.size()));
  const std::filesystem::path file = folder / "words.index";
  const std::string_view bytes(reinterpret_cast<const char*>(built.bytes().data()), built.bytes().size());
  if (const auto written = base::write_atomically(file, bytes); !written)
    throw std::runtime_error(written.error().what);
  const double build_s = cpu_s() - before;

  const double opening = cpu_s();
  auto mapped = base::MappedFile::open(file);
  if (!mapped) throw std::runtime_error(mapped.error().what);
  const auto owner = std::make_shared<const base::MappedFile>(*std::move(mapped));
  auto segment = Segment::open(owner->bytes(), owner);
  if (!segment) throw std::runtime_error(segment.error().what);
  const Lexical lexical(
      {std::make_shared<const LivingPart>(std::make_shared<const Segment>(*std::move(segment)), nullptr)});
  const double open_ms = (cpu_s() - opening) * 1e3;

  Json found = Json::array();
  for (const std::string& query : asked) {
    Json hits = Json::array();
    for (const Hit& hit : lexical.search(query, best, nullptr)) hits.push_back({hit.chunk, hit.score});
    found.push_back(std::move(hits));
  }
  return {{"build_s", build_s},
          {"open_ms", open_ms},
          {"query_ms",
           least_ms(rounds, asked.size(), [&](std::size_t i) { lexical.search(asked[i], best, nullptr); })},
          {"all_ms", least_ms(rounds, asked.size(),
                              [&](std::size_t i) { lexical.search_all(asked[i], best, nullptr); })},
          {"bytes", bytes.size()},
          {"found", std::move(found)}};
}

std::uint64_t status_kb(std::string_view name) {
  for (const std::string& line : lines_of("/proc/self/status"))
    if (line.starts_with(name)) return std::stoull(line.substr(name.size() + 1));
  return 0;
}

// Share of the ten nearest that are found, and what it costs.
Json time_nearest(const Vectors::View& view, const std::vector<std::vector<float>>& queries, int rounds) {
  std::size_t same = 0;
  for (const auto& query : queries) {
    std::set<ChunkId> nearest;
    for (const Hit& hit : view.nearest_exact(query, best, nullptr)) nearest.insert(hit.chunk);
    for (const Hit& hit : view.nearest(query, best, nullptr)) same += nearest.count(hit.chunk);
  }
  const auto timed = [&](std::size_t times, const auto& call) { return least_ms(rounds, times, call); };
  return {
      {"recall", static_cast<double>(same) / static_cast<double>(queries.size() * best)},
      {"query_ms", timed(queries.size(), [&](std::size_t i) { view.nearest(queries[i], best, nullptr); })},
      {"exact_ms", timed(20, [&](std::size_t i) { view.nearest_exact(queries[i], best, nullptr); })}};
}

Json time_vectors(const std::string& path, std::size_t count, int rounds) {
  auto mapped = base::MappedFile::open(path);
  if (!mapped) throw std::runtime_error(mapped.error().what);
  const std::span values(reinterpret_cast<const Bf16*>(mapped->bytes().data()),
                         mapped->bytes().size() / sizeof(Bf16));
  const auto vectors = std::make_shared<Vectors>(dimensions, VectorOptions{});
  const double before = cpu_s();
  for (std::size_t i = 0; i < count; ++i)
    vectors->add(static_cast<ChunkId>(i + 1), static_cast<DocumentId>(i / 10),
                 values.subspan(i * dimensions, dimensions));
  vectors->settle();
  const double build_s = cpu_s() - before;
  std::vector<std::vector<float>> queries;
  for (std::size_t i = count * dimensions; i + dimensions <= values.size(); i += dimensions) {
    std::vector<float>& query = queries.emplace_back();
    for (std::size_t j = 0; j < dimensions; ++j) query.push_back(to_float(values[i + j]));
  }
  const auto view = vectors->view(nullptr, {});
  Json result = time_nearest(view, queries, rounds);
  result["build_s"] = build_s;
  for (const DocumentId share : {2, 10, 100}) {  // one document in so many may be found
    std::vector<DocumentId> only;
    for (DocumentId id = 0; id < static_cast<DocumentId>(count / 10); id += share) only.push_back(id);
    result["filtered_ms"][fmt::format("1/{}", share)] =
        least_ms(rounds, 100, [&](std::size_t i) { view.nearest(queries[i], best, &only); });
  }
  return result;
}

// Around 2,000 centres, so that neighbours are neither all alike nor all strangers.
Json time_many(std::size_t count) {
  std::mt19937 rng{5};
  std::normal_distribution<float> normal;
  std::vector<float> centres(2000 * dimensions);
  for (float& value : centres) value = normal(rng);
  const auto draw = [&] {
    std::vector<float> vector(dimensions);
    const std::size_t centre = rng() % 2000 * dimensions;
    for (std::size_t i = 0; i < dimensions; ++i) vector[i] = (centres[centre + i] + normal(rng)) / 28;
    return vector;
  };
  const auto vectors = std::make_shared<Vectors>(dimensions, VectorOptions{});
  std::vector<Bf16> halves(dimensions);
  const double before = cpu_s();
  for (std::size_t i = 0; i < count; ++i) {
    const auto vector = draw();
    std::transform(vector.begin(), vector.end(), halves.begin(), to_bf16);
    vectors->add(static_cast<ChunkId>(i + 1), static_cast<DocumentId>(i / 10), halves);
  }
  vectors->settle();
  const double build_s = cpu_s() - before;
  std::vector<std::vector<float>> queries;
  for (int i = 0; i < 200; ++i) queries.push_back(draw());
  Json result = time_nearest(vectors->view(nullptr, {}), queries, 3);
  result["build_s"] = build_s;
  result["resident_mb"] = static_cast<double>(status_kb("VmRSS:")) / 1e3 * 1.024;
  result["peak_mb"] = static_cast<double>(status_kb("VmHWM:")) / 1e3 * 1.024;
  return result;
}

Json run(const std::vector<std::string>& given) {
  if (given.size() == 5 && given[0] == "words")
    return time_words(given[1], given[2], std::stoi(given[3]), given[4]);
  if (given.size() == 4 && given[0] == "vectors")
    return time_vectors(given[1], std::stoul(given[2]), std::stoi(given[3]));
  if (given.size() == 2 && given[0] == "many") return time_many(std::stoul(given[1]));
  throw std::runtime_error("search_timer words|vectors|many ...");
}

}  // namespace

int main(int count, char** arguments) {
  try {
    fmt::print("{}\n", run({arguments + 1, arguments + count}).dump());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "search_timer: {}\n", error.what());
    return 1;
  }
}

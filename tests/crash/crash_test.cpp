// A writer is killed at random moments while it adds, changes and removes documents and writes snapshots.
// Whatever it had said to be done must be there afterwards, whatever it had removed must be gone, and
// searching must agree with reading everything.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/sqlite/store.hpp"
#include "base/temporary_folder.hpp"
#include "base/text/words.hpp"
#include "ingest/vectors.hpp"
#include "library/check_index.hpp"
#include "search/open.hpp"

namespace plimsoll {
namespace {

constexpr std::uint32_t width = 16;
constexpr int key_count = 40;
const char* const word_list[] = {"anchor",  "ballast", "cargo",   "draught", "fathom", "galley",
                                 "harbour", "keel",    "lantern", "mast",    "oar",    "rudder"};

// As std::mt19937, in 32 bits.
class Random {
 public:
  using result_type = std::uint32_t;
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xffff'ffff; }
  result_type operator()() { return static_cast<result_type>(engine_()); }

 private:
  std::mt19937 engine_;
};

// What documents the store should hold: the text's seed by key.
using Expected = std::map<std::string, std::uint32_t>;

std::vector<float> vector_for(std::string_view text) {
  Random random(static_cast<std::uint32_t>(std::hash<std::string_view>{}(text)));
  std::normal_distribution<float> normal;
  std::vector<float> out(width);
  float norm = 0;
  for (float& value : out) {
    value = normal(random);
    norm += value * value;
  }
  for (float& value : out) value /= std::sqrt(norm);
  return out;
}

DocumentWithVectors document_for(const std::string& key, std::uint32_t seed) {
  Random random(seed);
  DocumentWithVectors out;
  out.document.key = key;
  out.document.media_type = "text/plain";
  out.document.source_hash = std::to_string(seed);
  out.vectors.resize(1);
  const std::size_t chunks = 1 + random() % 6;
  for (std::size_t c = 0; c < chunks; ++c) {
    Chunk chunk;
    chunk.span.start = out.document.text.size();
    chunk.tokens = 20;
    std::string sentence = fmt::format("{} of {}", key, seed);
    for (std::size_t i = 0; i < 5 + random() % 60; ++i)
      sentence += fmt::format(" {}", word_list[random() % std::size(word_list)]);
    out.document.text += sentence + ".\n";
    chunk.span.end = out.document.text.size();
    chunk.sentences = {{.span = {chunk.span.start, chunk.span.end - 1}, .tokens = 20, .opens_block = true}};
    const ingest::PackedSentence packed = ingest::pack(vector_for(sentence));
    const ingest::PackedSentence* pointer = &packed;
    out.vectors[0].push_back(ingest::chunk_vectors(chunk, std::span(&pointer, 1), width));
    out.document.chunks.push_back(std::move(chunk));
  }
  out.document.addressable = false;  // the hash is of no source
  out.document.sections = {{.title = "", .parent = 0, .span = {0, out.document.text.size()}}};
  return out;
}

IndexSettings settings() {
  return {.tokenizer = "o200k_base",
          .chunk_tokens = 200,
          .embedders = {{.name = "test", .dimensions = width, .max_tokens = 0}}};
}

search::OpenOptions options_for(const std::filesystem::path& folder) {
  search::OpenOptions options;
  options.folder = folder / "derived";
  options.snapshot_chunks = 8;
  return options;
}

// One step of the writer, told to the parent before it begins and after it is done.
struct Step {
  char kind = 0;  // 'p'ut, 'r'emove, 's'napshot, re'b'uild
  std::uint32_t seed = 0;
};
Step step_for(Random& random) {
  const std::uint32_t dice = random() % 20;
  return {dice < 12 ? 'p' : dice < 17 ? 'r' : dice < 19 ? 's' : 'b', random()};
}
// What a put or a remove touches.
std::vector<std::pair<std::string, std::uint32_t>> touched_by(const Step& step) {
  Random random(step.seed);
  std::vector<std::pair<std::string, std::uint32_t>> out;
  std::set<std::string> keys;
  for (std::size_t i = 0; i < 1 + step.seed % 8; ++i) {
    const std::string key = fmt::format("doc{}", random() % key_count);
    if (keys.insert(key).second) out.emplace_back(key, random());
  }
  return out;
}
void apply(Expected& expected, const Step& step) {
  for (const auto& [key, seed] : touched_by(step)) {
    if (step.kind == 'p') expected[key] = seed;
    if (step.kind == 'r') expected.erase(key);
  }
}

void say(int pipe, char phase, const Step& step) {
  char line[16];
  const int size = std::snprintf(line, sizeof line, "%c%c%08x\n", phase, step.kind, step.seed);
  if (::write(pipe, line, static_cast<std::size_t>(size)) != size) ::_exit(9);
}

// Works until it is killed.
[[noreturn]] void write_forever(const std::filesystem::path& folder, int pipe, std::uint32_t seed) {
  auto store = sqlite::open_store(folder / "store.db");
  if (!store) ::_exit(2);
  auto info = (*store)->find_index("local", "crash");
  if (!info) info = (*store)->create_index("local", "crash", settings());
  if (!info) ::_exit(3);
  auto index = search::open_index(**store, *info, options_for(folder));
  if (!index) ::_exit(4);
  Random random(seed);
  while (true) {
    const Step step = step_for(random);
    say(pipe, 'B', step);
    std::vector<DocumentWithVectors> documents;
    std::vector<std::string> keys;
    for (const auto& [key, text_seed] : touched_by(step)) {
      documents.push_back(document_for(key, text_seed));
      keys.push_back(key);
    }
    if (step.kind == 'p' && !(*store)->put(info->id, documents)) ::_exit(5);
    if (step.kind == 'r' && !(*store)->remove(info->id, keys)) ::_exit(6);
    if (step.kind == 'b') {
      std::filesystem::remove_all(folder / "derived");
      index = search::open_index(**store, *info, options_for(folder));
      if (!index) ::_exit(7);
    }
    if (!(*index)->refresh()) ::_exit(8);
    if (step.kind == 's') (void)(*index)->snapshot();
    say(pipe, 'E', step);
  }
}

struct Witness {
  std::vector<Step> done;
  std::optional<Step> under_way;
};

// Lets a writer work for some time, kills it, and gives back what it had said. The time begins with the
// writer's first word, or at once if it may be killed while it opens the store.
Witness run_and_kill(const std::filesystem::path& folder, std::uint32_t seed, std::chrono::microseconds after,
                     bool at_once) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    write_forever(folder, ends[1], seed);
  }
  ::close(ends[1]);
  pollfd word{.fd = ends[0], .events = POLLIN, .revents = 0};
  EXPECT_TRUE(at_once || ::poll(&word, 1, 60'000) == 1);
  ::usleep(static_cast<useconds_t>(after.count()));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer gave up by itself with " << WEXITSTATUS(status);
  std::string said;
  char buffer[4096];
  for (ssize_t size = 0; (size = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    said.append(buffer, static_cast<std::size_t>(size));
  ::close(ends[0]);
  Witness out;
  for (std::size_t at = 0; at + 11 <= said.size(); at += 11) {
    const Step step{said[at + 1],
                    static_cast<std::uint32_t>(std::stoul(said.substr(at + 2, 8), nullptr, 16))};
    if (said[at] == 'B') out.under_way = step;
    if (said[at] == 'E') {
      out.done.push_back(step);
      out.under_way.reset();
    }
  }
  return out;
}

Expected held_by(Store& store, IndexId index) {
  Expected out;
  const auto sources = store.sources(index);
  EXPECT_TRUE(sources);
  for (const StoredSource& one : *sources)
    out[one.key] = static_cast<std::uint32_t>(std::stoul(one.source_hash));
  return out;
}

// Searching against reading everything.
void expect_search_agrees(Store& store, const IndexInfo& info, const Index& index) {
  std::map<std::string, std::set<ChunkId>> by_word;
  std::vector<std::pair<ChunkId, std::vector<float>>> vectors;
  std::vector<base::Word> words;
  ASSERT_TRUE(store.each_chunk(
      info.id, 0,
      [&](const StoredChunk& chunk, std::span<const std::vector<std::uint16_t>> whole) -> Result<void> {
        base::read_words(chunk.text, words);
        for (const base::Word& word : words) by_word[word.stem].insert(chunk.id);
        std::vector<float> vector;
        for (const std::uint16_t value : whole[0])
          vector.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16));
        vectors.emplace_back(chunk.id, std::move(vector));
        return {};
      }));
  ASSERT_EQ(index.size(), vectors.size());
  for (const char* word : word_list) {
    base::read_words(word, words);
    std::set<ChunkId> found;
    const auto by_index = index.lexical(word, 100'000).value();
    for (const Hit& hit : by_index) found.insert(hit.chunk);
    EXPECT_EQ(found, by_word[words[0].stem]) << word;
  }
  for (const char* word : word_list) {
    const auto query = vector_for(word);
    std::vector<float> scores;
    for (const auto& [id, vector] : vectors) {
      float sum = 0;
      for (std::size_t d = 0; d < width; ++d) sum += vector[d] * query[d];
      scores.push_back(sum);
    }
    std::sort(scores.rbegin(), scores.rend());
    const auto hits = index.nearest(0, query, 5).value();
    ASSERT_EQ(hits.size(), std::min<std::size_t>(5, scores.size()));
    for (std::size_t i = 0; i < hits.size(); ++i) EXPECT_NEAR(hits[i].score, scores[i], 1e-3);
  }
}

int rounds() {
  const char* set = std::getenv("PLIMSOLL_CRASH_ROUNDS");
  return set == nullptr ? 20 : std::stoi(set);
}

TEST(Crash, LosesNothingThatWasSaidToBeDone) {
  const base::TemporaryFolder made("crash");
  const std::filesystem::path& folder = made.path();
  Random random{20'261'116};
  Expected expected;
  std::size_t steps = 0, cut_short = 0;
  for (int round = 0; round < rounds() && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    const auto patience = std::chrono::microseconds(2'000 + random() % 150'000);
    const Witness witness = run_and_kill(folder, random(), patience, round % 4 == 3);
    for (const Step& step : witness.done) apply(expected, step);
    steps += witness.done.size();

    auto store = sqlite::open_store(folder / "store.db");
    ASSERT_TRUE(store) << store.error().what;
    const auto info = (*store)->find_index("local", "crash");
    if (!info) {
      ASSERT_TRUE(expected.empty());  // killed before the index was made
      continue;
    }
    const Expected held = held_by(**store, info->id);
    Expected with_step = expected;
    if (witness.under_way) {
      apply(with_step, *witness.under_way);
      ++cut_short;
    }
    ASSERT_TRUE(held == expected || held == with_step)
        << "the store holds neither the last state nor the next";
    expected = held;
    for (const auto& [key, seed] : held) {
      const auto head = (*store)->head(info->id, key);
      ASSERT_TRUE(head && *head);
      const auto document = (*store)->document((*head)->id);
      ASSERT_TRUE(document);
      ASSERT_EQ(document->document.text, document_for(key, seed).document.text);
    }
    const auto faults = (*store)->verify(info->id);
    ASSERT_TRUE(faults);
    EXPECT_TRUE(faults->empty()) << faults->front();
    const auto index = search::open_index(**store, *info, options_for(folder));
    ASSERT_TRUE(index) << index.error().what;
    const auto derived = library::check_index(**store, *info, **index);
    ASSERT_TRUE(derived);
    EXPECT_TRUE(derived->empty()) << derived->front();
    expect_search_agrees(**store, *info, **index);
  }
  EXPECT_GT(steps, static_cast<std::size_t>(rounds() / 4));
  EXPECT_GT(cut_short, static_cast<std::size_t>(rounds() / 4));
}

}  // namespace
}  // namespace plimsoll

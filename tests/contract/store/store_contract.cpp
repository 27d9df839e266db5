#include "contract/store/store_contract.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "base/sha256.hpp"

namespace plimsoll {

DocumentWithVectors sample_document(const std::string& key, const std::vector<std::string>& texts,
                                    const std::vector<std::uint32_t>& dimensions) {
  DocumentWithVectors out;
  out.document.key = key;
  out.document.media_type = "text/plain";
  out.vectors.resize(dimensions.size());
  for (const std::string& text : texts) {
    const std::uint64_t start = out.document.text.size();
    out.document.text += text + "\n";
    Chunk chunk{.span = {start, out.document.text.size()},
                .tokens = 3,
                .section = 0,
                .page = 0,
                .lead = "",
                .sentences = {}};
    chunk.sentences.push_back({.span = {start, start + text.size()}, .tokens = 2, .opens_block = true});
    out.document.chunks.push_back(chunk);
    for (std::size_t e = 0; e < dimensions.size(); ++e) {
      ChunkVectors vectors;
      vectors.whole.assign(dimensions[e], static_cast<std::uint16_t>(0x3f80 + text.size()));
      vectors.scales = {0.5F};
      vectors.sentences.assign(dimensions[e], static_cast<std::int8_t>(text.size()));
      out.vectors[e].push_back(std::move(vectors));
    }
  }
  out.document.sections = {{.title = "", .parent = 0, .span = {0, out.document.text.size()}}};
  out.document.source_bytes = out.document.text.size();
  out.document.source_hash = base::sha256_hex(out.document.text);
  return out;
}

void StoreContract::SetUp() {
  ASSERT_FALSE(folder_.empty());
  reopen();
}

void StoreContract::TearDown() {
  store_.reset();
}

void StoreContract::reopen() {
  store_.reset();
  auto opened = GetParam().open(folder_);
  ASSERT_TRUE(opened) << opened.error().what;
  store_ = *std::move(opened);
}

namespace {

IndexSettings two_embedders() {
  return {.tokenizer = "o200k_base",
          .chunk_tokens = 200,
          .embedders = {{.name = "a", .dimensions = 4, .max_tokens = 256},
                        {.name = "b", .dimensions = 2, .max_tokens = 0}}};
}

std::vector<ChunkId> ids_of(Store& store, IndexId index, ChunkId after = 0) {
  std::vector<ChunkId> ids;
  const auto walked = store.each_chunk(index, after, [&](const StoredChunk& chunk, auto) -> Result<void> {
    ids.push_back(chunk.id);
    return {};
  });
  EXPECT_TRUE(walked);
  return ids;
}

TEST_P(StoreContract, AnIndexRemembersHowItWasMade) {
  const auto made = store_->create_index("local", "manual", two_embedders());
  ASSERT_TRUE(made) << made.error().what;
  reopen();
  const auto found = store_->find_index("local", "manual");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, made->id);
  EXPECT_EQ(found->settings.tokenizer, "o200k_base");
  EXPECT_EQ(found->settings.chunk_tokens, 200);
  EXPECT_EQ(found->settings.embedders, two_embedders().embedders);
  EXPECT_GT(found->created_ms, 1'600'000'000'000);
}

TEST_P(StoreContract, NamesAreTakenOncePerOwnerAndListedInOrder) {
  for (const char* name : {"b", "a", "ä/%?"}) ASSERT_TRUE(store_->create_index("local", name, {}));
  const auto again = store_->create_index("local", "a", {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::bad_input);
  EXPECT_TRUE(store_->create_index("other", "a", {}));
  EXPECT_FALSE(store_->create_index("local", "", {}));
  const auto mine = store_->indexes("local");
  ASSERT_TRUE(mine);
  ASSERT_EQ(mine->size(), 3U);
  EXPECT_EQ((*mine)[0].name, "b");
  EXPECT_EQ((*mine)[2].name, "ä/%?");
  const auto missing = store_->find_index("local", "c");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::not_found);
  const auto nowhere = store_->find_stamp("local", "c");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().what, missing.error().what);
}

TEST_P(StoreContract, ADocumentBelongsToItsFile) {
  const auto index = store_->create_index("local", "i", {});
  ASSERT_TRUE(index);
  DocumentWithVectors mine = sample_document("docs/a.md", {"one"}, {});
  mine.document.file = {.path = "/p1/docs/a.md", .root = "/p1/docs"};
  ASSERT_TRUE(store_->put(index->id, std::span(&mine, 1)));
  DocumentWithVectors other = sample_document("docs/a.md", {"two"}, {});
  other.document.file = {.path = "/p2/docs/a.md", .root = "/p2/docs"};
  const auto refused = store_->put(index->id, std::span(&other, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::bad_input);
  EXPECT_NE(refused.error().what.find("/p1/docs/a.md"), std::string::npos);
  // An update by key alone does not take the document away from its file.
  const DocumentWithVectors by_key = sample_document("docs/a.md", {"three"}, {});
  ASSERT_TRUE(store_->put(index->id, std::span(&by_key, 1)));
  reopen();
  auto sources = store_->sources(index->id);
  ASSERT_TRUE(sources);
  ASSERT_EQ(sources->size(), 1U);
  EXPECT_EQ(sources->at(0).file, mine.document.file);
  EXPECT_EQ(sources->at(0).source_hash, by_key.document.source_hash);

  const FoundSource moved{"docs/a.md", other.document.file};
  ASSERT_TRUE(store_->set_sources(index->id, std::span(&moved, 1)));
  ASSERT_TRUE(store_->put(index->id, std::span(&other, 1)));
  const auto head = store_->head(index->id, "docs/a.md");
  ASSERT_TRUE(head && *head);
  EXPECT_EQ((*head)->file, other.document.file);
  const auto document = store_->document((*head)->id);
  ASSERT_TRUE(document);
  EXPECT_EQ(document->document.file, other.document.file);
}

TEST_P(StoreContract, TellsTheLinesOfBytes) {
  const auto index = store_->create_index("local", "i", {});
  ASSERT_TRUE(index);
  const DocumentWithVectors put = sample_document("a", {"one\ntwo", "three", "four\n\nfive"}, {});
  const auto ids = store_->put(index->id, std::span(&put, 1));
  ASSERT_TRUE(ids);
  const std::string& text = put.document.text;
  std::vector<std::uint64_t> bytes, expected;
  for (std::uint64_t at = 0; at < text.size(); ++at) {
    bytes.push_back(at);
    expected.push_back(1 + static_cast<std::uint64_t>(std::count(
                               text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')));
  }
  const auto lines = store_->lines(ids->at(0), bytes);
  ASSERT_TRUE(lines) << lines.error().what;
  EXPECT_EQ(*lines, expected);
}

TEST_P(StoreContract, ADocumentComesBackAsItWasPut) {
  const auto index = store_->create_index("local", "i", two_embedders());
  ASSERT_TRUE(index);
  DocumentWithVectors put = sample_document("a.md", {"one", "two two", "drei ä"}, {4, 2});
  put.document.metadata = {{"n", "1"}, {"s", "\"x\""}, {"b", "true"}};
  put.document.origins = {{0, 10, 5}, {5, 100, 14}};
  put.document.addressable = false;
  put.document.sections.push_back({.title = "Two", .parent = 0, .span = {4, 12}});
  put.document.chunks[1].section = 1;
  put.document.chunks[2].page = 7;
  put.document.chunks[2].lead = "a | b";
  put.document.chunks[2].sentences[0].pages_on = 3;
  const auto ids = store_->put(index->id, std::span(&put, 1));
  ASSERT_TRUE(ids) << ids.error().what;
  reopen();
  const auto got = store_->document(ids->at(0));
  ASSERT_TRUE(got) << got.error().what;
  EXPECT_EQ(got->document.text, put.document.text);
  EXPECT_EQ(got->document.metadata, put.document.metadata);
  EXPECT_EQ(got->document.origins, put.document.origins);
  EXPECT_FALSE(got->document.addressable);
  ASSERT_EQ(got->document.chunks.size(), 3U);
  EXPECT_EQ(got->document.chunks[2].lead, "a | b");
  EXPECT_EQ(got->document.chunks[2].page, 7U);
  EXPECT_EQ(got->document.chunks[2].sentences[0].pages_on, 3U);
  EXPECT_EQ(got->document.chunks[1].section, 1U);
  EXPECT_EQ(got->document.chunks[1].sentences[0].span, put.document.chunks[1].sentences[0].span);
  EXPECT_TRUE(got->document.chunks[1].sentences[0].opens_block);
  EXPECT_EQ(got->vectors[1][2].whole, put.vectors[1][2].whole);
  EXPECT_EQ(got->vectors[0][1].sentences, put.vectors[0][1].sentences);
  const auto origins = store_->origins(ids->at(0));
  ASSERT_TRUE(origins);
  EXPECT_EQ(*origins, put.document.origins);
  const auto heads = store_->heads(*ids);
  ASSERT_TRUE(heads) << heads.error().what;
  ASSERT_EQ(heads->size(), 1U);
  ASSERT_EQ(heads->at(0).sections.size(), 2U);
  EXPECT_EQ(heads->at(0).sections[1].title, "Two");
  EXPECT_EQ(heads->at(0).sections[1].span, put.document.sections[1].span);

  const auto info = store_->find_index("local", "i");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->documents, 1);
  EXPECT_EQ(info->chunks, 3);
  EXPECT_EQ(info->tokens, 9);
  EXPECT_EQ(info->text_bytes, static_cast<std::int64_t>(put.document.text.size()));
  const auto faults = store_->verify(index->id);
  ASSERT_TRUE(faults);
  EXPECT_TRUE(faults->empty()) << faults->at(0);
}

TEST_P(StoreContract, ChunksCarryTextPathAndVectors) {
  const auto index = store_->create_index("local", "i", two_embedders());
  ASSERT_TRUE(index);
  DocumentWithVectors put = sample_document("a.md", {"one", "two"}, {4, 2});
  put.document.sections.push_back({.title = "Install", .parent = 0, .span = {4, 8}});
  put.document.chunks[1].section = 1;
  ASSERT_TRUE(store_->put(index->id, std::span(&put, 1)));
  const auto ids = ids_of(*store_, index->id);
  ASSERT_EQ(ids.size(), 2U);
  const std::vector<ChunkId> wanted{ids[1], ids[1] + 1000};
  const auto chunks = store_->chunks(index->id, wanted);
  ASSERT_TRUE(chunks);
  ASSERT_EQ(chunks->size(), 1U);
  EXPECT_EQ(chunks->at(0).text, "two\n");
  EXPECT_EQ(chunks->at(0).path, "Install");
  ASSERT_EQ(chunks->at(0).vectors.size(), 2U);
  EXPECT_EQ(chunks->at(0).vectors[0].sentence(0).values.size(), 4U);
}

TEST_P(StoreContract, TheSameKeyReplacesAndIdsAreNeverUsedTwice) {
  const auto index = store_->create_index("local", "i", {});
  ASSERT_TRUE(index);
  const auto first = sample_document("a", {"one", "two"}, {});
  ASSERT_TRUE(store_->put(index->id, std::span(&first, 1)));
  const auto before = ids_of(*store_, index->id);
  const auto second = sample_document("a", {"three"}, {});
  ASSERT_TRUE(store_->put(index->id, std::span(&second, 1)));
  const auto after = ids_of(*store_, index->id);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_GT(after[0], before.back());
  const std::vector<std::string> keys{"a", "nobody"};
  const auto removed = store_->remove(index->id, keys);
  ASSERT_TRUE(removed);
  EXPECT_EQ(*removed, std::vector<std::string>{"a"});
  EXPECT_TRUE(ids_of(*store_, index->id).empty());
  reopen();
  ASSERT_TRUE(store_->put(index->id, std::span(&first, 1)));
  EXPECT_GT(ids_of(*store_, index->id).front(), after[0]);
}

TEST_P(StoreContract, TellsWhatWasRemovedBetweenRevisions) {
  const auto index = store_->create_index("local", "i", {});
  ASSERT_TRUE(index);
  const DocumentWithVectors both[] = {sample_document("a", {"1", "2"}, {}), sample_document("b", {"3"}, {})};
  ASSERT_TRUE(store_->put(index->id, both));
  const auto ids = ids_of(*store_, index->id);
  const Revision then = store_->find_index("local", "i")->revision;
  const std::vector<std::string> keys{"a"};
  ASSERT_TRUE(store_->remove(index->id, keys));
  const auto gone = store_->removed_since(index->id, then);
  ASSERT_TRUE(gone && *gone);
  ASSERT_EQ((*gone)->size(), 1U);
  EXPECT_EQ((**gone)[0].first, ids[0]);
  EXPECT_EQ((**gone)[0].last, ids[1]);
  const Revision now = store_->find_index("local", "i")->revision;
  EXPECT_GT(now, then);
  const auto stamp = store_->find_stamp("local", "i");
  ASSERT_TRUE(stamp);
  EXPECT_EQ(stamp->id, index->id);
  EXPECT_EQ(stamp->revision, now);
  const auto nothing = store_->removed_since(index->id, now);
  ASSERT_TRUE(nothing && *nothing);
  EXPECT_TRUE((*nothing)->empty());
  const auto future = store_->removed_since(index->id, now + 1);
  ASSERT_TRUE(future);
  EXPECT_FALSE(*future);  // a revision that never was: build anew
  EXPECT_EQ(*store_->living(index->id), std::vector<ChunkId>{ids[2]});
}

TEST_P(StoreContract, AllOrNoneOfABatchIsPut) {
  const auto index = store_->create_index("local", "i", two_embedders());
  ASSERT_TRUE(index);
  const DocumentWithVectors batch[] = {sample_document("good", {"x"}, {4, 2}),
                                       sample_document("bad", {"y"}, {4, 3})};
  const auto put = store_->put(index->id, batch);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Errc::bad_input);
  EXPECT_TRUE(ids_of(*store_, index->id).empty());
  DocumentWithVectors gap = sample_document("gap", {"x", "y"}, {4, 2});
  gap.document.chunks[1].span.start += 1;
  EXPECT_FALSE(store_->put(index->id, std::span(&gap, 1)));
  EXPECT_FALSE(store_->put(index->id + 99, std::span(batch, 1)));
}

TEST_P(StoreContract, FiltersAreStrictAboutTypes) {
  const auto index = store_->create_index("local", "i", {});
  ASSERT_TRUE(index);
  std::vector<DocumentWithVectors> documents;
  for (const auto& [key, metadata] :
       std::vector<std::pair<std::string, Metadata>>{{"one", {{"k", "\"a\""}, {"n", "1"}}},
                                                     {"two", {{"k", "\"b\""}, {"n", "\"1\""}}},
                                                     {"three", {{"f", "true"}, {"q\"'k", "null"}}}}) {
    documents.push_back(sample_document(key, {key}, {}));
    documents.back().document.metadata = metadata;
  }
  const auto ids = store_->put(index->id, documents);
  ASSERT_TRUE(ids);
  const auto matching = [&](const Filter& filter) {
    const auto found = store_->matching(index->id, filter);
    EXPECT_TRUE(found);
    return found ? *found : std::vector<DocumentId>{};
  };
  EXPECT_EQ(matching({}), *ids);
  EXPECT_EQ(matching({{"k", "\"b\""}}), std::vector{ids->at(1)});
  EXPECT_EQ(matching({{"n", "1"}}), std::vector{ids->at(0)});
  EXPECT_EQ(matching({{"n", "\"1\""}}), std::vector{ids->at(1)});
  EXPECT_EQ(matching({{"f", "true"}}), std::vector{ids->at(2)});
  EXPECT_EQ(matching({{"q\"'k", "null"}}), std::vector{ids->at(2)});
  EXPECT_TRUE(matching({{"f", "1"}}).empty());
  EXPECT_TRUE(matching({{"k", "\"a\""}, {"n", "2"}}).empty());
  EXPECT_FALSE(store_->matching(index->id, {{"k", "not json"}}));
  const auto page = store_->documents(index->id, {}, ids->at(0), 1);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->size(), 1U);
  EXPECT_EQ(page->at(0).key, "two");
}

TEST_P(StoreContract, RemovingAnIndexTakesAllOfItAndNothingElse) {
  const auto a = store_->create_index("local", "a", {});
  const auto b = store_->create_index("local", "b", {});
  ASSERT_TRUE(a && b);
  const auto document = sample_document("d", {"x"}, {});
  ASSERT_TRUE(store_->put(a->id, std::span(&document, 1)));
  ASSERT_TRUE(store_->put(b->id, std::span(&document, 1)));
  ASSERT_TRUE(store_->remove_index(a->id));
  EXPECT_FALSE(store_->remove_index(a->id));
  EXPECT_FALSE(store_->find_index("local", "a"));
  EXPECT_EQ(ids_of(*store_, b->id).size(), 1U);
  const auto again = store_->create_index("local", "a", {});
  ASSERT_TRUE(again);
  EXPECT_GT(again->id, b->id);
}

TEST_P(StoreContract, ARenamedIndexTakesThePlaceOfAnother) {
  const auto old = store_->create_index("local", "i", {});
  const auto made = store_->create_index("loading", "made", {});
  ASSERT_TRUE(old && made);
  const auto was = sample_document("old", {"x"}, {});
  const auto is = sample_document("new", {"y", "z"}, {});
  ASSERT_TRUE(store_->put(old->id, std::span(&was, 1)));
  ASSERT_TRUE(store_->put(made->id, std::span(&is, 1)));
  EXPECT_FALSE(store_->rename_index(made->id, "local", ""));
  ASSERT_TRUE(store_->rename_index(made->id, "local", "i"));
  const auto found = store_->find_index("local", "i");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, made->id);
  EXPECT_EQ(found->chunks, 2);
  EXPECT_TRUE(*store_->head(found->id, "new"));
  EXPECT_FALSE(*store_->head(found->id, "old"));
  EXPECT_TRUE(store_->indexes("loading")->empty());
  EXPECT_TRUE(store_->verify(found->id)->empty());
  EXPECT_FALSE(store_->rename_index(old->id, "local", "j"));  // it is gone
}

TEST_P(StoreContract, AVisitorsErrorEndsTheWalk) {
  const auto index = store_->create_index("local", "i", {});
  ASSERT_TRUE(index);
  const auto document = sample_document("d", {"x", "y", "z"}, {});
  ASSERT_TRUE(store_->put(index->id, std::span(&document, 1)));
  int seen = 0;
  const auto walked = store_->each_chunk(index->id, 0, [&](const StoredChunk&, auto) -> Result<void> {
    if (++seen == 2) return fail(Errc::timed_out, "enough");
    return {};
  });
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error().what, "enough");
  EXPECT_EQ(seen, 2);
}

TEST_P(StoreContract, ThreadsReadWhileOthersWrite) {
  const auto index = store_->create_index("local", "i", {});
  ASSERT_TRUE(index);
  std::atomic<bool> done = false;
  std::atomic<int> reads = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!done) {
        // One view at a time: chunks of a document are all there or none.
        std::vector<ChunkId> seen;
        ASSERT_TRUE(store_->each_chunk(index->id, 0, [&](const StoredChunk& chunk, auto) -> Result<void> {
          seen.push_back(chunk.id);
          return {};
        }));
        EXPECT_EQ(seen.size() % 3, 0U);
        ++reads;
      }
    });
  }
  for (int i = 0; i < 40; ++i) {
    const auto document = sample_document("d" + std::to_string(i % 5), {"x", "y", "z"}, {});
    ASSERT_TRUE(store_->put(index->id, std::span(&document, 1)));
  }
  while (reads < 4) std::this_thread::yield();
  done = true;
  threads.clear();
  EXPECT_EQ(ids_of(*store_, index->id).size(), 15U);
}

// Against a model of what a store is: a list of documents.
TEST_P(StoreContract, AgreesWithAPlainListAfterRandomChanges) {
  const auto index = store_->create_index("local", "i", {});
  ASSERT_TRUE(index);
  std::mt19937 random{11};
  std::map<std::string, std::vector<std::string>> expected;
  int changes = 0;
  for (int round = 0; round < 120; ++round) {
    const std::string key = "k" + std::to_string(random() % 8);
    if (random() % 3 == 0) {
      const std::vector<std::string> keys{key};
      const auto removed = store_->remove(index->id, keys);
      ASSERT_TRUE(removed);
      EXPECT_EQ(removed->size(), expected.erase(key));
    } else {
      std::vector<std::string> texts(random() % 4);
      for (std::string& text : texts)
        text = std::string(1 + random() % 9, static_cast<char>('a' + random() % 26));
      const auto document = sample_document(key, texts, {});
      ASSERT_TRUE(store_->put(index->id, std::span(&document, 1)));
      expected[key] = texts;
      ++changes;
    }
    if (round % 30 == 29) reopen();
  }
  EXPECT_GT(changes, 50);
  const auto heads = store_->documents(index->id, {}, 0, 100);
  ASSERT_TRUE(heads);
  ASSERT_EQ(heads->size(), expected.size());
  for (const DocumentHead& head : *heads) {
    const auto document = store_->document(head.id);
    ASSERT_TRUE(document);
    std::string text;
    for (const std::string& each : expected.at(head.key)) text += each + "\n";
    EXPECT_EQ(document->document.text, text);
  }
  const auto faults = store_->verify(index->id);
  ASSERT_TRUE(faults);
  EXPECT_TRUE(faults->empty());
}

}  // namespace
}  // namespace plimsoll

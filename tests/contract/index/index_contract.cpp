#include "contract/index/index_contract.hpp"

#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace plimsoll {

namespace {

// The upper half of a float, rounded.
std::uint16_t bf16_of(float value) {
  return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(value) + 0x8000U) >> 16U);
}

}  // namespace

using Documents = std::vector<DocumentId>;

void IndexContract::SetUp() {
  IndexSettings settings;
  settings.embedders = {{.name = "two", .dimensions = 2, .max_tokens = 0}};
  ASSERT_TRUE(store_.create_index("local", "docs", settings));
  reopen();
}

void IndexContract::reopen() {
  index_.reset();
  auto opened = GetParam().open(store_, store_.info, made_.path());
  ASSERT_TRUE(opened) << opened.error().what;
  index_ = *std::move(opened);
}

DocumentId IndexContract::add(const std::string& key,
                              const std::vector<std::pair<std::string, float>>& chunks) {
  DocumentWithVectors one;
  one.document.key = key;
  one.vectors.resize(1);
  for (const auto& [text, direction] : chunks) {
    Chunk chunk;
    chunk.span.start = one.document.text.size();
    one.document.text += text;
    chunk.span.end = one.document.text.size();
    one.document.chunks.push_back(chunk);
    ChunkVectors vectors;
    for (const float value : {std::cos(direction), std::sin(direction)})
      vectors.whole.push_back(bf16_of(value));
    one.vectors[0].push_back(std::move(vectors));
  }
  const auto ids = store_.put(store_.info.id, std::span(&one, 1));
  EXPECT_TRUE(ids);
  EXPECT_TRUE(index_->refresh());
  return ids->front();
}

Documents IndexContract::documents(const std::vector<Hit>& hits) const {
  Documents out;
  for (const Hit& hit : hits) out.push_back(hit.document);
  return out;
}

TEST_P(IndexContract, AnEmptyOneFindsNothing) {
  EXPECT_EQ(index_->size(), 0U);
  EXPECT_TRUE(index_->lexical("anchor", 10)->empty());
  EXPECT_TRUE(index_->nearest(0, std::vector<float>{1, 0}, 10)->empty());
}

TEST_P(IndexContract, FindsWordsBestFirst) {
  const DocumentId much = add("much", {{"The anchor chain of the anchor holds the anchor. ", 0}});
  const DocumentId little = add("little", {{"Bread, flour, salt, water and one anchor on the table. ", 1}});
  add("none", {{"The cook bakes bread on Fridays. ", 2}});
  const auto hits = index_->lexical("anchor", 10).value();
  EXPECT_EQ(documents(hits), (Documents{much, little}));
  EXPECT_GT(hits[0].score, hits[1].score);
  EXPECT_GT(hits[1].score, 0);
  EXPECT_EQ(index_->lexical("anchor", 1)->size(), 1U);
}

TEST_P(IndexContract, FindsVectorsNearestFirst) {
  const DocumentId near = add("near", {{"one ", 0.1F}});
  const DocumentId far = add("far", {{"two ", 0.9F}});
  const auto hits = index_->nearest(0, std::vector<float>{1, 0}, 10).value();
  ASSERT_EQ(documents(hits), (Documents{near, far}));
  EXPECT_NEAR(hits[0].score, std::cos(0.1F), 0.02);
}

TEST_P(IndexContract, SearchesOnlyTheDocumentsThatAreNamed) {
  const DocumentId first = add("first", {{"The anchor is up. ", 0.1F}});
  const DocumentId second = add("second", {{"The anchor is down. ", 0.2F}});
  const Documents only{second}, nobody;
  EXPECT_EQ(documents(index_->lexical("anchor", 10, &only).value()), only);
  EXPECT_EQ(documents(index_->nearest(0, std::vector<float>{1, 0}, 10, &only).value()), only);
  EXPECT_TRUE(index_->lexical("anchor", 10, &nobody)->empty());
  EXPECT_EQ(index_->lexical("anchor", 10)->size(), 2U);
  EXPECT_NE(first, second);
}

TEST_P(IndexContract, FollowsTheStore) {
  add("stays", {{"The anchor is up. ", 0.1F}});
  add("goes", {{"The anchor is down. ", 0.2F}});
  EXPECT_FALSE(index_->refresh().value());  // there is nothing new
  const std::vector<std::string> gone{"goes"};
  ASSERT_TRUE(store_.remove(store_.info.id, gone));
  EXPECT_EQ(index_->lexical("anchor", 10)->size(), 2U);  // until it is refreshed
  EXPECT_TRUE(index_->refresh().value());
  EXPECT_EQ(index_->lexical("anchor", 10)->size(), 1U);
  EXPECT_EQ(index_->nearest(0, std::vector<float>{1, 0}, 10)->size(), 1U);
  EXPECT_EQ(index_->size(), 1U);
  EXPECT_EQ(index_->revision(), store_.info.revision);
}

TEST_P(IndexContract, IsTheSameAfterARestart) {
  for (int i = 0; i < 30; ++i)
    add(fmt::format("d{}", i),
        {{fmt::format("The anchor number {} is up. ", i), 0.05F * static_cast<float>(i)}});
  const auto words = documents(index_->lexical("anchor 17", 5).value());
  const auto vectors = documents(index_->nearest(0, std::vector<float>{1, 0}, 5).value());
  reopen();
  EXPECT_EQ(index_->size(), 30U);
  EXPECT_EQ(documents(index_->lexical("anchor 17", 5).value()), words);
  EXPECT_EQ(documents(index_->nearest(0, std::vector<float>{1, 0}, 5).value()), vectors);
}

TEST_P(IndexContract, FindsManyNamesAtOnce) {
  add("snow", {{"Snow White\n\nDirected by Xawery Zulawski. ", 0}});
  add("page", {{"A page about Xawery Zulawski. ", 1}});
  add("rest", {{"Bread, flour, salt and water. ", 2}});
  const std::vector<std::string> keys{"snow white", "xawery zulawski", "nobody"};
  const auto titles = index_->named(NameUse::title, keys, 10).value();
  ASSERT_EQ(titles.size(), 3U);
  EXPECT_EQ(titles[0].total, 1U);
  EXPECT_EQ(documents(titles[0].chunks), Documents{1});
  EXPECT_EQ(titles[1].total + titles[2].total, 0U);
  const auto mentions = index_->named(NameUse::mention, keys, 1).value();
  EXPECT_EQ(mentions[1].total, 2U);
  EXPECT_EQ(mentions[1].chunks.size(), 1U);
  EXPECT_EQ(index_->named(NameUse::mention, keys, 0).value()[1].total, 2U);
  const auto most = index_->most_mentioned(1).value();
  ASSERT_EQ(most.size(), 1U);
  EXPECT_EQ(most[0].key, "xawery zulawski");
  EXPECT_EQ(most[0].chunks, 2U);
}

TEST_P(IndexContract, FindsWordsInTheirOtherForms) {
  const DocumentId english = add("english", {{"Both anchors were raised. ", 0}});
  add("rest", {{"Bread, flour, salt and water. ", 2}});
  EXPECT_EQ(documents(index_->lexical("raising an anchor", 10).value()), Documents{english});
  EXPECT_TRUE(index_->lexical("the of and", 10)->empty());  // stop words alone
  EXPECT_GT(index_->average_words(), 2);
}

TEST_P(IndexContract, TakesAnyBytes) {
  add("bytes", {{std::string("A quote \" a slash \\ a zero ") + '\0' + " and \xff\xfe bytes. ", 0.1F}});
  for (const std::string_view query : {"quote \" } ) {", "\\", "\xff\n\t", "zero \x01"})
    EXPECT_TRUE(index_->lexical(query, 10)) << query;
  EXPECT_EQ(index_->lexical("slash", 10)->size(), 1U);
  const std::vector<std::string> keys{"\" } ) {", "\xff"};
  EXPECT_EQ(index_->named(NameUse::title, keys, 10)->size(), 2U);
}

TEST_P(IndexContract, WeighsRareWordsMore) {
  for (int i = 0; i < 10; ++i) add(fmt::format("d{}", i), {{"The anchor is up. ", 0}});
  add("rare", {{"The galley is warm. ", 0}});
  const auto terms = index_->terms("the anchor galley of bergen").value();
  ASSERT_EQ(terms.size(), 3U);  // without stop words
  const auto idf = [&](std::string_view word) {
    for (const QueryTerm& term : terms)
      if (term.term.starts_with(word)) return term.idf;
    ADD_FAILURE() << word;
    return 0.0F;
  };
  EXPECT_LT(idf("anchor"), idf("galley"));
  EXPECT_LE(idf("galley"), idf("bergen"));
}

}  // namespace plimsoll

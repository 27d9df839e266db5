#include "retrieve/links.hpp"

#include <map>

#include <gtest/gtest.h>

namespace plimsoll::retrieve {
namespace {

// An index that knows names only.
class Names final : public Index {
 public:
  void add(NameUse use, std::string key, ChunkId chunk) {
    chunks_[{use, std::move(key)}].push_back({chunk, chunk, 1});
  }
  Result<std::vector<NamedChunks>> named(NameUse use, std::span<const std::string> keys,
                                         std::size_t most) const override {
    std::vector<NamedChunks> out(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto found = chunks_.find({use, keys[i]});
      if (found == chunks_.end()) continue;
      out[i] = {found->second, found->second.size()};
      if (out[i].chunks.size() > most) out[i].chunks.resize(most);
    }
    return out;
  }

  std::size_t size() const override { return 0; }
  Revision revision() const override { return 0; }
  Result<std::vector<Hit>> lexical(std::string_view, std::size_t,
                                   const std::vector<DocumentId>*) const override {
    return std::vector<Hit>{};
  }
  Result<std::vector<Hit>> nearest(std::size_t, std::span<const float>, std::size_t,
                                   const std::vector<DocumentId>*) const override {
    return std::vector<Hit>{};
  }
  Result<std::vector<QueryTerm>> terms(std::string_view) const override { return std::vector<QueryTerm>{}; }
  float average_words() const override { return 1; }
  Result<std::vector<NameCount>> most_mentioned(std::size_t) const override {
    return std::vector<NameCount>{};
  }
  Result<bool> refresh() override { return false; }

 private:
  std::map<std::pair<NameUse, std::string>, std::vector<Hit>> chunks_;
};

// Documents of one chunk with one sentence; ids from 1.
struct Documents {
  explicit Documents(const std::vector<std::pair<std::string, float>>& texts) {
    ChunkId id = 0;
    for (const auto& [text, score] : texts) {
      auto chunk = std::make_shared<ReadChunk>();
      chunk->stored.id = chunk->stored.document = ++id;
      chunk->stored.text = text;
      chunk->stored.chunk.span = {0, text.size()};
      chunks.push_back({std::move(chunk)});
      ScoredSentence sentence;
      sentence.span = {0, text.size()};
      sentence.score = score;
      sentence.relevance = score / 2;
      scores.push_back({sentence});
      document_chunks.push_back(1);
    }
    for (const auto& list : chunks) inputs.push_back({list, nullptr});
  }

  float score(std::size_t document) const { return scores[document - 1][0].score; }

  std::vector<ChunkCache::Chunks> chunks;
  std::vector<StretchInput> inputs;
  std::vector<std::int64_t> document_chunks;
  SentenceScores scores;
};

TEST(Links, LeadFromASentenceToTheDocumentThatItNames) {
  Names index;
  index.add(NameUse::title, "xawery zulawski", 2);
  index.add(NameUse::title, "snow white", 1);
  Documents documents({{"Snow White was directed by Xawery Żuławski.", 1},
                       {"He is a son of Anna.", 0.1F},
                       {"A third.", 0.2F}});
  const auto links = links_of_sentences(index, "Who is the mother of the director of Snow White?",
                                        documents.inputs, documents.scores)
                         .value();
  ASSERT_EQ(links.size(), 1U);  // the question names Snow White itself
  EXPECT_EQ(links[0].chunk, 2);
  EXPECT_EQ(links[0].from, 1);
  EXPECT_EQ(links[0].name, "xawery zulawski");
  add_links(links, {}, documents.inputs, documents.document_chunks, documents.scores);
  EXPECT_GT(documents.score(2), documents.score(3));
  EXPECT_GT(documents.score(1), documents.score(2));
  EXPECT_EQ(documents.scores[1][0].link, 0U);
  EXPECT_EQ(documents.scores[2][0].link, no_link);
  EXPECT_FLOAT_EQ(documents.score(1), 1);
  EXPECT_GT(documents.scores[1][0].relevance, 0.05F);
  EXPECT_LE(documents.scores[1][0].relevance, 0.5F);  // that of the sentence that names it
}

TEST(Links, FollowMentionsOfNamesThatAreNoTitle) {
  Names index;
  for (const ChunkId chunk : {1, 2}) index.add(NameUse::mention, "steve hillage", chunk);
  Documents documents(
      {{"Green is an album by Steve Hillage.", 1}, {"The partner of Steve Hillage is a musician.", 0.3F}});
  const auto links = links_of_sentences(index, "Who is the partner of the performer of Green?",
                                        documents.inputs, documents.scores)
                         .value();
  ASSERT_EQ(links.size(), 1U);  // not back to the document itself
  EXPECT_EQ(links[0].chunk, 2);
  EXPECT_EQ(links[0].use, NameUse::mention);
}

TEST(Links, DoNotFollowNamesThatManyMention) {
  Names index;
  for (ChunkId chunk = 1; chunk <= 11; ++chunk) index.add(NameUse::mention, "london", chunk);
  Documents documents({{"She lives in London.", 1}});
  EXPECT_TRUE(links_of_sentences(index, "Where does she live?", documents.inputs, documents.scores)->empty());
}

TEST(Links, PreferTheSentenceWithTheRestOfTheQuestion) {
  Names index;
  index.add(NameUse::title, "anna", 2);
  index.add(NameUse::title, "berta", 3);
  Documents documents({{"Anna and Berta were there.", 1}, {"One.", 0.1F}, {"Two.", 0.1F}});
  documents.scores[0][0].words = 0b01;
  documents.scores[1][0].words = 0b01;  // what the first sentence has already
  documents.scores[2][0].words = 0b10;
  const std::vector<QueryTerm> terms{{"a", 3}, {"b", 3}};
  const auto links = links_of_sentences(index, "a b?", documents.inputs, documents.scores).value();
  ASSERT_EQ(links.size(), 2U);
  add_links(links, terms, documents.inputs, documents.document_chunks, documents.scores);
  EXPECT_GT(documents.score(3), documents.score(2));
}

TEST(Links, OfTheQuestionAreTitlesInAnyCaseAndTheLongestOnes) {
  Names index;
  index.add(NameUse::title, "isle of man", 1);
  index.add(NameUse::title, "man", 2);
  index.add(NameUse::other, "nfl", 3);
  const auto links = links_of_question(index, "is the NFL shown on the isle of man?").value();
  ASSERT_EQ(links.size(), 2U);
  EXPECT_EQ(links[0].chunk + links[1].chunk, 4);
  EXPECT_EQ(links[0].from, 0);
}

TEST(Links, ToALongDocumentCountLess) {
  Names index;
  index.add(NameUse::title, "anna", 1);
  index.add(NameUse::title, "berta", 2);
  Documents documents({{"One.", 0.5F}, {"Two.", 0.5F}, {"Best.", 1}});
  documents.document_chunks[0] = 100;
  const auto links = links_of_question(index, "Anna or Berta?").value();
  add_links(links, {}, documents.inputs, documents.document_chunks, documents.scores);
  EXPECT_GT(documents.score(2), documents.score(1));
  EXPECT_GT(documents.score(1), 0.5F * documents.score(3));
}

TEST(Links, OfNothingAreNone) {
  const Names index;
  SentenceScores none;
  EXPECT_TRUE(links_of_question(index, "")->empty());
  EXPECT_TRUE(links_of_sentences(index, "", {}, none)->empty());
  add_links({}, {}, {}, {}, none);
}

}  // namespace
}  // namespace plimsoll::retrieve

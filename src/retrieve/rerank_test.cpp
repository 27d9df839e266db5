#include "retrieve/rerank.hpp"

#include <gtest/gtest.h>

namespace plimsoll::retrieve {
namespace {

// Likes texts that have a word; returns one score too few if `broken`.
class Fake final : public Reranker {
 public:
  explicit Fake(std::string word, bool broken = false) : word_(std::move(word)), broken_(broken) {}
  std::string_view name() const override { return "fake"; }
  Result<std::vector<float>> score(std::string_view, std::span<const std::string_view> texts,
                                   Deadline) override {
    read += texts.size();
    std::vector<float> out;
    for (const std::string_view text : texts)
      out.push_back(text.find(word_) != std::string_view::npos ? 1.0F : 0.0F);
    if (broken_) out.pop_back();
    return out;
  }
  std::size_t read = 0;

 private:
  std::string word_;
  bool broken_;
};

// One document of sentences with falling scores.
Evidence evidence_of(const std::vector<std::string>& sentences) {
  StoredChunk chunk;
  Stretch stretch;
  stretch.document = std::make_shared<DocumentHead>();
  float score = 1;
  for (const std::string& sentence : sentences) {
    const std::uint64_t at = chunk.text.size();
    chunk.text += sentence;
    ScoredSentence scored;
    scored.span = {at, at + sentence.size()};
    scored.tokens = 60;
    scored.score = score;
    stretch.sentences.push_back(scored);
    score *= 0.8F;
  }
  chunk.chunk.span = {0, chunk.text.size()};
  stretch.chunks = {std::make_shared<const StoredChunk>(std::move(chunk))};
  Evidence out;
  out.stretches = {std::move(stretch)};
  return out;
}

float score_at(const Evidence& evidence, std::size_t i) {
  return evidence.stretches[0].sentences[i].score;
}

const Deadline patience = Deadline::after(std::chrono::minutes(1));

TEST(Rerank, RaisesWhatTheRerankerPrefersAndKeepsTheBestScore) {
  Evidence evidence = evidence_of({"The rope. ", "The mast. ", "The keel. ", "The bell. "});
  Fake fake("mast");
  ASSERT_TRUE(rerank("?", fake, {}, patience, evidence));
  EXPECT_EQ(fake.read, 4U);
  EXPECT_GT(score_at(evidence, 1), score_at(evidence, 0));
  EXPECT_FLOAT_EQ(score_at(evidence, 1), 1);
  EXPECT_GT(score_at(evidence, 2), score_at(evidence, 3));
}

TEST(Rerank, ReadsOnlyTheBest) {
  Evidence evidence = evidence_of({"The rope. ", "The mast. ", "The keel. ", "The bell. "});
  Fake fake("bell");
  ASSERT_TRUE(rerank("?", fake, {.units = 2}, patience, evidence));
  EXPECT_EQ(fake.read, 2U);
  EXPECT_FLOAT_EQ(score_at(evidence, 0), 1);
}

TEST(Rerank, AFailureLeavesTheEvidenceAsItIs) {
  Evidence evidence = evidence_of({"The rope. ", "The mast. "});
  Fake broken("mast", true);
  const auto done = rerank("?", broken, {}, patience, evidence);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::unsupported);
  EXPECT_FLOAT_EQ(score_at(evidence, 0), 1);
  EXPECT_FLOAT_EQ(score_at(evidence, 1), 0.8F);
  Evidence nothing;
  EXPECT_TRUE(rerank("?", broken, {}, patience, nothing));
}

}  // namespace
}  // namespace plimsoll::retrieve

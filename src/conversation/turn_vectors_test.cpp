#include "conversation/turn_vectors.hpp"

#include <gtest/gtest.h>

#include "conversation/testing_sessions.hpp"

namespace plimsoll::conversation {
namespace {

using VectorStore = MemorySessions;

// Counts the texts that it is given.
class CountingEmbedder final : public Embedder {
 public:
  const EmbedderInfo& info() const override { return info_; }
  Result<std::vector<float>> embed(std::span<const std::string_view> texts, Deadline) override {
    embedded += texts.size();
    std::vector<float> out;
    for (std::size_t i = 0; i < texts.size(); ++i) out.insert(out.end(), {1, 0});
    return out;
  }
  Result<std::vector<float>> embed_query(std::string_view, Deadline) override {
    return std::vector<float>{1, 0};
  }

  std::size_t embedded = 0;

 private:
  EmbedderInfo info_{.name = "counting", .dimensions = 2, .max_tokens = 0};
};

class Vectors : public testing::Test {
 protected:
  Vectors() {
    index_.add({true, "One sentence. And another.", 0, 0});
    index_.add({false, "The model says nothing.", 0, 0});
    index_.add({true, "A third one.", 0, 0});
  }
  TurnVectors::Meanings find(const std::string& owner, const std::string& session) {
    return vectors_.find(owner, session, "Which?", index_, order_, 1,
                         Deadline::after(std::chrono::seconds(5)));
  }

  VectorStore store_;
  CountingEmbedder embedder_;
  TurnVectors vectors_{store_, [this] { return Result<Embedder*>(&embedder_); }, 1'000};
  TurnIndex index_;
  std::vector<std::size_t> order_{0, 1, 2};
};

TEST_F(Vectors, AreComputedOnceForTheSentencesOfTheUser) {
  const auto found = find("a", "s");
  EXPECT_EQ(embedder_.embedded, 3U);
  EXPECT_EQ(found.turns[0].size(), 4U);
  EXPECT_TRUE(found.turns[1].empty());
  EXPECT_EQ(found.turns[2], packed_vectors(std::vector<float>{1, 0}));
  EXPECT_EQ(found.missing, 0U);
  EXPECT_EQ(find("a", "s").turns, found.turns);
  EXPECT_EQ(embedder_.embedded, 3U);
  EXPECT_EQ(store_.kept["a/s"].size(), 2U);
}

TEST_F(Vectors, AreNotSharedBetweenOwnersAndSessions) {
  find("a", "s");
  find("a", "other");
  find("b", "s");
  EXPECT_EQ(embedder_.embedded, 9U);
}

TEST_F(Vectors, OfRequestsWithoutASessionAreNotWritten) {
  find("a", "");
  EXPECT_TRUE(store_.kept.empty());
  find("a", "");
  EXPECT_EQ(embedder_.embedded, 3U);
  find("b", "");
  EXPECT_EQ(embedder_.embedded, 6U);
}

TEST_F(Vectors, SayWhyThereAreNone) {
  TurnVectors without(store_, {}, 1'000);
  const auto found =
      without.find("a", "s", "Which?", index_, order_, 1, Deadline::after(std::chrono::seconds(5)));
  EXPECT_TRUE(found.question.empty());
  EXPECT_NE(found.note.find("embedder"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::conversation

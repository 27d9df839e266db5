#include "search/lexical.hpp"

#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "search/bm25.hpp"
#include "search/testing_hits.hpp"

namespace plimsoll::search {
namespace {

std::shared_ptr<const LivingPart> part_of(const std::vector<std::string>& texts, ChunkId first,
                                          const std::vector<std::size_t>& dead = {}) {
  SegmentBuilder builder;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string_view text = texts[i];
    const ChunkId id = first + static_cast<ChunkId>(i);
    builder.add(id, id / 3, std::span(&text, 1));
  }
  std::shared_ptr<Bits> bits;
  if (!dead.empty()) {
    bits = std::make_shared<Bits>(texts.size());
    for (const std::size_t i : dead) bits->set(i);
  }
  auto segment =
      std::make_shared<const Segment>(builder.finish(1, 1, first + static_cast<ChunkId>(texts.size())));
  return std::make_shared<const LivingPart>(std::move(segment), std::move(bits));
}

TEST(Lexical, FindsNothingInNothing) {
  const Lexical empty({});
  EXPECT_TRUE(empty.search("ship", 10, nullptr).empty());
  EXPECT_EQ(empty.terms("ship").size(), 1U);
}

// Paragraphs of about thirty words: enough to tell the language.
const std::vector<std::string> german{
    "Die Netzwerkkarten des Rechners werden von dem Kern erkannt, und die Treiber werden dann geladen, wenn "
    "sie nicht "
    "schon im Kern sind.",
    "Der Drucker ist mit einem Kabel an den Rechner angeschlossen, und er wird von dem Dienst verwaltet, der "
    "auf dem "
    "Rechner mit dem Bildschirm ist."};
const std::vector<std::string> french{
    "Les imprimantes sont configurées par un service de la machine, et les utilisateurs ne peuvent pas "
    "changer les "
    "réglages qui ont été choisis.",
    "Le noyau est chargé au démarrage de la machine, et les pilotes des cartes sont cherchés dans un dossier "
    "qui est lu "
    "par le service."};

std::vector<ChunkId> ids_of(const std::vector<Hit>& hits) {
  std::vector<ChunkId> out;
  for (const Hit& hit : hits) out.push_back(hit.chunk);
  return out;
}

TEST(Lexical, WordsAreStemmedInTheLanguageOfTheText) {
  const Lexical lexical(
      {part_of(german, 1), part_of(french, 11), part_of({"The ferries leave at nine."}, 21)});
  EXPECT_EQ(ids_of(lexical.search("Wie wird eine Netzwerkkarte erkannt?", 1, nullptr)),
            (std::vector<ChunkId>{1}));
  EXPECT_EQ(ids_of(lexical.search("Comment configurer une imprimante ?", 1, nullptr)),
            (std::vector<ChunkId>{11}));
  EXPECT_EQ(ids_of(lexical.search("ferry", 1, nullptr)), (std::vector<ChunkId>{21}));
  // Too short to tell its language: the languages of the index are tried.
  EXPECT_EQ(ids_of(lexical.search("Netzwerkkarte", 9, nullptr)), (std::vector<ChunkId>{1}));
  EXPECT_EQ(ids_of(lexical.search("configurer", 9, nullptr)), (std::vector<ChunkId>{11}));
  const auto terms = lexical.terms("Netzwerkkarten");
  ASSERT_EQ(terms.size(), 1U);
  EXPECT_FALSE(terms[0].others.empty());
  EXPECT_EQ(terms[0].word, "netzwerkkarten");
  EXPECT_TRUE(lexical.search("wird die der", 9, nullptr).empty()) << "German stop words";
  EXPECT_TRUE(lexical.most_mentioned(9).empty()) << "a language is not a name";
  for (const char* query : {"Wie wird eine Netzwerkkarte erkannt?", "cartes Rechner ferry service"})
    EXPECT_EQ(shown(lexical.search(query, 9, nullptr)), shown(lexical.search_all(query, 9, nullptr)));
}

TEST(Lexical, WordsOfScriptsWithoutSpacesAreFound) {
  const Lexical lexical(
      {part_of({"ネットワークの設定は管理者が行います。", "プリンタの設定を変更する。", "鍵を管理する"}, 1),
       part_of({"网络配置由管理员完成。", "打印机的设置可以修改。"}, 11)});
  EXPECT_EQ(ids_of(lexical.search("ネットワーク", 9, nullptr)), (std::vector<ChunkId>{1}));
  EXPECT_EQ(ids_of(lexical.search("プリンタの変更", 1, nullptr)), (std::vector<ChunkId>{2}));
  EXPECT_EQ(ids_of(lexical.search("鍵", 9, nullptr)), (std::vector<ChunkId>{3})) << "between particles";
  EXPECT_EQ(ids_of(lexical.search("网络怎么配置？", 1, nullptr)), (std::vector<ChunkId>{11}));
}

TEST(Lexical, ScoresByBm25) {
  const Lexical lexical({part_of({"red ship", "ship ship sails", "the blue whale dives deep"}, 1)});
  EXPECT_DOUBLE_EQ(lexical.average_words(), (2 + 3 + 4) / 3.0);
  const auto hits = lexical.search("ships", 10, nullptr);
  ASSERT_EQ(hits.size(), 2U);
  const double idf = std::log(1 + (3 - 2 + 0.5) / (2 + 0.5));
  EXPECT_EQ(hits[0].chunk, 2);
  EXPECT_NEAR(hits[0].score, idf * 2.2 * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 3)), 1e-6);
  EXPECT_EQ(hits[1].chunk, 1);
  EXPECT_NEAR(hits[1].score, idf * 2.2 * 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3)), 1e-6);
}

TEST(Lexical, LeavesStopWordsOutAndGivesUnseenWordsTheLargestIdf) {
  const Lexical lexical({part_of({"red ship", "ship", "whale"}, 1)});
  EXPECT_TRUE(lexical.search("the of", 10, nullptr).empty());
  const auto terms = lexical.terms("The ships and the ship, a whale, a unicorn");
  ASSERT_EQ(terms.size(), 3U);
  EXPECT_EQ(terms[0].term, "ship");
  EXPECT_LT(terms[0].idf, terms[1].idf);
  EXPECT_EQ(terms[2].term, "unicorn");
  EXPECT_LT(terms[1].idf, terms[2].idf);
}

TEST(Lexical, GivesTiesToTheLowerId) {
  const Lexical lexical({part_of({"ship", "ship", "ship"}, 1), part_of({"ship", "ship"}, 10)});
  const auto hits = lexical.search("ship", 4, nullptr);
  ASSERT_EQ(hits.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(hits[i].chunk, (std::vector<ChunkId>{1, 2, 3, 10})[i]);
}

// Words as in real text: some in every chunk, most in few.
std::string random_text(std::mt19937& rng, std::size_t words) {
  std::string text;
  for (std::size_t i = 0; i < words; ++i) {
    const double u = static_cast<double>(rng() % 100'000 + 1) / 100'000;
    text += fmt::format("w{} ", static_cast<int>(std::pow(u, 4) * 2000));
  }
  return text;
}

// Windows must be crossed, blocks skipped, and many queries must find something.
TEST(Lexical, AgreesWithReadingAllOnRandomText) {
  std::mt19937 rng{23};
  std::vector<std::shared_ptr<const LivingPart>> parts;
  std::vector<std::string> living;
  ChunkId next = 1;
  for (const std::size_t size : {9000U, 700U, 1U, 130U}) {
    std::vector<std::string> texts;
    std::vector<std::size_t> dead;
    for (std::size_t i = 0; i < size; ++i) {
      // Later parts have longer chunks, so that the average differs from the one of their block
      // weights.
      texts.push_back(random_text(rng, size == 9000 ? 5 + rng() % 40 : 60 + rng() % 200));
      if (rng() % 5 == 0)
        dead.push_back(i);
      else
        living.push_back(texts.back());
    }
    parts.push_back(part_of(texts, next, dead));
    next += static_cast<ChunkId>(size) + 5;
  }
  const Lexical lexical(parts);
  const Lexical fresh({part_of(living, 1)});
  EXPECT_EQ(lexical.size(), living.size());
  EXPECT_DOUBLE_EQ(lexical.average_words(), fresh.average_words());
  std::size_t found = 0;
  for (int round = 0; round < 600; ++round) {
    const std::string query = random_text(rng, 1 + rng() % 8);
    std::vector<DocumentId> only;
    for (DocumentId id = 0; id < next / 3; ++id)
      if (rng() % 3 == 0) only.push_back(id);
    const std::vector<DocumentId>* filter = round % 4 == 0 ? &only : nullptr;
    const std::size_t k = 1 + rng() % 30;
    const auto hits = lexical.search(query, k, filter);
    EXPECT_EQ(shown(hits), shown(lexical.search_all(query, k, filter))) << query;
    found += hits.size();
    if (filter == nullptr) {  // the scores equal those of an index without the deleted chunks
      const auto anew = fresh.search_all(query, k, nullptr);
      ASSERT_EQ(hits.size(), anew.size());
      for (std::size_t i = 0; i < hits.size(); ++i) EXPECT_EQ(hits[i].score, anew[i].score);
    }
  }
  EXPECT_GT(found, 5000U);
}

}  // namespace
}  // namespace plimsoll::search

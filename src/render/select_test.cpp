#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/paths.hpp"
#include "plimsoll/passage.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {
namespace {

Tokenizer tokenizer(std::string_view name = "o200k_base") {
  const auto cache = base::cache_folder(base::current_environment());
  static const TokenizerLibrary library(cache / "assets", cache / "tokenizers");
  auto opened = library.open(name);
  EXPECT_TRUE(opened) << opened.error().what;
  return *opened;
}

struct Said {
  std::string text;
  float score;
};

// A stretch of consecutive sentences, one blank apart.
Stretch stretch_of(DocumentId id, const std::string& key, const std::vector<Said>& sentences,
                   std::uint64_t start = 0) {
  Stretch out;
  auto document = std::make_shared<DocumentHead>();
  document->id = id;
  document->key = key;
  out.document = document;
  StoredChunk chunk;
  chunk.id = id * 100;
  for (const Said& said : sentences) {
    if (!chunk.text.empty()) chunk.text += ' ';
    const std::uint64_t at = start + chunk.text.size();
    chunk.text += said.text;
    out.sentences.push_back(
        {.span = {at, at + said.text.size()}, .tokens = tokenizer().count(said.text), .score = said.score});
  }
  chunk.chunk.span = {start, start + chunk.text.size()};
  out.chunks = {std::make_shared<const StoredChunk>(std::move(chunk))};
  return out;
}

// "Leave > Sick leave": nested sections of the document, which begin at `start` and reach to `end`.
void add_sections(Stretch& stretch, std::string_view path, std::uint64_t start, std::uint64_t end) {
  auto document = std::make_shared<DocumentHead>(*stretch.document);
  std::vector<DocumentSection>& sections = document->sections;
  if (sections.empty()) sections.push_back({.title = "", .parent = 0, .span = {0, 1'000'000}});
  for (std::uint32_t parent = 0; !path.empty(); parent = static_cast<std::uint32_t>(sections.size() - 1)) {
    const std::size_t size = std::min(path.find(" > "), path.size());
    sections.push_back({.title = std::string(path.substr(0, size)), .parent = parent, .span = {start, end}});
    path.remove_prefix(std::min(path.size(), size + 3));
  }
  stretch.document = std::move(document);
}

void change(Stretch& stretch, const std::string& lead, const std::string& path) {
  StoredChunk chunk = *stretch.chunks[0];
  chunk.chunk.lead = lead;
  chunk.path = path;
  auto document = std::make_shared<DocumentHead>(*stretch.document);
  document->sections.clear();
  stretch.document = std::move(document);
  add_sections(stretch, path, chunk.chunk.span.start, chunk.chunk.span.end);
  stretch.chunks[0] = std::make_shared<const StoredChunk>(std::move(chunk));
}

Evidence harbour() {
  Evidence out;
  out.stretches = {
      stretch_of(1, "log.md",
                 {{"The ship left harbour at dawn.", 0.2F},
                  {"Her cargo was grain from Odessa.", 0.9F},
                  {"The hold was full to the line.", 0.8F},
                  {"Nobody saw the gulls.", 0.1F},
                  {"She drew five fathoms of water.", 0.7F}}),
      stretch_of(2, "crew.md",
                 {{"The cook had signed on in Genoa.", 0.6F}, {"He could not swim a stroke.", 0.05F}})};
  return out;
}

std::vector<std::string> texts(const Selection& selection) {
  std::vector<std::string> out;
  for (const SelectedPassage& passage : selection.passages) out.push_back(passage.text);
  return out;
}

TEST(Select, EachPartOfAQuestionGetsItsShare) {
  Evidence evidence;
  const std::string filler = " was written in the log of the ship on that day.";
  std::vector<Said> first, second;
  for (const char* word : {"Alpha", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot"}) {
    first.push_back({word + filler, 0.9F});
    second.push_back({word + std::string(" of the other watch") + filler, 0.5F});
  }
  evidence.stretches = {stretch_of(1, "one.md", first), stretch_of(2, "two.md", second)};
  const auto tokens_by_document = [&](std::uint32_t parts) {
    evidence.parts = parts;
    for (ScoredSentence& sentence : evidence.stretches[1].sentences) sentence.part = parts - 1;
    std::map<std::string, Tokens> tokens;
    const Selection selection = select_passages(evidence, tokenizer(), {.budget = 80, .labels = false});
    for (const SelectedPassage& passage : selection.passages) {
      tokens[passage.key] += passage.tokens;
      EXPECT_EQ(passage.reason.starts_with("part "), parts > 1) << passage.reason;
    }
    return tokens;
  };
  EXPECT_EQ(tokens_by_document(1)["two.md"], 0);
  auto shared = tokens_by_document(2);
  EXPECT_GE(shared["one.md"], 24);
  EXPECT_GE(shared["two.md"], 24);
}

TEST(Select, ALeadStandsBeforeWhatFollowsItAlone) {
  Evidence code;
  code.stretches = {stretch_of(1, "app.py",
                               {{"import retry", 0.9F},
                                {"y = compute(8, 7, 6, 5, 4, 3, 2, 1, 0)", 0},
                                {"def make_app():", 0},
                                {"x = compute(1, 2, 3, 4, 5, 6, 7, 8, 9)", 0},
                                {"retry.policy(5)", 0.9F}})};
  change(code.stretches[0], "def make_app():", "");
  const auto chosen = select_passages(code, tokenizer(), {.budget = 24, .labels = false});
  std::map<std::string, std::string> leads;
  for (const SelectedPassage& passage : chosen.passages) leads[passage.text] = passage.lead;
  ASSERT_TRUE(leads.contains("import retry") && leads.contains("retry.policy(5)")) << leads.size();
  EXPECT_EQ(leads["import retry"], "") << "it stands before the function";
  EXPECT_EQ(leads["retry.policy(5)"], "def make_app():");
}

TEST(Select, ATableKeepsItsHeaderWhenAnotherTableHasTheSame) {
  const std::string header = "| Name | Depth |";
  Evidence tables;
  tables.stretches = {
      stretch_of(1, "depths.md", {{"| Dover | 9 |", 0.9F}, {"The next table is of 1886.", 0}}),
      stretch_of(1, "depths.md", {{header, 0}, {"| Deal | 4 |", 0}}, 100)};
  change(tables.stretches[0], header, "");
  Stretch& both = tables.stretches[0];
  both.chunks.push_back(tables.stretches[1].chunks[0]);
  for (ScoredSentence sentence : tables.stretches[1].sentences) {
    sentence.chunk = 1;
    both.sentences.push_back(sentence);
  }
  tables.stretches.pop_back();
  const auto chosen = select_passages(tables, tokenizer(), {.budget = 20, .labels = false});
  ASSERT_FALSE(chosen.passages.empty());
  EXPECT_EQ(chosen.passages[0].text, "| Dover | 9 |");
  EXPECT_EQ(chosen.passages[0].lead, header);
}

TEST(Select, TakesTheBestThatFitAndJoinsNeighbours) {
  const auto chosen = select_passages(harbour(), tokenizer(), {.budget = 51});
  EXPECT_EQ(
      texts(chosen),
      (std::vector<std::string>{
          "The ship left harbour at dawn. Her cargo was grain from Odessa. The hold was full to the line.",
          "She drew five fathoms of water.", "The cook had signed on in Genoa."}));
  EXPECT_LE(chosen.tokens, 51);
  EXPECT_EQ(chosen.tokens, tokenizer().count(chosen.text));
  EXPECT_FLOAT_EQ(chosen.passages[0].score, 0.9F);
}

TEST(Select, SpansPointAtTheText) {
  Evidence evidence;
  evidence.stretches = {
      stretch_of(3, "a", {{"One sentence here.", 0.5F}, {"Another one there.", 0.6F}}, 1'000)};
  const auto chosen = select_passages(evidence, tokenizer(), {.budget = 100});
  ASSERT_EQ(chosen.passages.size(), 1U);
  EXPECT_EQ(chosen.passages[0].span, (Span{1'000, 1'037}));
  EXPECT_EQ(chosen.passages[0].text, evidence.stretches[0].chunks[0]->text);
}

TEST(Select, LeavesOutWhatIsNotRelevantAlthoughThereIsRoom) {
  Evidence evidence = harbour();
  for (Stretch& stretch : evidence.stretches)
    for (ScoredSentence& sentence : stretch.sentences) sentence.relevance = sentence.score / 2;
  const auto chosen = select_passages(evidence, tokenizer(), {.budget = 1'000, .least_relevance = 0.4F});
  EXPECT_EQ(texts(chosen),
            (std::vector<std::string>{"Her cargo was grain from Odessa. The hold was full to the line."}));
  EXPECT_FLOAT_EQ(chosen.passages[0].relevance, 0.45F);
  EXPECT_TRUE(
      select_passages(evidence, tokenizer(), {.budget = 1'000, .least_relevance = 0.9F}).passages.empty());
}

TEST(Select, WhatStandsAroundAPassageInThePromptCountsAgainstTheBudget) {
  SelectOptions options{.budget = 60, .labels = false};
  options.render = [](const SelectedPassage& passage, std::size_t number) {
    return "<passage id=\"" + std::to_string(number) + ": " + passage.key + "\">\n" + passage.text +
           "\n</passage>\n";
  };
  const auto chosen = select_passages(harbour(), tokenizer(), options);
  ASSERT_FALSE(chosen.passages.empty());
  std::string prompt;
  for (std::size_t i = 0; i < chosen.passages.size(); ++i)
    prompt += options.render(chosen.passages[i], i + 1);
  EXPECT_EQ(chosen.text, prompt);
  EXPECT_EQ(chosen.tokens, tokenizer().count(prompt));
  EXPECT_LE(chosen.tokens, 60);
}

TEST(Select, OrdersAsItIsTold) {
  const auto order = [](PassageOrder wanted) {
    std::vector<float> scores;
    for (const auto& passage :
         select_passages(harbour(), tokenizer(), {.budget = 51, .order = wanted}).passages)
      scores.push_back(passage.score);
    return scores;
  };
  EXPECT_EQ(order(PassageOrder::document), (std::vector<float>{0.9F, 0.7F, 0.6F}));
  EXPECT_EQ(order(PassageOrder::best_first), (std::vector<float>{0.9F, 0.7F, 0.6F}));
  EXPECT_EQ(order(PassageOrder::best_last), (std::vector<float>{0.6F, 0.7F, 0.9F}));
  EXPECT_EQ(order(PassageOrder::both_ends), (std::vector<float>{0.9F, 0.6F, 0.7F}));
  for (const auto each :
       {PassageOrder::document, PassageOrder::best_first, PassageOrder::best_last, PassageOrder::both_ends}) {
    EXPECT_EQ(passage_order_named(name_of(each)), each);
  }
  EXPECT_FALSE(passage_order_named("sideways"));
}

TEST(Select, NamesADocumentOnceAndNumbersItAlways) {
  const auto chosen = select_passages(harbour(), tokenizer(), {.budget = 400, .label_share = 0.2});
  ASSERT_EQ(chosen.passages.size(), 2U);
  EXPECT_EQ(chosen.passages[0].label, "[1: log.md] ");
  EXPECT_EQ(chosen.passages[1].label, "[2: crew.md] ");
  EXPECT_TRUE(chosen.text.starts_with("[1: log.md] The ship left"));
  const auto tight = select_passages(harbour(), tokenizer(), {.budget = 51});
  EXPECT_EQ(tight.passages[0].label, "[1] ");
  EXPECT_EQ(tight.passages[1].label, "[1] ");
  const auto bare = select_passages(harbour(), tokenizer(), {.budget = 400, .labels = false});
  EXPECT_TRUE(bare.text.starts_with("The ship left"));
}

TEST(Select, NamesASectionOnceForAllItsPassages) {
  Evidence evidence = harbour();
  evidence.stretches.pop_back();
  change(evidence.stretches[0], "", "Voyage > Loading");
  evidence.stretches[0].sentences[3].relevance = 0;  // between two that are sent
  const auto chosen =
      select_passages(evidence, tokenizer(), {.budget = 400, .least_relevance = 0.5F, .label_share = 0.2});
  ASSERT_EQ(chosen.passages.size(), 2U);
  EXPECT_EQ(chosen.passages[0].label, "[1: log.md > Voyage > Loading] ");
  EXPECT_EQ(chosen.passages[1].label, "[1] ");
  EXPECT_EQ(chosen.text.find("Loading"), chosen.text.rfind("Loading"));
}

TEST(Select, APassageIsOfOneSection) {
  Evidence evidence;
  evidence.stretches = {stretch_of(1, "book.md", {{"Call by nine when you are ill.", 0.9F}})};
  change(evidence.stretches[0], "", "Leave > Sick leave");
  Stretch next = stretch_of(1, "book.md", {{"Meals are paid up to thirty a day.", 0.8F}}, 31);
  change(next, "", "Expenses");
  evidence.stretches[0].chunks.push_back(next.chunks[0]);
  evidence.stretches[0].sentences.push_back(next.sentences[0]);
  evidence.stretches[0].sentences.back().chunk = 1;
  add_sections(evidence.stretches[0], "Expenses", 31, 100);
  const auto two = select_passages(evidence, tokenizer(), {.budget = 200});
  ASSERT_EQ(two.passages.size(), 2U);
  EXPECT_EQ(two.passages[0].path, "Leave > Sick leave");
  EXPECT_EQ(two.passages[1].path, "Expenses");
  EXPECT_EQ(two.passages[1].text, "Meals are paid up to thirty a day.");
  const auto one = select_passages(evidence, tokenizer(), {.budget = 200, .most_passages = 1});
  EXPECT_EQ(one.passages.size(), 1U);
  change(next, "", "Leave > Sick leave");
  evidence.stretches[0].chunks[1] = next.chunks[0];
  EXPECT_EQ(select_passages(evidence, tokenizer(), {.budget = 200}).passages.size(), 1U);
}

TEST(Select, APassageHasTheHeadingAndThePageOfItsOwnSentences) {
  const std::vector<Said> said{
      {"Either parent may take fourteen months of leave.", 0.9F},
      {"Nothing is said here of leave or of money, and whoever wrote it down went home.", 0.1F},
      {"Hand in receipts within sixty days.", 0.8F}};
  Evidence evidence;
  evidence.stretches = {stretch_of(1, "handbook.pdf", said)};
  Stretch& stretch = evidence.stretches[0];
  const std::vector<ScoredSentence>& sentences = stretch.sentences;
  add_sections(stretch, "Handbook", 0, 1'000);
  auto document = std::make_shared<DocumentHead>(*stretch.document);
  document->sections.push_back(
      {.title = "Parental leave", .parent = 1, .span = {0, sentences[2].span.start}});
  document->sections.push_back({.title = "Expenses", .parent = 1, .span = {sentences[2].span.start, 1'000}});
  stretch.document = document;
  StoredChunk chunk = *stretch.chunks[0];
  chunk.path = "Handbook";
  chunk.chunk.page = 6;
  for (std::size_t i = 0; i < sentences.size(); ++i)
    chunk.chunk.sentences.push_back({.span = sentences[i].span, .pages_on = i == 2 ? 1U : 0U});
  stretch.chunks[0] = std::make_shared<const StoredChunk>(std::move(chunk));

  const auto apart = select_passages(evidence, tokenizer(), {.budget = 200, .least_share = 0.5F});
  ASSERT_EQ(apart.passages.size(), 2U);
  EXPECT_EQ(apart.passages[0].path, "Handbook > Parental leave");
  EXPECT_EQ(apart.passages[0].page, 6U);
  EXPECT_EQ(apart.passages[0].last_page, 6U);
  EXPECT_EQ(apart.passages[1].path, "Handbook > Expenses");
  EXPECT_EQ(apart.passages[1].page, 7U);
  EXPECT_EQ(apart.passages[1].last_page, 7U);
  const auto joined = select_passages(evidence, tokenizer(), {.budget = 200});
  ASSERT_EQ(joined.passages.size(), 1U);
  EXPECT_EQ(joined.passages[0].path, "Handbook");
  EXPECT_EQ(joined.passages[0].page, 6U);
  EXPECT_EQ(joined.passages[0].last_page, 7U);
}

TEST(Select, ADocumentWithoutHeadingsIsLabelledWithItsTitle) {
  Evidence evidence = harbour();
  auto document = std::make_shared<DocumentHead>(*evidence.stretches[0].document);
  document->metadata["title"] = "\"The log\"";
  evidence.stretches[0].document = document;
  EXPECT_EQ(select_passages(evidence, tokenizer(), {.budget = 400}).passages[0].label,
            "[1: log.md > The log] ");
  add_sections(evidence.stretches[0], "The log", 500, 600);
  EXPECT_EQ(select_passages(evidence, tokenizer(), {.budget = 400}).passages[0].path, "The log");
  add_sections(evidence.stretches[0], "The crew", 600, 700);
  EXPECT_EQ(select_passages(evidence, tokenizer(), {.budget = 400}).passages[0].path, "")
      << "the title is the heading of another part";
  evidence.stretches[0].document = document;
  document->metadata["title"] = "7";
  EXPECT_EQ(select_passages(evidence, tokenizer(), {.budget = 400}).passages[0].label, "[1: log.md] ");
}

TEST(Select, SentencesThatDifferInANumberOrANegationAreNoRepetitions) {
  const std::string rule =
      "Whoever has worked here for a whole year gets {} days of paid leave in each following year.";
  Evidence evidence;
  evidence.stretches = {
      stretch_of(1, "2024.md", {{fmt::format(fmt::runtime(rule), 27), 0.9F}}),
      stretch_of(2, "2025.md", {{fmt::format(fmt::runtime(rule), 30), 0.8F}}),
      stretch_of(3, "copy.md", {{fmt::format(fmt::runtime(rule), 27), 0.7F}}),
      stretch_of(4, "not.md", {{"It is not " + fmt::format(fmt::runtime(rule), 27), 0.6F}})};
  const auto chosen = select_passages(evidence, tokenizer(), {.budget = 400});
  std::vector<std::string> keys;
  for (const SelectedPassage& passage : chosen.passages) keys.push_back(passage.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"2024.md", "2025.md", "not.md"}));
}

TEST(Select, SaysWhyADocumentHasNoPassage) {
  const auto reasons = [](const Evidence& evidence, const SelectOptions& options) {
    std::map<DocumentId, std::string> by_document;
    for (const LeftOutDocument& one : select_passages(evidence, tokenizer(), options).left_out)
      by_document[one.document] = one.reason;
    return by_document;
  };
  Evidence evidence;
  evidence.stretches = {stretch_of(1, "a.md", {{"Her cargo was grain from the port of Odessa.", 0.9F}}),
                        stretch_of(2, "copy.md", {{"Her cargo was grain from the port of Odessa.", 0.8F}}),
                        stretch_of(3, "weak.md", {{"Nobody saw the gulls above the mast.", 0.2F}})};
  evidence.stretches[2].sentences[0].relevance = 0.1F;
  auto why = reasons(evidence, {.budget = 300, .least_relevance = 0.25F});
  EXPECT_EQ(why.size(), 2U);
  EXPECT_EQ(why[2], "says what another passage says");
  EXPECT_EQ(why[3], "no sentence near enough (relevance 0.10, the least is 0.25)");
  why = reasons(evidence, {.budget = 300, .least_share = 0.6F});
  EXPECT_EQ(why[3], "score 0.20, less than 60 % of the best");
  why = reasons(evidence, {.budget = 300, .most_passages = 1});
  EXPECT_EQ(why[3], "the number of passages is limited to 1 (score 0.20)");
  why = reasons(evidence, {.budget = 8});
  EXPECT_EQ(why[1], "not among the best for 8 tokens (score 0.90)");
}

TEST(Select, AHeadingIsTakenWithItsTextOnly) {
  Evidence evidence;
  evidence.stretches = {stretch_of(
      1, "book.md",
      {{"## Sick leave", 0.9F}, {"Whoever is ill calls the office by nine in the morning.", 0.8F}})};
  change(evidence.stretches[0], "", "Leave > Sick leave");
  const Tokens heading = tokenizer().count("[1: book.md > Leave > Sick leave] ## Sick leave");
  EXPECT_TRUE(select_passages(evidence, tokenizer(), {.budget = heading}).passages.empty());
  const auto both = select_passages(evidence, tokenizer(), {.budget = 200});
  ASSERT_EQ(both.passages.size(), 1U);
  EXPECT_TRUE(both.passages[0].text.starts_with("## Sick leave")) << both.passages[0].text;
  change(evidence.stretches[0], "", "Leave");  // it says more than the label does
  EXPECT_EQ(select_passages(evidence, tokenizer(), {.budget = heading}).passages.size(), 1U);
}

TEST(Select, GivesATablesHeaderWithItsRow) {
  Evidence evidence;
  evidence.stretches = {stretch_of(1, "ships.csv", {{"Cutty Sark, 1869, Dumbarton", 0.9F}})};
  change(evidence.stretches[0], "name, year, built at", "");
  const auto chosen = select_passages(evidence, tokenizer(), {.budget = 100});
  EXPECT_EQ(chosen.text, "[1: ships.csv] name, year, built at\nCutty Sark, 1869, Dumbarton");
  EXPECT_EQ(chosen.passages[0].text, "Cutty Sark, 1869, Dumbarton");
}

TEST(Select, LeavesOutWhatIsSaidAlready) {
  Evidence evidence;
  for (DocumentId id = 1; id <= 5; ++id) {
    evidence.stretches.push_back(
        stretch_of(id, "copy" + std::to_string(id),
                   {{"The load line shows how deep a ship may be loaded in salt water.", 0.9F},
                    {"Copy number " + std::to_string(id) + " was made in the year of the flood.", 0.5F}}));
  }
  const auto chosen = select_passages(evidence, tokenizer(), {.budget = 1'000});
  std::size_t said = 0;
  for (std::size_t at = chosen.text.find("load line"); at != std::string::npos;
       at = chosen.text.find("load line", at + 1))
    ++said;
  EXPECT_EQ(said, 1U);
}

TEST(Select, GivesNoMorePassagesThanAskedFor) {
  const auto chosen = select_passages(harbour(), tokenizer(), {.budget = 1'000, .most_passages = 1});
  ASSERT_EQ(chosen.passages.size(), 1U);
  EXPECT_EQ(chosen.passages[0].text, harbour().stretches[0].chunks[0]->text);  // grown from its best sentence
}

TEST(Select, SaysWhyAPassageIsIn) {
  Evidence evidence = harbour();
  evidence.words = {"grain", "swim"};
  evidence.by_meaning = true;
  evidence.stretches[0].sentences[1].words = 1;
  evidence.stretches[0].sentences[1].meaning = 0.625F;
  const auto chosen = select_passages(evidence, tokenizer(), {.budget = 15});
  ASSERT_EQ(chosen.passages.size(), 1U);
  EXPECT_EQ(chosen.passages[0].reason, "words: grain; meaning 0.62");
}

TEST(Select, NothingFitsIntoNothing) {
  EXPECT_TRUE(select_passages(harbour(), tokenizer(), {.budget = 0}).passages.empty());
  EXPECT_TRUE(select_passages(harbour(), tokenizer(), {.budget = 3}).passages.empty());
  EXPECT_TRUE(select_passages({}, tokenizer(), {.budget = 100}).text.empty());
}

// For any evidence, tokenizer and budget: the text has the reported count, within the
// budget.
TEST(Select, NeverExceedsTheBudget) {
  std::mt19937 random{5};
  const char* const bits[] = {"ship",   " hull", "...",        "\n",   "naïve",
                              "載重線", "🚢",    "0x1F",       "\t\t", "supercalifragilistic",
                              "a b c",  "—",     "\"quoted\"", "  "};
  std::size_t full = 0;
  for (int round = 0; round < 1'500; ++round) {
    Evidence evidence;
    for (DocumentId id = 1; id <= static_cast<DocumentId>(1 + random() % 4); ++id) {
      std::vector<Said> sentences;
      for (std::size_t i = 0; i < 1 + random() % 12; ++i) {
        std::string text = "s";
        for (std::size_t w = 0; w < 1 + random() % 20; ++w) text += bits[random() % std::size(bits)];
        sentences.push_back({text + ".", static_cast<float>(random() % 1'000) / 1'000});
      }
      evidence.stretches.push_back(stretch_of(id, "doc" + std::to_string(id) + ".md", sentences));
      change(evidence.stretches.back(), random() % 3 == 0 ? "lead | of the | table" : "", "Some > Heading");
    }
    SelectOptions options;
    options.budget = static_cast<Tokens>(random() % 300);
    options.order = static_cast<PassageOrder>(random() % 4);
    options.labels = random() % 4 != 0;
    options.recount = random() % 2 == 0;
    if (random() % 3 == 0) options.most_passages = 1 + random() % 3;
    const Tokenizer counter = tokenizer(options.recount ? "qwen3" : "o200k_base");
    const auto chosen = select_passages(evidence, counter, options);
    ASSERT_LE(chosen.tokens, options.budget);
    ASSERT_EQ(chosen.tokens, counter.count(chosen.text));
    ASSERT_LE(chosen.passages.size(), options.most_passages.value_or(chosen.passages.size()));
    for (const SelectedPassage& passage : chosen.passages)
      ASSERT_EQ(passage.text.size(), passage.span.size());
    if (chosen.tokens > options.budget * 8 / 10) ++full;
  }
  EXPECT_GT(full, 300U);
}

}  // namespace
}  // namespace plimsoll

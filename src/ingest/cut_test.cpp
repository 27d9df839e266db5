#include "ingest/cut.hpp"

#include <random>

#include <gtest/gtest.h>

#include "base/testing_time.hpp"
#include "ingest/read/readers.hpp"
#include "ingest/sentences.hpp"
#include "ingest/testing.hpp"
#include "ingest/testing_tokenizer.hpp"

namespace plimsoll::ingest {
namespace {

const Tokenizer& tokenizer() {
  static const Tokenizer opened = testing_tokenizer();
  return opened;
}

// Sentences, with "|" between.
std::string sentences_of(std::string_view text, bool wrapped = true) {
  std::vector<Span> spans;
  add_sentences(text, {0, text.size()}, wrapped, spans);
  std::string all;
  for (const Span span : spans) all += (all.empty() ? "" : "|") + std::string(text_of(text, span));
  return all;
}

Document cut_text(std::string_view bytes, std::string_view name, const CutOptions& options = {}) {
  auto read = read_document(bytes, name, {});
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().what);
  auto document = cut(*std::move(read), tokenizer(), options);
  EXPECT_TRUE(document.has_value());
  EXPECT_EQ(cut_fault(*document, tokenizer(), options), "") << name;
  return *std::move(document);
}

std::string chunks_of(const Document& document) {
  std::string all;
  for (const Chunk& chunk : document.chunks) {
    all += fmt::format("<{}> [{}]", heading_path(document.sections, chunk.section), chunk.lead);
    for (const Sentence& sentence : chunk.sentences)
      all += fmt::format(" {}{}", sentence.opens_block ? "*" : "|", text_of(document.text, sentence.span));
    all += '\n';
  }
  return all;
}

TEST(Sentences, EndAtStops) {
  EXPECT_EQ(sentences_of("She sails. Does she? Yes! \"No.\" He said so. (Or not.) Then"),
            "She sails.|Does she?|Yes!|\"No.\"|He said so.|(Or not.)|Then");
  EXPECT_EQ(sentences_of("Wait... What? \"Really?\" he asked. **Bold.** Next"),
            "Wait...|What?|\"Really?\" he asked.|**Bold.**|Next");
  EXPECT_EQ(sentences_of(""), "");
  EXPECT_EQ(sentences_of(" . . . "), ".|.|.");
}

TEST(Sentences, DoNotEndInsideAbbreviationsAndNumbers) {
  for (const std::string_view whole :
       {"Dr. Smith met J. R. Brown in the U.S. Senate, e.g. Monday.",
        "It is 3.5 m, see Fig. 3 and No. 12 on p. 4.", "Approx. 5 ships vs. 6, i.e. The more.",
        "1. First of all", "On Jan. 5 we left at 5 a.m. with Ms. Lee.", "The file a.b.c is v1.2.3 now",
        "etc. and so on"})
    EXPECT_EQ(sentences_of(whole), whole);
  EXPECT_EQ(sentences_of("It was No. It was in Jan. We left at 5 p.m. Then it ended in 1999. So."),
            "It was No.|It was in Jan.|We left at 5 p.m.|Then it ended in 1999.|So.");
}

TEST(Sentences, OtherScriptsAndSpacedText) {
  EXPECT_EQ(sentences_of("船が来た。大きい！「本当？」はい"), "船が来た。|大きい！|「本当？」|はい");
  EXPECT_EQ(sentences_of("Er kam. Ändern wir es. élan"), "Er kam.|Ändern wir es. élan");
  EXPECT_EQ(sentences_of("The ship sank . It was a well @-@ built one . \" Yes \" , he said ."),
            "The ship sank .|It was a well @-@ built one .|\" Yes \" , he said .");
}

TEST(Sentences, LineEndsThatAreWrittenOutCountToo) {
  EXPECT_EQ(sentences_of(R"(Steps:\n\n1. Go in.\n2. Come out of C:\new\r.)"),
            R"(Steps:\n\n|1. Go in.\n|2. Come out of C:\new\r.)");
  EXPECT_EQ(sentences_of(R"([{"a": "One here.", "b": "2. Two."}, "Three."])"),
            R"([{"a": "One here.",|"b": "2. Two."},|"Three."])");
}

TEST(Sentences, LineEndsCountUnlessTheTextIsWrapped) {
  EXPECT_EQ(sentences_of("one\ntwo\r\nthree", false), "one|two|three");
  EXPECT_EQ(sentences_of("one\ntwo. Three\n\nfour", true), "one\ntwo.|Three|four");
}

TEST(Sentences, AClauseIsTheBestPlaceToCut) {
  EXPECT_EQ(clause_end("alpha beta, gamma delta", 20), 12U);
  EXPECT_EQ(clause_end("alpha beta gamma delta", 20), 17U);
  EXPECT_EQ(clause_end("alphabetagammadelta", 10), 10U);
  EXPECT_EQ(clause_end("\xC3\xA9\xC3\xA9\xC3\xA9", 5), 4U);
}

TEST(Cut, ChunksStayInsideSectionsUnlessTheseAreTiny) {
  const std::string words =
      "the ship and the line and the deep of the ship to the line of the deep and the ship on the line. ";
  const Document document = cut_text(
      "# A\n\n## B\n\n" + words + "\n\n## C\n\n" + words + words + words + words + "\n\n# D\n\nEnd.\n",
      "a.md", {.chunk_tokens = 90, .sentence_tokens = 80});
  ASSERT_GE(document.chunks.size(), 4U) << chunks_of(document);
  EXPECT_EQ(document.chunks[0].section, 1U);  // "# A" is tiny and goes with B
  EXPECT_EQ(heading_path(document.sections, document.chunks[1].section), "A > C") << chunks_of(document);
  for (const Chunk& chunk : document.chunks)
    EXPECT_EQ(text_of(document.text, chunk.span).find("## C") == std::string_view::npos,
              &chunk != &document.chunks[1]);
}

TEST(Cut, ShortSentencesGoWithANeighbour) {
  EXPECT_EQ(chunks_of(cut_text("Yes. No. Maybe it is so, after all is said.\nOk.\n", "a.txt")),
            "<> [] *Yes. No. Maybe it is so, after all is said.\nOk.\n");
  EXPECT_EQ(chunks_of(cut_text("# Use\n\nIt is used like this.\n", "a.md")),
            "<Use> [] *# Use\n\nIt is used like this.\n");
  EXPECT_EQ(chunks_of(cut_text("def aa(): 1\n\ndef bb(): 2\n", "a.py")), "<> [] *def aa(): 1 *def bb(): 2\n");
}

TEST(Cut, LongSentencesAreDividedAtClausesThenBlanksThenCharacters) {
  const Document clauses =
      cut_text("the ship and the line, the deep and the ship, the line of the deep, and the word of the ship",
               "a.txt", {.chunk_tokens = 200, .sentence_tokens = 16});
  for (const Sentence& sentence : clauses.chunks[0].sentences) EXPECT_LE(sentence.tokens, 16);
  EXPECT_EQ(text_of(clauses.text, clauses.chunks[0].sentences[0].span).back(), ',') << chunks_of(clauses);
  const Document letters = cut_text(std::string(1000, 'q'), "a.txt");
  EXPECT_GT(letters.chunks.size(), 4U);
}

TEST(Cut, RowsAreUnitsAndKnowTheirHeader) {
  EXPECT_EQ(chunks_of(cut_text("name,note of it\nAnn,has the first ship\nBo,has the second ship\n", "t.csv")),
            "<> [name,note of it] *name,note of it *Ann,has the first ship *Bo,has the second ship\n");
}

TEST(Cut, ALongRowIsDividedAtItsSentences) {
  EXPECT_EQ(
      chunks_of(cut_text(
          R"({"a": "The ship and the line of the deep. The line and the ship of the deep.\nThe end of it all."})",
          "a.jsonl", {.chunk_tokens = 80, .sentence_tokens = 40})),
      "<> [] *{\"a\": \"The ship and the line of the deep. |The line and the ship of the deep.\\n |The end "
      "of it all.\"}\n");
}

TEST(Cut, AChunkOfTwoSectionsIsLabelledWithWhatIsAroundBoth) {
  const Document document = cut_text(
      "# Handbook\n\n## Leave\n\n### Sick leave\n\nCall by nine.\n\n## Expenses\n\n"
      "Meals are paid up to thirty a day and hotels up to ninety.\n",
      "a.md");
  for (const Chunk& chunk : document.chunks) {
    const std::string_view text = text_of(document.text, chunk.span);
    const std::string path = heading_path(document.sections, chunk.section);
    if (text.find("Meals") != std::string_view::npos) {
      EXPECT_EQ(path.find("Leave"), std::string::npos) << chunks_of(document);
    }
    if (text.find("Call by nine") != std::string_view::npos) {
      EXPECT_EQ(path.find("Expenses"), std::string::npos) << chunks_of(document);
    }
  }
}

TEST(Cut, SentencesKnowTheirPages) {
  auto cut_pages = cut(read_pages("A short note.\n\nOne more page.\fIt ends here.\n\n7\f\fThe last page has "
                                  "a sentence of its own.\n"),
                       tokenizer(), {});
  ASSERT_TRUE(cut_pages);
  ASSERT_EQ(cut_pages->chunks.size(), 1U) << "the pages are tiny";
  const Chunk& chunk = cut_pages->chunks[0];
  EXPECT_EQ(chunk.page, 1U);
  std::string pages;
  for (const Sentence& sentence : chunk.sentences)
    pages += fmt::format("{}: {}\n", page_at(chunk, sentence.span.start),
                         one_line(text_of(cut_pages->text, sentence.span), 100));
  EXPECT_EQ(pages,
            "1: A short note.\n1: One more page.\n2: It ends here. 7\n4: The last page has a sentence of its "
            "own.\n");
}

TEST(Cut, CodeIsDividedBetweenLines) {
  std::string block, indented;
  for (int i = 0; i < 40; ++i) {
    const std::string line =
        fmt::format("value_{} = compute(alpha={}, beta={}, gamma=\"{}\")  # 1. Set. 2. Go.\n", i, i * 7,
                    i * 31, std::string(static_cast<std::size_t>(i % 9), 'x'));
    block += line;
    indented += "  " + line;
  }
  for (const std::string& text : {"Text before it.\n\n```python\n" + block + "```\n\nText after it.\n",
                                  "- An item:\n\n  ```\n" + indented + "  ```\n"}) {
    const Document document = cut_text(text, "a.md", {.chunk_tokens = 600, .sentence_tokens = 200});
    std::size_t inside = 0;
    for (const Chunk& chunk : document.chunks)
      for (const Sentence& sentence : chunk.sentences) {
        if (text_of(document.text, sentence.span).find("value_") == std::string_view::npos) continue;
        ++inside;
        const std::size_t line = document.text.rfind('\n', sentence.span.start);
        EXPECT_EQ(trimmed(document.text, {line, sentence.span.start}).size(), 0U) << chunks_of(document);
        EXPECT_EQ(document.text[sentence.span.end], '\n') << chunks_of(document);
      }
    EXPECT_GT(inside, 10U);
  }
}

TEST(Cut, CodeKeepsItsIndentationInTheChunk) {
  std::string code = "class A:\n";
  for (int i = 0; i < 12; ++i)
    code += fmt::format("    def function_{}(self, argument):\n        return argument + {}\n\n", i, i);
  const Document document = cut_text(code, "a.py");
  for (std::size_t i = 1; i < document.chunks.size(); ++i)
    EXPECT_TRUE(text_of(document.text, document.chunks[i].span).starts_with("    def function_"))
        << chunks_of(document);
}

TEST(Cut, RefusesLimitsThatNothingFits) {
  EXPECT_EQ(cut({}, tokenizer(), {.chunk_tokens = 50, .sentence_tokens = 90}).error().code, Errc::bad_input);
  EXPECT_EQ(cut({}, tokenizer(), {.chunk_tokens = 5, .sentence_tokens = 3}).error().code, Errc::bad_input);
}

TEST(Cut, WhiteSpaceAloneHasNoChunks) {
  EXPECT_TRUE(cut_text(" \n\n\t ", "a.txt").chunks.empty());
  EXPECT_EQ(cut_text("\n\n x \n\n", "a.txt").chunks.size(), 1U);
}

// Whatever a text is made of: see cut_fault.
TEST(Cut, HoldsItsPromisesOnRandomTexts) {
  constexpr std::string_view pieces[] = {
      "the ship and the line",
      " of the deep",
      ". ",
      "! ",
      "? ",
      ", ",
      "\n",
      "\n\n",
      "\r\n",
      "# Head\n",
      "## Sub\n",
      "- item ",
      "| a | b |\n|---|---|\n",
      "```\ncode\n```\n",
      "Dr. ",
      "3.5 ",
      "\xE3\x80\x82",
      "\xE8\x88\xB9",
      "\xF0\x9F\x9A\xA2",
      "\xC2\xA0",
      "\xE3\x80\x80",
      "def f(x):\n    return x\n",
      "class C:\n",
      "{\"a\": [1, 2]}",
      "\"",
      "<p>",
      "</p>",
      "<table><tr><td>",
      "<h2>",
      "<li>",
      "&amp;",
      "    ",
      "\t",
      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
      "a",
      ";",
      "// c\n",
      "}\n",
      "{\n",
      "function f() {\n"};
  constexpr std::string_view names[] = {"a.txt", "a.md",  "a.html", "a.py",    "a.cpp",
                                        "a.js",  "a.csv", "a.json", "a.jsonl", "a.sh"};
  std::mt19937 rng{11};
  std::size_t chunks = 0;
  std::size_t sentences = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const std::size_t length = rng() % 200;
    for (std::size_t i = 0; i < length; ++i) text += pieces[rng() % std::size(pieces)];
    const CutOptions options{.chunk_tokens = static_cast<Tokens>(40 + rng() % 200),
                             .sentence_tokens = static_cast<Tokens>(8 + rng() % 32),
                             .tiny_section_tokens = static_cast<Tokens>(rng() % 40)};
    const std::string_view name = names[rng() % std::size(names)];
    auto read = read_document(text, name, {});
    ASSERT_TRUE(read.has_value()) << read.error().what;
    ASSERT_EQ(read_fault(*read, text), "") << name << "\n" << text;
    const auto document = cut(*std::move(read), tokenizer(), options);
    ASSERT_TRUE(document.has_value());
    ASSERT_EQ(cut_fault(*document, tokenizer(), options), "") << name << "\n" << text;
    chunks += document->chunks.size();
    for (const Chunk& chunk : document->chunks) sentences += chunk.sentences.size();
  }
  EXPECT_GT(chunks, 10'000U);
  EXPECT_GT(sentences, 100'000U);
}

TEST(Cut, TakesTimeInProportionToTheText) {
  const auto seconds = [](const std::string& text, std::string_view name) {
    const double began = base::cpu_seconds();
    cut(*read_document(text, name, {}), tokenizer(), {});
    return base::cpu_seconds() - began;
  };
  for (const std::string_view piece :
       {"The ship and the line of the deep. ", "a", "ok\n", ". ", "\n", "\xE8\x88\xB9"}) {
    std::string text;
    while (text.size() < 2'000'000) text += piece;
    EXPECT_LT(seconds(text, "a.txt"), base::soon_seconds) << piece;
    EXPECT_LT(seconds(text, "a.md"), base::soon_seconds) << piece;
  }
}

}  // namespace
}  // namespace plimsoll::ingest

#include "ingest/read/read.hpp"

#include <gtest/gtest.h>

#include "ingest/read/testing_read.hpp"

namespace plimsoll::ingest {
namespace {

Error error_of(std::string_view bytes, std::string_view name, const ReadOptions& options = {}) {
  const auto read = read_document(bytes, name, options);
  EXPECT_FALSE(read.has_value()) << name;
  return read ? Error{} : read.error();
}

TEST(Read, FindsTheKindByContentAndThenByName) {
  EXPECT_EQ(read("<!DOCTYPE html><p>x", "notes.txt").media_type, "text/html");
  EXPECT_EQ(read("<!-- c -->\n<HTML><p>x", "notes").media_type, "text/html");
  EXPECT_EQ(read("# x", "a/b.c/README.MD").media_type, "text/markdown");
  EXPECT_EQ(read("#!/usr/bin/env python3\nx = 1\n", "run").media_type, "text/x-python");
  EXPECT_EQ(read("{\"a\": 1}", "answer").media_type, "application/json");
  EXPECT_EQ(read("a,b\n1,2\n", "t.csv").media_type, "text/csv");
  EXPECT_EQ(read("just words", "x.unknown").media_type, "text/plain");
  EXPECT_EQ(read("int f();", "x.h").media_type, "text/x-c++");
}

TEST(Read, RefusesWhatIsTooLargeWithTheNumbers) {
  ReadOptions options;
  EXPECT_EQ(check_size(2'100'000'000, options).error().what,
            "2.1 GB is more than the limit of 64 MiB for a document; raise max_document_bytes");
  EXPECT_TRUE(check_size(64U << 20U, options));
  options.max_document_bytes = 3;
  EXPECT_EQ(error_of("four", "x.txt", options).code, Errc::bad_input);
}

TEST(Read, RefusesBinaryFilesAndSaysWhat) {
  using namespace std::string_view_literals;
  EXPECT_EQ(error_of("\x89PNG\r\n\x1A\n0000", "x.txt").what, "binary: a PNG image");
  EXPECT_EQ(error_of("ab\0cd"sv, "x.txt").what, "binary: it has 1 NUL bytes");
  EXPECT_EQ(error_of("\x01\x02\x03\x04 text", "x.txt").code, Errc::unsupported);
  EXPECT_EQ(error_of("\x80\x81\x82\x83\x84\x85", "x.txt").code, Errc::unsupported);
}

TEST(Read, AnEmptyFileIsAnEmptyDocument) {
  for (const std::string_view name : {"a.txt", "a.md", "a.html", "a.py", "a.csv", "a.json", "a.jsonl", "a"}) {
    EXPECT_TRUE(read("", name).blocks.empty()) << name;
    EXPECT_TRUE(read(" \r\n\t\n", name).blocks.empty()) << name;
  }
}

TEST(Read, AByteOrderMarkIsNoPartOfTheText) {
  const ReadDocument text = read("\xEF\xBB\xBFHello", "a.txt");
  EXPECT_EQ(text.text, "Hello");
  EXPECT_EQ(text.origins, (std::vector<Origin>{{.text = 0, .source = 3, .bytes = 5}}));
  const ReadDocument heading = read("\xEF\xBB\xBF# Hello", "a.md");
  EXPECT_EQ(outline(heading), "h <Hello> # Hello\n");
}

TEST(Read, Utf16IsReadButHasNoAddresses) {
  using namespace std::string_view_literals;
  const ReadDocument little = read("\xFF\xFEH\0\xE9\0\x3D\xD8\xA2\xDE"sv, "a.txt");
  EXPECT_EQ(little.text, "H\xC3\xA9\xF0\x9F\x9A\xA2");
  EXPECT_FALSE(little.addressable);
  EXPECT_EQ(read("\xFE\xFF\0H\xD8\x3D"sv, "a.txt").text, "H\xEF\xBF\xBD");  // half a pair
}

TEST(Read, Windows1252KeepsItsAddresses) {
  const std::string_view bytes = "Caf\xE9 \x93quoted\x94 and so on, quite some more of it";
  const ReadDocument text = read(bytes, "a.txt");
  EXPECT_EQ(text.text, "Caf\xC3\xA9 \xE2\x80\x9Cquoted\xE2\x80\x9D and so on, quite some more of it");
  ASSERT_EQ(text.warnings.size(), 1U);
  Document document;
  document.origins = text.origins;
  const std::size_t at = text.text.find("quoted");
  EXPECT_EQ(source_span(document, {at, at + 6}), (Span{6, 12}));
}

TEST(Read, APageOfWhichNothingIsLeftHasNoAddresses) {
  EXPECT_TRUE(read("<html><title>only a title here, caf\xE9", "a.html").origins.empty());
  EXPECT_FALSE(read("<html><body>\xE9", "a.html").addressable);
}

TEST(Read, FlawsInUtf8AreReplacedAndCounted) {
  const ReadDocument text = read("\xC3\xA9\xC3\xA9\xC3\xA9 ok \xFF end", "a.txt");
  EXPECT_EQ(text.text, "\xC3\xA9\xC3\xA9\xC3\xA9 ok \xEF\xBF\xBD end");
  EXPECT_EQ(text.warnings, (std::vector<std::string>{"1 bytes are not UTF-8 and were replaced"}));
  // In markup too: the page's places are those in the file.
  const ReadDocument page = read("<p>\xC3\xA9\xC3\xA9\xFF ok <b>end</b>", "a.html");
  EXPECT_EQ(page.text, "\xC3\xA9\xC3\xA9\xEF\xBF\xBD ok end");
}

TEST(Text, IsDividedAtBlankLines) {
  EXPECT_EQ(outline(read("One two three four.\nFive.\n\n \t\r\nSix seven eight nine.\r\n\r\nTen.", "a.txt")),
            "p One two three four./Five.\np Six seven eight nine.\np Ten.\n");
}

TEST(Text, KnowsWrappedParagraphsFromLists) {
  const ReadDocument wrapped = read(
      "A ship has a line painted on her hull, and it shows how\ndeep she may be loaded. Load her below the "
      "line and "
      "she is\nsafe at sea.",
      "a.txt");
  ASSERT_EQ(wrapped.blocks.size(), 1U);
  EXPECT_TRUE(wrapped.blocks[0].wrapped);
  const ReadDocument chat =
      read("<ann> did you see what the harbour master said to us\n<bob> no\n<ann> well\n", "a.log");
  ASSERT_EQ(chat.blocks.size(), 1U);
  EXPECT_FALSE(chat.blocks[0].wrapped);
}

TEST(Text, OneEndlessLineIsReadInOnePass) {
  for (const std::string_view name : {"a.txt", "a.md", "a.html", "a.js", "a.csv", "a.json"}) {
    const std::string line = repeated("word ", 400'000);
    const ReadDocument text = read(line, name);
    EXPECT_EQ(text.blocks.size(), 1U) << name;
  }
}

TEST(Csv, ARowKnowsItsHeader) {
  const std::string_view bytes = "name,note\r\nAnn,\"said \"\"no\"\",\r\nthen left\"\r\n\r\nBo,5\r\n";
  EXPECT_EQ(
      outline(read(bytes, "t.csv")),
      "r [name,note] name,note\nr [name,note] Ann,\"said \"\"no\"\",\r/then left\"\nr [name,note] Bo,5\n");
  EXPECT_EQ(outline(read("1,2\n3,4\n", "t.csv")), "r 1,2\nr 3,4\n");
  EXPECT_EQ(outline(read("a;b\n\"x;1\ny\";2\n", "t.csv")), "r [a;b] a;b\nr [a;b] \"x;1/y\";2\n");
}

TEST(Csv, AQuoteThatIsNeverClosedDoesNotSwallowTheRest) {
  EXPECT_EQ(read("a,b\n\"open,1\n2,3\n4,5\n", "t.csv").blocks.size(), 4U);
  EXPECT_EQ(read(repeated("\"x\n", 200'001), "t.csv").blocks.size(),
            100'001U);  // pairs make rows of two lines
}

TEST(Json, IsDividedByElement) {
  std::string big;
  for (int i = 0; i < 40; ++i)
    big += fmt::format("{}{{\"id\": {}, \"name\": \"n{}\"}}", i == 0 ? "" : ",\n", i, i);
  const ReadDocument json =
      read(fmt::format("{{\"v\": 1, \"users\": [{}], \"end\": {{\"x\": []}}}}", big), "a.json");
  const std::string lines = outline(json);
  EXPECT_NE(lines.find("r <users> {\"id\": 7, \"name\": \"n7\"},\n"), std::string::npos) << lines;
  EXPECT_NE(lines.find("r \"end\": {\"x\": []}}\n"), std::string::npos) << lines;
  EXPECT_EQ(json.blocks.size(), 44U) << lines;
}

TEST(Json, LinesAreRecordsAndWhatIsNoneIsText) {
  EXPECT_EQ(read("{\"a\": 1}\n{\"a\": 2}\n", "x.jsonl").blocks.size(), 2U);
  EXPECT_EQ(read("{\"a\": 1}\n{\"a\": 2}\n", "x.json").media_type, "application/jsonl");
  const ReadDocument broken = read("{\"a\": ", "x.json");
  EXPECT_EQ(broken.media_type, "text/plain");
  EXPECT_EQ(broken.warnings.size(), 1U);
  EXPECT_EQ(read("{\"a\": 1} trailing \\", "x").media_type, "text/plain");
}

TEST(Json, DepthCostsNoStack) {
  const std::size_t depth = 500'000;
  const ReadDocument deep = read(repeated("[", depth) + repeated("]", depth), "x.json");
  EXPECT_EQ(deep.media_type, "application/json");
  EXPECT_LT(deep.sections.size(), 10U);
}

TEST(Lines, CodeWithoutAGrammarIsDividedAtBlankLines) {
  EXPECT_EQ(outline(read("set -e\necho a\n\nif x; then\n  y\nfi\n", "run.sh")),
            "c set -e/echo a\nc if x; then/  y/fi\n");
}

}  // namespace
}  // namespace plimsoll::ingest

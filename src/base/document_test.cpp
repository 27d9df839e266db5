#include "plimsoll/document.hpp"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(SourceSpan, IsTheSpanItselfWhereTheTextIsTheFile) {
  EXPECT_EQ(source_span(Document{}, {3, 9}), (Span{3, 9}));
}

TEST(SourceSpan, IsMovedByTheOriginsThatHoldItsEnds) {
  Document document;
  document.origins = {{.text = 0, .source = 10, .bytes = 5}, {.text = 7, .source = 40, .bytes = 5}};
  EXPECT_EQ(source_span(document, {1, 4}), (Span{11, 14}));
  EXPECT_EQ(source_span(document, {0, 12}), (Span{10, 45}));
  EXPECT_EQ(source_span(document, {5, 9}), (Span{40, 42}));   // starts between the two
  EXPECT_EQ(source_span(document, {2, 6}), (Span{12, 15}));   // ends between the two
  EXPECT_EQ(source_span(document, {9, 99}), (Span{42, 45}));  // ends after the last
}

TEST(SourceSpan, IsEmptyWhereNothingOfItComesFromTheFile) {
  Document document;
  document.origins = {{.text = 2, .source = 10, .bytes = 5}, {.text = 9, .source = 40, .bytes = 5}};
  EXPECT_EQ(source_span(document, {7, 9}), (Span{40, 40}));
  EXPECT_EQ(source_span(document, {0, 1}), (Span{10, 10}));
  EXPECT_EQ(source_span(document, {14, 20}), (Span{45, 45}));
}

TEST(SourceSpan, NeverEndsBeforeItStarts) {
  Document document;
  document.origins = {{.text = 0, .source = 50, .bytes = 5}, {.text = 5, .source = 10, .bytes = 5}};
  EXPECT_EQ(source_span(document, {0, 10}), (Span{50, 50}));
}

TEST(HeadingPath, NamesTheSectionsFromTheOutside) {
  std::vector<DocumentSection> sections(4);
  sections[1].title = "Guide";
  sections[2] = {.title = "Install", .parent = 1, .span = {}};
  sections[3] = {.title = "Linux", .parent = 2, .span = {}};
  EXPECT_EQ(heading_path(sections, 3), "Guide > Install > Linux");
  EXPECT_EQ(heading_path(sections, 1), "Guide");
  EXPECT_EQ(heading_path(sections, 0), "");
  EXPECT_EQ(heading_path(sections, 9), "");
  sections[2].parent = 3;  // not a tree: must still terminate
  EXPECT_EQ(heading_path(sections, 3), "Install > Linux");
}

TEST(SectionAt, IsTheInnermostOneAndOfTwoPlacesTheOneAroundBoth) {
  const std::vector<DocumentSection> sections{
      {.title = "", .parent = 0, .span = {0, 100}},        {.title = "Guide", .parent = 0, .span = {10, 80}},
      {.title = "Install", .parent = 1, .span = {20, 50}}, {.title = "Linux", .parent = 2, .span = {30, 40}},
      {.title = "empty", .parent = 1, .span = {50, 50}},   {.title = "Use", .parent = 1, .span = {50, 80}}};
  const std::vector<std::pair<std::uint64_t, std::uint32_t>> expected{
      {0, 0}, {10, 1}, {25, 2}, {39, 3}, {40, 2}, {50, 5}, {79, 5}, {80, 0}, {200, 0}};
  for (const auto& [place, section] : expected) EXPECT_EQ(section_at(sections, place), section) << place;
  EXPECT_EQ(section_at({}, 7), 0U);
  EXPECT_EQ(common_section(sections, 3, 3), 3U);
  EXPECT_EQ(common_section(sections, 3, 2), 2U);
  EXPECT_EQ(common_section(sections, 3, 5), 1U);
  EXPECT_EQ(common_section(sections, 0, 5), 0U);
}

TEST(PageAt, IsThatOfTheSentence) {
  Chunk chunk;
  chunk.page = 4;
  EXPECT_EQ(page_at(chunk, 10), 4U);
  chunk.sentences = {
      {.span = {11, 20}}, {.span = {22, 30}, .pages_on = 1}, {.span = {32, 60}, .pages_on = 3}};
  EXPECT_EQ(page_at(chunk, 10), 4U);
  EXPECT_EQ(page_at(chunk, 19), 4U);
  EXPECT_EQ(page_at(chunk, 22), 5U);
  EXPECT_EQ(page_at(chunk, 59), 7U);
}

}  // namespace
}  // namespace plimsoll

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

}  // namespace
}  // namespace plimsoll

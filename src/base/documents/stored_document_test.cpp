#include "base/documents/stored_document.hpp"

#include <gtest/gtest.h>

#include "base/sha256.hpp"

namespace plimsoll::base {
namespace {

TEST(StoredDocument, MetadataComesBackWithItsTypes) {
  const Metadata put{{"a", "1"}, {"b", "\"1\""}, {"c", "true"}, {"d", "[1, 2]"}, {"e", "1.0"}};
  const auto json = metadata_json(put);
  ASSERT_TRUE(json);
  const auto back = metadata_of(*json);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->at("a"), "1");
  EXPECT_EQ(back->at("b"), "\"1\"");
  EXPECT_EQ(*back, *canonical(put));  // what a filter is compared with
  EXPECT_EQ(metadata_json({{"a", "not json"}}).error().code, Errc::bad_input);
  EXPECT_EQ(canonical({{"a", "{"}}).error().code, Errc::bad_input);
  EXPECT_EQ(metadata_of("[]").error().code, Errc::damaged);
}

TEST(StoredDocument, CountsLinesAcrossPartsAndAfterTheEnd) {
  const std::vector<std::uint64_t> bytes{0, 3, 4, 4, 6, 8, 100};
  LineCounter counter(bytes);
  EXPECT_FALSE(counter.is_done());
  counter.read(0, "ab\n\n");
  counter.read(4, "c\nd\ne");
  EXPECT_FALSE(counter.is_done());
  EXPECT_EQ(std::move(counter).lines(), (std::vector<std::uint64_t>{1, 2, 3, 3, 4, 5, 5}));
}

TEST(StoredDocument, ListsTheFirstFaultsAndCountsTheRest) {
  Faults faults;
  for (int i = 0; i < 25; ++i) faults.add(std::to_string(i));
  const auto all = std::move(faults).all();
  ASSERT_EQ(all.size(), 21U);
  EXPECT_EQ(all.back(), "and 5 more");
  EXPECT_TRUE(Faults().all().empty());
}

TEST(StoredDocument, ADocumentKeepsItsFile) {
  Document document;
  document.key = "a";
  const FileSource stored{.path = "/p/a", .root = "/p"}, unknown{.path = std::nullopt, .root = ""};
  EXPECT_EQ(*file_after(stored, document, "i"), stored);
  document.file = {.path = "/q/a", .root = "/q"};
  EXPECT_EQ(file_after(stored, document, "i").error().code, Errc::bad_input);
  EXPECT_EQ(*file_after(unknown, document, "i"), document.file);
}

TEST(StoredDocument, ATextThatIsItsSourceHasItsChecksum) {
  Document document;
  document.text = "The load line is amidships.";
  document.source_bytes = document.text.size();
  document.source_hash = sha256_hex(document.text);
  document.sections = {{.title = "", .parent = 0, .span = {0, document.text.size()}}};
  document.chunks = {
      {.span = {0, document.text.size()}, .tokens = 6, .section = 0, .page = 0, .lead = "", .sentences = {}}};
  DocumentHead head;
  head.chunks = 1;
  head.tokens = 6;
  head.text_bytes = static_cast<std::int64_t>(document.text.size());
  EXPECT_EQ(fault_in(head, document), "");
  document.text[4] = 'r';
  EXPECT_EQ(fault_in(head, document), "its text does not have the checksum of its source");
  document.addressable = false;  // extracted from a PDF, which has another checksum
  EXPECT_EQ(fault_in(head, document), "");
}

}  // namespace
}  // namespace plimsoll::base

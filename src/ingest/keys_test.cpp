#include "ingest/keys.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace plimsoll::ingest {
namespace {

FileSource file(std::string path, std::string root = "/r") {
  return {.path = std::move(path), .root = std::move(root)};
}

TEST(DocumentKeys, TwoFoldersOfTheSameNameNeverShareAKey) {
  DocumentKeys keys({});
  EXPECT_EQ(keys.assign("docs/a.md", file("/p1/docs/a.md"), "1").key, "docs/a.md");
  const auto other = keys.assign("docs/a.md", file("/p2/docs/a.md"), "2");
  EXPECT_EQ(other.key, "p2/docs/a.md");
  EXPECT_FALSE(other.is_stored);
  EXPECT_EQ(keys.assign("docs/a.md", file("/x/p2/docs/a.md"), "3").key, "x/p2/docs/a.md");
  EXPECT_EQ(keys.assign("docs/a.md", file("/docs/a.md"), "4").key, "/docs/a.md");
  EXPECT_EQ(keys.assign("docs/a.md", file("/p1/docs/a.md"), "5").key, "docs/a.md");  // stays
}

TEST(DocumentKeys, AFileKeepsItsKeyWhateverFolderItIsAddedFrom) {
  DocumentKeys keys({{"p2/docs/a.md", "1", file("/p2/docs/a.md", "/p2/docs")}});
  const auto again = keys.assign("a.md", file("/p2/docs/a.md", "/p2/docs/a.md"), "1");
  EXPECT_EQ(again.key, "p2/docs/a.md");
  EXPECT_TRUE(again.is_stored);
  EXPECT_FALSE(again.is_changed);
  EXPECT_FALSE(again.is_adopted);
  EXPECT_EQ(again.file.root, "/p2/docs");
}

TEST(DocumentKeys, DocumentsOfOlderVersionsAreTakenOverAndNotDoubled) {
  const FileSource unknown{.path = std::nullopt, .root = ""};
  DocumentKeys keys({{"docs/a.md", "1", unknown}, {"/p2/docs/a.md", "2", unknown}});
  const auto first = keys.assign("docs/a.md", file("/p1/docs/a.md"), "1");
  EXPECT_EQ(first.key, "docs/a.md");
  EXPECT_TRUE(first.is_stored);
  EXPECT_TRUE(first.is_adopted);
  EXPECT_FALSE(first.is_changed);
  EXPECT_EQ(keys.assign("docs/a.md", file("/p2/docs/a.md"), "2").key, "/p2/docs/a.md");
  EXPECT_EQ(keys.assign("docs/a.md", file("/p3/docs/a.md"), "2").key, "p3/docs/a.md");
}

TEST(DocumentKeys, ADocumentOfAnOlderVersionIsNotTakenForAnotherFoldersFile) {
  const FileSource unknown{.path = std::nullopt, .root = ""};
  DocumentKeys keys({{"docs/a.md", "1", unknown}, {"docs/b.md", "2", unknown}, {"docs/c.md", "3", unknown}});
  const auto other = keys.assign("docs/a.md", file("/p2/docs/a.md", "/p2/docs"), "9");
  EXPECT_EQ(other.key, "p2/docs/a.md");
  EXPECT_FALSE(other.is_stored);
  EXPECT_EQ(keys.assign("docs/b.md", file("/p1/docs/b.md", "/p1/docs"), "2").key, "docs/b.md");
  const auto changed = keys.assign("docs/c.md", file("/p1/docs/c.md", "/p1/docs"), "8");
  EXPECT_EQ(changed.key, "docs/c.md") << "b.md has shown whose folder it is";
  EXPECT_TRUE(changed.is_changed);
}

TEST(DocumentKeys, AnUploadIsNotTakenOver) {
  DocumentKeys keys({{"a.md", "1", FileSource{}}});
  const auto assigned = keys.assign("a.md", file("/p/a.md"), "1");
  EXPECT_EQ(assigned.key, "p/a.md");
  EXPECT_FALSE(assigned.is_stored);
}

TEST(DocumentKeys, AFileThatWasMovedKeepsItsDocument) {
  const base::TemporaryFolder folder{"keys"};
  const std::string here = (folder / "old/a.md").string(), there = (folder / "new/a.md").string();
  std::filesystem::create_directories(folder / "old");
  std::ofstream(here) << "text";
  {
    DocumentKeys keys({{"a.md", "1", file(here)}});
    EXPECT_EQ(keys.assign("a.md", file(there), "1").key, "new/a.md") << "a copy is a document of its own";
  }
  std::filesystem::remove(here);
  DocumentKeys keys({{"a.md", "1", file(here)}});
  const auto moved = keys.assign("a.md", file(there), "1");
  EXPECT_EQ(moved.key, "a.md");
  EXPECT_TRUE(moved.is_adopted);
  EXPECT_EQ(moved.file.path, there);
  DocumentKeys changed({{"a.md", "1", file(here)}});
  EXPECT_EQ(changed.assign("a.md", file(there), "2").key, "new/a.md");
}

TEST(DocumentKeys, WithoutAPathTheLabelIsTheKey) {
  DocumentKeys keys({{"a", "1", FileSource{}}});
  EXPECT_TRUE(keys.assign("a", {}, "2").is_changed);
  EXPECT_FALSE(keys.assign("b", {}, "2").is_stored);
}

}  // namespace
}  // namespace plimsoll::ingest

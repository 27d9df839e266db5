#include "base/files.hpp"

#include <fstream>
#include <future>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/mapped_file.hpp"
#include "base/temporary_folder.hpp"

namespace plimsoll::base {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  fs::path path(std::string_view name) const { return folder_ / name; }
  fs::path written(std::string_view name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  TemporaryFolder made_{"files"};
  fs::path folder_ = made_.path();
};

TEST_F(Files, AMappedFileShowsItsBytesAndSurvivesAMove) {
  const std::string text("abc\0def", 7);
  auto mapped = MappedFile::open(written("a", text));
  ASSERT_TRUE(mapped) << mapped.error().what;
  MappedFile moved = *std::move(mapped);
  EXPECT_EQ(moved.text(), text);
  EXPECT_EQ(moved.bytes().size(), 7U);

  auto other = MappedFile::open(written("b", "other"));
  ASSERT_TRUE(other);
  moved = *std::move(other);
  EXPECT_EQ(moved.text(), "other");
}

TEST_F(Files, AnEmptyFileMapsToNothing) {
  const auto mapped = MappedFile::open(written("empty", ""));
  ASSERT_TRUE(mapped) << mapped.error().what;
  EXPECT_TRUE(mapped->text().empty());
}

TEST_F(Files, AMissingFileIsNotFoundAndNamed) {
  const auto mapped = MappedFile::open(path("none"));
  ASSERT_FALSE(mapped);
  EXPECT_EQ(mapped.error().code, Errc::not_found);
  EXPECT_EQ(mapped.error().what, "cannot open '" + path("none").string() + "': No such file or directory");
  const auto read = read_file(path("none"), 10);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::not_found);
}

TEST_F(Files, AFolderOrAPipeIsNotMapped) {
  const auto folder = MappedFile::open(folder_);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().what, "'" + folder_.string() + "' is a folder, not a file");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const auto pipe = MappedFile::open(path("pipe"));
  ASSERT_FALSE(pipe);
  EXPECT_EQ(pipe.error().code, Errc::bad_input);
}

TEST_F(Files, ReadingStopsAtTheLimit) {
  const fs::path file = written("ten", "0123456789");
  EXPECT_EQ(read_file(file, 10), "0123456789");
  EXPECT_EQ(read_file(file, UINT64_MAX), "0123456789");
  const auto over = read_file(file, 9);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Errc::bad_input);
  EXPECT_EQ(over.error().what, "'" + file.string() + "' is larger than the limit of 9 bytes");
  EXPECT_FALSE(read_file("/dev/zero", 1'000'000));  // endless, without a size
}

TEST_F(Files, ReadsAFileOfManyBlocks) {
  std::string text(3'000'001, 'x');
  text[1'500'000] = 'y';
  EXPECT_TRUE(read_file(written("large", text), UINT64_MAX) == text);
}

TEST_F(Files, AFolderIsNotRead) {
  const auto read = read_file(folder_, 10);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::bad_input);
}

TEST_F(Files, WritingReplacesTheWholeFileAndLeavesNothingBeside) {
  const fs::path file = written("a", "a long first text");
  ASSERT_TRUE(write_atomically(file, "second"));
  EXPECT_EQ(read_file(file, 100), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Files, WritingMakesTheFoldersOnTheWay) {
  ASSERT_TRUE(write_atomically(path("x/y/z"), "deep"));
  EXPECT_EQ(read_file(path("x/y/z"), 100), "deep");
}

TEST_F(Files, AFailedWriteKeepsTheOldStateAndSaysWhy) {
  fs::create_directories(path("taken/by_a_folder"));
  const auto failed = write_atomically(path("taken"), "text");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "cannot replace '" + path("taken").string() + "': Is a directory");
  EXPECT_TRUE(fs::is_directory(path("taken/by_a_folder")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);

  written("file", "");
  const auto under_a_file = write_atomically(path("file/below"), "text");
  ASSERT_FALSE(under_a_file);
  EXPECT_EQ(under_a_file.error().code, Errc::io_failed);
}

TEST_F(Files, AReaderNeverSeesHalfAFile) {
  const fs::path file = path("contended");
  const std::string a(100'000, 'a');
  const std::string b(70'000, 'b');
  ASSERT_TRUE(write_atomically(file, a));
  auto writer = std::async(std::launch::async, [&] {
    for (int round = 0; round < 40; ++round)
      if (!write_atomically(file, round % 2 == 0 ? b : a)) return false;
    return true;
  });
  int seen = 0;
  while (writer.wait_for(std::chrono::seconds(0)) != std::future_status::ready || seen == 0) {
    const auto text = read_file(file, UINT64_MAX);
    ASSERT_TRUE(text);
    ASSERT_TRUE(*text == a || *text == b) << text->size();
    ++seen;
  }
  EXPECT_TRUE(writer.get());
  EXPECT_GT(seen, 0);
}

TEST(TemporaryFolders, AreEachTheirOwnAndGoWithAllThatIsInThem) {
  fs::path gone;
  {
    const TemporaryFolder one("twin"), other("twin");
    gone = one.path();
    EXPECT_NE(one.path(), other.path());
    EXPECT_EQ(fs::status(gone).permissions(), fs::perms::owner_all);
    fs::create_directories(one / "deep");
    std::ofstream(one / "deep" / "file") << "x";
  }
  EXPECT_FALSE(fs::exists(gone));
}

}  // namespace
}  // namespace plimsoll::base

#include "base/weights/checked_file.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "base/temporary_folder.hpp"

namespace plimsoll::base {
namespace {

namespace fs = std::filesystem;

class CheckedFile : public testing::Test {
 protected:
  void write(std::string_view bytes) { ASSERT_TRUE(write_atomically(file_, bytes)); }
  Result<void> check(Checking checking) const {
    return check_file(file_, sha256_hex("right"), folder_ / "notes", checking);
  }
  std::size_t notes() const {
    std::error_code none;
    fs::directory_iterator each(folder_ / "notes", none);
    return static_cast<std::size_t>(std::distance(fs::begin(each), fs::end(each)));
  }

  TemporaryFolder folder_{"checked"};
  fs::path file_ = folder_ / "weights";
};

TEST_F(CheckedFile, AChangedFileIsReadAgain) {
  EXPECT_EQ(check(Checking::if_changed).error().code, Errc::not_found);
  write("right");
  EXPECT_TRUE(check(Checking::if_changed));
  EXPECT_EQ(notes(), 1U);
  EXPECT_TRUE(check(Checking::if_changed));
  write("wrong");
  const auto damaged = check(Checking::if_changed);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, Errc::damaged);
  EXPECT_NE(damaged.error().what.find(sha256_hex("wrong")), std::string::npos);
  EXPECT_EQ(notes(), 0U);
  EXPECT_FALSE(check(Checking::always));
}

TEST_F(CheckedFile, TheNoteSavesReadingUnlessAllIsRead) {
  write("wrong");
  ASSERT_TRUE(check_file(file_, sha256_hex("wrong"), folder_ / "notes", Checking::if_changed));
  const fs::path note = fs::directory_iterator(folder_ / "notes")->path();
  auto text = read_file(note, 4096);
  ASSERT_TRUE(text);
  EXPECT_FALSE(check(Checking::if_changed)) << "the note is of another checksum";
  // As if the disk had changed the file without a write.
  ASSERT_TRUE(
      write_atomically(note, text->replace(text->find(sha256_hex("wrong")), 64, sha256_hex("right"))));
  EXPECT_TRUE(check(Checking::if_changed));
  EXPECT_FALSE(check(Checking::always));
  EXPECT_FALSE(check(Checking::if_changed)) << "the note is gone";
}

TEST_F(CheckedFile, ADamagedNoteIsNotBelieved) {
  write("right");
  ASSERT_TRUE(check(Checking::if_changed));
  const fs::path note = fs::directory_iterator(folder_ / "notes")->path();
  write("wrong");
  for (const std::string_view text : {"", "5", "\0\0\0\0"}) {
    ASSERT_TRUE(write_atomically(note, text));
    EXPECT_FALSE(check(Checking::if_changed));
  }
  write("right");
  fs::create_directories(note);  // a note that cannot be written does no harm
  EXPECT_TRUE(check(Checking::if_changed));
}

}  // namespace
}  // namespace plimsoll::base

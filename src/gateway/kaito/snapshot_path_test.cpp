#include "gateway/kaito/snapshot_path.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace plimsoll::gateway {
namespace {

namespace fs = std::filesystem;

class SnapshotPathTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_ / "inside"); }

  base::TemporaryFolder made_{"snapshots"};
  fs::path outside_ = fs::canonical(made_.path()), root_ = outside_ / "root";
};

TEST_F(SnapshotPathTest, IsTheFolderOfTheIndexUnlessTold) {
  const auto usual = snapshot_path(root_, std::nullopt, "notes");
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->folder, root_ / "notes");
  EXPECT_EQ(usual->shown, (root_ / "notes").string());
  for (const std::string& given :
       {root_.string(), root_.string() + "/", root_.string() + "/x/..", std::string(), std::string(".")})
    EXPECT_EQ(snapshot_path(root_, given, "notes")->folder, root_ / "notes") << given;
}

TEST_F(SnapshotPathTest, ANameNeverLeadsElsewhere) {
  EXPECT_EQ(snapshot_path(root_, std::nullopt, "a/b")->folder, root_ / "a%2Fb");
  EXPECT_EQ(snapshot_path(root_, std::nullopt, "..")->folder, root_ / "%2E%2E");
  EXPECT_EQ(snapshot_path(root_, std::nullopt, "../../etc")->folder, root_ / "..%2F..%2Fetc");
  EXPECT_EQ(snapshot_path(root_, std::nullopt, "a%2Fb")->folder, root_ / "a%252Fb");
}

TEST_F(SnapshotPathTest, TakesWhatLiesBelow) {
  EXPECT_EQ(snapshot_path(root_, (root_ / "deep/er").string(), "n")->folder, root_ / "deep/er");
  EXPECT_EQ(snapshot_path(root_, (root_ / "deep/er").string(), "n")->shown, (root_ / "deep/er").string());
  EXPECT_EQ(snapshot_path(root_, "inside/x", "n")->folder, root_ / "inside/x");
  EXPECT_EQ(snapshot_path(root_ / "", (root_ / "x/").string(), "n")->folder, root_ / "x");
}

TEST_F(SnapshotPathTest, RefusesWhatLeadsOut) {
  fs::create_directory_symlink(outside_, root_ / "link");
  for (const std::string& given :
       {std::string("/etc"), std::string("/"), std::string(".."), std::string("../x"),
        std::string("inside/../../x"), root_.string() + "-beside", (root_ / "link/x").string(),
        (root_ / "link").string(), std::string("a\0b", 3)}) {
    const auto refused = snapshot_path(root_, given, "n");
    ASSERT_FALSE(refused) << given;
    EXPECT_EQ(refused.error().code, Errc::bad_input);
  }
}

TEST_F(SnapshotPathTest, WhatBelongsToAKeyIsReachedByNoOther) {
  const fs::path own = private_root(root_, "key_a");
  EXPECT_EQ(snapshot_path(own, std::nullopt, "x")->folder, root_ / ".keys" / "key_a" / "x");
  EXPECT_EQ(snapshot_path(own, "sub/x", "x")->folder, root_ / ".keys" / "key_a" / "sub" / "x");
  for (const char* way : {".keys", ".keys/key_a", ".keys/key_a/x", "sub/../.keys/key_a/x"})
    EXPECT_FALSE(snapshot_path(root_, way, "x")) << way;
  EXPECT_FALSE(snapshot_path(root_, (own / "x").string(), "x"));
  EXPECT_FALSE(snapshot_path(root_, std::nullopt, ".keys"));
  EXPECT_FALSE(snapshot_path(own, "../key_b/x", "x"));
  EXPECT_FALSE(snapshot_path(own, (root_ / "x").string(), "x"));
}

}  // namespace
}  // namespace plimsoll::gateway

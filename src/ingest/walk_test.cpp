#include "ingest/walk.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary_folder.hpp"
#include "ingest/ignore.hpp"

namespace plimsoll::ingest {
namespace {

namespace fs = std::filesystem;

std::string_view left_out(std::string_view rules, std::string_view path, bool is_folder = false) {
  const auto verdict = IgnoreRules(rules).verdict(path, is_folder);
  return !verdict ? "-" : *verdict ? "out" : "in";
}

TEST(Ignore, NamesMatchAtAnyDepthAndAnchoredOnesDoNot) {
  EXPECT_EQ(left_out("build", "a/b/build"), "out");
  EXPECT_EQ(left_out("build", "builds"), "-");
  EXPECT_EQ(left_out("/build", "build"), "out");
  EXPECT_EQ(left_out("/build", "a/build"), "-");
  EXPECT_EQ(left_out("a/b", "a/b"), "out");
  EXPECT_EQ(left_out("a/b", "x/a/b"), "-");
  EXPECT_EQ(left_out("build/", "build"), "-");
  EXPECT_EQ(left_out("build/", "x/build", true), "out");
}

TEST(Ignore, Wildcards) {
  EXPECT_EQ(left_out("*.o", "a/b.o"), "out");
  EXPECT_EQ(left_out("*.o", "a/b.od"), "-");
  EXPECT_EQ(left_out("a/*.o", "a/b/c.o"), "-");
  EXPECT_EQ(left_out("?x", "ax"), "out");
  EXPECT_EQ(left_out("[a-c]x", "bx"), "out");
  EXPECT_EQ(left_out("[!a-c]x", "bx"), "-");
  EXPECT_EQ(left_out("[]a]x", "]x"), "out");
  EXPECT_EQ(left_out("[[:digit:]]*", "7up"), "out");
  EXPECT_EQ(left_out("[a", "[a"), "-");
  EXPECT_EQ(left_out("\\*", "*"), "out");
  EXPECT_EQ(left_out("\\*", "a"), "-");
}

TEST(Ignore, TwoStarsSpanFolders) {
  EXPECT_EQ(left_out("**/foo", "foo"), "out");
  EXPECT_EQ(left_out("**/foo", "a/b/foo"), "out");
  EXPECT_EQ(left_out("**/foo", "a/xfoo"), "-");
  EXPECT_EQ(left_out("a/**/b", "a/b"), "out");
  EXPECT_EQ(left_out("a/**/b", "a/x/y/b"), "out");
  EXPECT_EQ(left_out("a/**/b", "ab"), "-");
  EXPECT_EQ(left_out("a/**", "a/x/y"), "out");
  EXPECT_EQ(left_out("a/**", "a"), "-");
  EXPECT_EQ(left_out("a**b", "axxb"), "out");
}

TEST(Ignore, TheLastRuleDecidesAndMayTakeBack) {
  EXPECT_EQ(left_out("*.log\n!keep.log\n", "keep.log"), "in");
  EXPECT_EQ(left_out("!keep.log\n*.log\n", "keep.log"), "out");
  EXPECT_EQ(left_out("\\!x", "!x"), "out");
  EXPECT_EQ(left_out("# comment\r\n\r\nx  \r\n", "x"), "out");
  EXPECT_EQ(left_out("\\#x", "#x"), "out");
  EXPECT_EQ(left_out("x\\ ", "x "), "out");
}

TEST(Ignore, APatternOfManyStarsTakesNoMoreThanItsLength) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_EQ(left_out(pattern, std::string(2000, 'a') + "b"), "-");
  std::string folders;
  for (int i = 0; i < 200; ++i) folders += "**/a/";
  std::string path;
  for (int i = 0; i < 500; ++i) path += "a/";
  EXPECT_EQ(left_out(folders + "b", path + "c"), "-");
}

class Walk : public testing::Test {
 protected:
  void put(const fs::path& name, std::string_view text = "x") const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

  // Keys, then problems, each with a blank behind.
  std::string found(const fs::path& below = {}, const WalkOptions& options = {}) {
    std::string keys;
    problems_.clear();
    const auto done = walk(
        root_ / below, options,
        [&](const FoundFile& file) -> Result<void> {
          keys += file.key + " ";
          return {};
        },
        [&](const WalkProblem& problem) {
          problems_ += fmt::format("{}: {}\n", problem.path.filename().string(), problem.reason);
        });
    EXPECT_TRUE(done.has_value());
    return keys;
  }

  base::TemporaryFolder made_{"walk"};
  fs::path root_ = made_.path();
  std::string problems_;
};

TEST_F(Walk, GoesThroughFoldersInOrderAndPassesOverHiddenNames) {
  put("b.md");
  put("a/z.txt", "four");
  put("a/b/c.py");
  put(".hidden/x");
  put(".env");
  put(".git/config");
  EXPECT_EQ(found(), "a/b/c.py a/z.txt b.md ");
  EXPECT_EQ(found("", {.hidden = true}), ".env .hidden/x a/b/c.py a/z.txt b.md ");
  EXPECT_EQ(found("b.md"), "b.md ");
  EXPECT_EQ(found(".env"), ".env ");  // asked for by name
  EXPECT_EQ(problems_, "");
}

TEST_F(Walk, ObeysIgnoreFilesOfEveryFolder) {
  put(".gitignore", "*.log\n/build/\nnode_modules\n");
  put("a/.gitignore", "!keep.log\n/only.txt\n");
  put("a/.plimsollignore", "secret*\n");
  for (const char* const name :
       {"x.log", "build/x", "a/build/x", "a/keep.log", "a/other.log", "a/only.txt", "a/b/only.txt",
        "a/secret.md", "node_modules/p/index.js", "a/node_modules", "r.md"})
    put(name);
  EXPECT_EQ(found(), "a/b/only.txt a/build/x a/keep.log r.md ");
  EXPECT_EQ(found("", {.ignore_files = false}).find("x.log") != std::string::npos, true);
}

TEST_F(Walk, ARepositorysRulesCountBelowToo) {
  put(".git/HEAD");
  put(".gitignore", "/sub/deep/*.tmp\n");
  put("sub/deep/x.tmp");
  put("sub/deep/y.md");
  EXPECT_EQ(found("sub"), "deep/y.md ");
  EXPECT_EQ(found("sub/deep"), "y.md ");
}

TEST_F(Walk, LinksNeverGoRound) {
  put("a/x.md");
  fs::create_directory_symlink(root_, root_ / "a" / "loop");
  fs::create_symlink("self", root_ / "self");
  fs::create_symlink("gone", root_ / "broken");
  fs::create_symlink("a/x.md", root_ / "link.md");
  EXPECT_EQ(found(), "a/x.md link.md ");
  EXPECT_NE(problems_.find("loop: a link to a folder; not followed"), std::string::npos) << problems_;
  EXPECT_NE(problems_.find("self: "), std::string::npos) << problems_;
  EXPECT_NE(problems_.find("broken: a broken link"), std::string::npos) << problems_;
}

TEST_F(Walk, ReportsWhatItCannotTakeAndGoesOn) {
  put("a.md");
  put("z.md");
  put(fs::path("bad-\xFF.md"));
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  fs::create_directory(root_ / "locked");
  fs::permissions(root_ / "locked", fs::perms::none);
  EXPECT_EQ(found(), "a.md z.md ");
  EXPECT_NE(problems_.find("pipe: neither a file nor a folder"), std::string::npos) << problems_;
  EXPECT_NE(problems_.find("its name is not UTF-8"), std::string::npos) << problems_;
  if (::geteuid() != 0) {
    EXPECT_NE(problems_.find("locked: cannot list it"), std::string::npos) << problems_;
  }
  fs::permissions(root_ / "locked", fs::perms::all);
  EXPECT_EQ(walk(root_ / "none", {}, {}, {}).error().code, Errc::not_found);
}

TEST_F(Walk, EndsWhereItIsToldTo) {
  put("a.md");
  put("b.md");
  int seen = 0;
  const auto done = walk(
      root_, {},
      [&](const FoundFile&) -> Result<void> {
        ++seen;
        return fail(Errc::timed_out, "enough");
      },
      [](const WalkProblem&) {});
  EXPECT_EQ(done.error().what, "enough");
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace plimsoll::ingest

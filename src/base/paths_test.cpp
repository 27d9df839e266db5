#include "base/paths.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace plimsoll::base {
namespace {

TEST(Folders, FollowTheXdgVariables) {
  const Environment environment{{"XDG_CACHE_HOME", "/c"}, {"XDG_CONFIG_HOME", "/e"}, {"HOME", "/home/ann"}};
  EXPECT_EQ(cache_folder(environment), "/c/plimsoll");
  EXPECT_EQ(config_folder(environment), "/e/plimsoll");
}

TEST(Folders, LieInTheHomeFolderWithoutThem) {
  EXPECT_EQ(cache_folder({{"HOME", "/home/ann"}}), "/home/ann/.cache/plimsoll");
  EXPECT_EQ(config_folder({{"HOME", "/home/ann"}}), "/home/ann/.config/plimsoll");
}

TEST(Folders, IgnoreAnEmptyOrRelativeVariable) {
  for (const char* value : {"", "cache", "./cache"}) {
    const Environment environment{{"XDG_CACHE_HOME", value}, {"HOME", "/home/ann"}};
    EXPECT_EQ(cache_folder(environment), "/home/ann/.cache/plimsoll") << value;
  }
}

TEST(Folders, OfAUserWithoutAHomeAreTheSystems) {
  EXPECT_EQ(cache_folder({}), "/var/cache/plimsoll");
  EXPECT_EQ(config_folder({}), "/etc/plimsoll");
}

TEST(CurrentEnvironment, HoldsWhatTheProcessWasGiven) {
  ASSERT_EQ(::setenv("PATHS_TEST_VARIABLE", "a=b", 1), 0);
  const Environment environment = current_environment();
  EXPECT_EQ(value_of(environment, "PATHS_TEST_VARIABLE"), "a=b");
  EXPECT_EQ(value_of(environment, "PATHS_TEST_NO_SUCH"), "");
}

}  // namespace
}  // namespace plimsoll::base

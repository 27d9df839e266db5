#include "gateway/target.hpp"

#include <gtest/gtest.h>

namespace plimsoll::gateway {
namespace {

TEST(SplitTarget, TakesPathAndQueryApart) {
  EXPECT_EQ(split_target("/v1/models?limit=1&x=%2F").path, "/v1/models");
  EXPECT_EQ(split_target("/v1/models?limit=1&x=%2F").query, "limit=1&x=%2F");
  EXPECT_EQ(split_target("/v1/models/team%2Fown%20model").path, "/v1/models/team/own model");
  EXPECT_EQ(split_target("http://host:80/a?b").path, "/a");
  EXPECT_EQ(split_target("http://host").path, "/");
  EXPECT_EQ(split_target("/a#b?c").path, "/a");
}

TEST(SplitTarget, LeavesWhatIsBadlyEncodedAsItIs) {
  EXPECT_EQ(split_target("/%").path, "/%");
  EXPECT_EQ(split_target("/%4").path, "/%4");
  EXPECT_EQ(split_target("/%zz%41").path, "/%zzA");
  EXPECT_EQ(split_target("").path, "");
}

}  // namespace
}  // namespace plimsoll::gateway

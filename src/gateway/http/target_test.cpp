#include "gateway/http/target.hpp"

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

TEST(SplitTarget, KeepsTheSlashOfAName) {
  EXPECT_EQ(split_target("/indexes/a%2Fb/documents?x").raw_path, "/indexes/a%2Fb/documents");
}

TEST(QueryValue, IsDecodedAndTheLastOneWins) {
  EXPECT_EQ(query_value("limit=1&limit=2", "limit"), "2");
  EXPECT_EQ(query_value("a=1&path=%2Ftmp%2Fmy+folder&b", "path"), "/tmp/my folder");
  EXPECT_EQ(query_value("filter=%7B%22k%22%3A%22a%3Db%22%7D", "filter"), R"({"k":"a=b"})");
  EXPECT_EQ(query_value("a&b=", "a"), "");
  EXPECT_EQ(query_value("a&b=", "b"), "");
  EXPECT_EQ(query_value("ab=1", "a"), std::nullopt);
  EXPECT_EQ(query_value("", "a"), std::nullopt);
}

}  // namespace
}  // namespace plimsoll::gateway

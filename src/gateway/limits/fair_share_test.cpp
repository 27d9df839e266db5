#include "gateway/limits/fair_share.hpp"

#include <map>

#include <gtest/gtest.h>

#include "engine/caller.hpp"

namespace plimsoll::gateway {
namespace {

// How many places each gets if they ask one after the other until they are refused.
std::map<std::string, std::size_t> greedy(const std::vector<std::string>& owners, std::size_t limit) {
  std::map<std::string, std::size_t> held;
  std::size_t taken = 0;
  for (const std::string& owner : owners)
    while (may_have(owner, held[owner], taken, 1, limit)) ++held[owner], ++taken;
  return held;
}

TEST(FairShare, LeavesAPlaceForTheNextKey) {
  const auto held = greedy({"ann", "bob", "cid", "dan"}, 8);
  EXPECT_EQ(held, (std::map<std::string, std::size_t>{{"ann", 4}, {"bob", 2}, {"cid", 1}, {"dan", 1}}));
}

TEST(FairShare, WithoutKeysEverythingMayBeTaken) {
  const std::string owner = engine::Caller{}.owner;
  EXPECT_EQ(owner, owner_without_keys);
  EXPECT_EQ(greedy({owner}, 8).at(owner), 8U);
  EXPECT_EQ(greedy({""}, 8).at(""), 8U);
  EXPECT_EQ(greedy({""}, 0).at(""), 0U);
}

TEST(FairShare, WhatIsLargeFitsWhereNothingElseIs) {
  EXPECT_TRUE(may_have("ann", 0, 0, 256, 256));
  EXPECT_FALSE(may_have("ann", 0, 0, 257, 256));
  EXPECT_FALSE(may_have("ann", 64, 64, 129, 256));
  EXPECT_TRUE(may_have("bob", 0, 64, 192, 256));
  EXPECT_FALSE(may_have("bob", 0, 300, 1, 256))
      << "more is taken than there is since the settings were read again";
}

TEST(FairShare, APlaceThatIsLeftCanBeTakenAgain) {
  Places places(2);
  EXPECT_TRUE(places.take("ann"));
  EXPECT_FALSE(places.take("ann"));
  EXPECT_TRUE(places.take("bob"));
  EXPECT_FALSE(places.take("cid"));
  EXPECT_EQ(places.taken(), 2U);
  places.leave("ann");
  places.leave("bob");
  EXPECT_EQ(places.taken(), 0U);
  EXPECT_TRUE(places.take("cid"));
}

}  // namespace
}  // namespace plimsoll::gateway

#include "models/window_signs.hpp"

#include <gtest/gtest.h>

namespace plimsoll::models {
namespace {

constexpr std::int64_t at_first = 1'800'000'000'000, forgotten = at_first + WindowSigns::believed_ms;
const ModelLocation model{0, "m"};

TEST(WindowSigns, OneRefusalIsNobodys) {
  WindowSigns signs;
  EXPECT_TRUE(signs.refused(model, "ann", "a", 1'000, at_first));
  EXPECT_FALSE(signs.window_for(model, "ann", at_first));
  EXPECT_TRUE(signs.refused(model, "ann", "a", 1'000, at_first));  // the same request, sent again
  EXPECT_FALSE(signs.window_for(model, "ann", at_first));
}

TEST(WindowSigns, TwoRequestsOfAnOwnerTeachThatOwnerAlone) {
  WindowSigns signs;
  for (const char* request : {"a", "b", "c"}) signs.refused(model, "ann", request, 1'000, at_first);
  EXPECT_EQ(signs.window_for(model, "ann", at_first), 1'000);
  EXPECT_FALSE(signs.window_for(model, "bob", at_first));
  EXPECT_FALSE(signs.window_for({1, "m"}, "ann", at_first));
}

TEST(WindowSigns, TwoOwnersWhoAgreeTeachEverybodyForTenMinutes) {
  WindowSigns signs;
  signs.refused(model, "ann", "a", 1'000, at_first);
  signs.refused(model, "bob", "a", 2'000, at_first);
  EXPECT_FALSE(signs.window_for(model, "cy", at_first));
  signs.refused(model, "bob", "b", 1'000, at_first);
  EXPECT_EQ(signs.window_for(model, "cy", forgotten - 1), 1'000);
  EXPECT_FALSE(signs.window_for(model, "cy", forgotten));
  EXPECT_FALSE(signs.window_for(model, "cy", at_first - WindowSigns::believed_ms));  // the clock was set back
}

TEST(WindowSigns, WhatTheServerHasReadIsNoLargerThanItsWindow) {
  WindowSigns signs;
  EXPECT_FALSE(signs.refused(model, "ann", "a", WindowSigns::least_believed - 1, at_first));
  for (const char* owner : {"ann", "bob"}) EXPECT_TRUE(signs.refused(model, owner, "a", 1'000, at_first));
  signs.accepted(model, 1'001, at_first);
  EXPECT_FALSE(signs.window_for(model, "ann", at_first));
  EXPECT_FALSE(signs.refused(model, "ann", "a", 1'000, at_first));
  EXPECT_TRUE(signs.refused(model, "ann", "a", 1'001, at_first));
  EXPECT_TRUE(signs.refused(model, "ann", "a", 1'000, forgotten));  // it may have been restarted since
}

TEST(WindowSigns, HoldNoMoreThanTheyMayAndForget) {
  WindowSigns signs;
  for (const char* owner : {"ann", "bob"}) signs.refused(model, owner, "a", 1'000, at_first);
  for (std::size_t i = 0; i < WindowSigns::most_models; ++i)
    signs.refused({1, std::to_string(i)}, "cy", "a", 1'000, at_first + 1);
  EXPECT_FALSE(signs.window_for(model, "ann", at_first + 1));
  for (const char* owner : {"ann", "bob"}) signs.refused({1, "7"}, owner, "a", 1'000, at_first);
  signs.forget("8");
  EXPECT_TRUE(signs.window_for({1, "7"}, "ann", at_first));
  signs.forget("7");
  EXPECT_FALSE(signs.window_for({1, "7"}, "ann", at_first));
}

}  // namespace
}  // namespace plimsoll::models

#include "models/window_signs.hpp"

#include <gtest/gtest.h>

namespace plimsoll::models {
namespace {

constexpr std::int64_t now = 1'800'000'000'000, later = now + WindowSigns::believed_ms;
const ModelLocation model{0, "m"};

TEST(WindowSigns, OneRefusalIsNobodys) {
  WindowSigns signs;
  EXPECT_TRUE(signs.refused(model, "ann", "a", 1'000, now));
  EXPECT_FALSE(signs.window_for(model, "ann", now));
  EXPECT_TRUE(signs.refused(model, "ann", "a", 1'000, now));  // the same request, sent again
  EXPECT_FALSE(signs.window_for(model, "ann", now));
}

TEST(WindowSigns, TwoRequestsOfAnOwnerTeachThatOwnerAlone) {
  WindowSigns signs;
  for (const char* request : {"a", "b", "c"}) signs.refused(model, "ann", request, 1'000, now);
  EXPECT_EQ(signs.window_for(model, "ann", now), 1'000);
  EXPECT_FALSE(signs.window_for(model, "bob", now));
  EXPECT_FALSE(signs.window_for({1, "m"}, "ann", now));
}

TEST(WindowSigns, TwoOwnersWhoAgreeTeachEverybodyForTenMinutes) {
  WindowSigns signs;
  signs.refused(model, "ann", "a", 1'000, now);
  signs.refused(model, "bob", "a", 2'000, now);
  EXPECT_FALSE(signs.window_for(model, "cy", now));
  signs.refused(model, "bob", "b", 1'000, now);
  EXPECT_EQ(signs.window_for(model, "cy", later - 1), 1'000);
  EXPECT_FALSE(signs.window_for(model, "cy", later));
  EXPECT_FALSE(signs.window_for(model, "cy", now - WindowSigns::believed_ms));  // the clock was set back
}

TEST(WindowSigns, WhatTheServerHasReadIsNoLargerThanItsWindow) {
  WindowSigns signs;
  EXPECT_FALSE(signs.refused(model, "ann", "a", WindowSigns::least_believed - 1, now));
  for (const char* owner : {"ann", "bob"}) EXPECT_TRUE(signs.refused(model, owner, "a", 1'000, now));
  signs.accepted(model, 1'001, now);
  EXPECT_FALSE(signs.window_for(model, "ann", now));
  EXPECT_FALSE(signs.refused(model, "ann", "a", 1'000, now));
  EXPECT_TRUE(signs.refused(model, "ann", "a", 1'001, now));
  EXPECT_TRUE(signs.refused(model, "ann", "a", 1'000, later));  // it may have been restarted since
}

TEST(WindowSigns, HoldNoMoreThanTheyMayAndForget) {
  WindowSigns signs;
  for (const char* owner : {"ann", "bob"}) signs.refused(model, owner, "a", 1'000, now);
  for (std::size_t i = 0; i < WindowSigns::most_models; ++i)
    signs.refused({1, std::to_string(i)}, "cy", "a", 1'000, now + 1);
  EXPECT_FALSE(signs.window_for(model, "ann", now + 1));
  for (const char* owner : {"ann", "bob"}) signs.refused({1, "7"}, owner, "a", 1'000, now);
  signs.forget("8");
  EXPECT_TRUE(signs.window_for({1, "7"}, "ann", now));
  signs.forget("7");
  EXPECT_FALSE(signs.window_for({1, "7"}, "ann", now));
}

}  // namespace
}  // namespace plimsoll::models

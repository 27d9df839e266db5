#include "base/json/json_shape.hpp"

#include <gtest/gtest.h>

namespace plimsoll::base {
namespace {

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

std::string object_of(int keys) {
  std::string text = "{";
  for (int i = 0; i < keys; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":[{\"x\":1}]";
  return text + "}";
}

TEST(JsonShape, RefusesNul) {
  using namespace std::string_view_literals;
  EXPECT_EQ(check_json_shape("{}\0{"sv, "it").error().what, "it has a NUL character at byte 3");
  EXPECT_TRUE(check_json_shape("{\"a\": \"\\u0000\"}"sv, "it"));
}

TEST(JsonShape, BoundsDepthAndKeys) {
  EXPECT_TRUE(check_json_shape(nested(100), "it"));
  EXPECT_EQ(check_json_shape(nested(101), "it").error().what, "it is nested more than 100 deep");
  EXPECT_TRUE(check_json_shape(object_of(1024), "it"));
  EXPECT_EQ(check_json_shape(object_of(1025), "it").error().what, "it has an object of more than 1024 keys");
  EXPECT_TRUE(check_json_shape("[" + object_of(1000) + "," + object_of(1000) + "]", "it"));
}

TEST(JsonShape, LooksPastWhatIsQuoted) {
  EXPECT_TRUE(check_json_shape("[\"" + std::string(500, '[') + std::string(2000, ':') + "\\\"\"]", "it"));
  EXPECT_TRUE(check_json_shape("]]]}}}", "it"));
  EXPECT_TRUE(check_json_shape("", "it"));
}

}  // namespace
}  // namespace plimsoll::base

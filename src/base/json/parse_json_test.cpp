#include "base/json/parse_json.hpp"

#include <random>

#include <gtest/gtest.h>

namespace plimsoll::base {
namespace {

using Json = nlohmann::ordered_json;

// Every kind of value, in any mixture.
Json random_json(std::mt19937& random, int depth) {
  switch (random() % (depth > 4 ? 7 : 9)) {
    case 0: return nullptr;
    case 1: return random() % 2 == 0;
    case 2: return static_cast<std::int64_t>(random()) - 2'000'000'000;
    case 3: return std::uint64_t{18'446'744'073'709'551'615U} - random();
    case 4: return static_cast<double>(random()) / 7.0;
    case 5: return "é\n\"\\\u0001" + std::to_string(random());
    case 6: return "";
    case 7: {
      Json list = Json::array();
      for (auto i = random() % 5; i > 0; --i) list.push_back(random_json(random, depth + 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (auto i = random() % 5; i > 0; --i)
        object["k" + std::to_string(random() % 9)] = random_json(random, depth + 1);
      return object;
    }
  }
}

TEST(ParseQuickly, GivesWhatTheThoroughParserGives) {
  std::mt19937 random(11);
  int objects = 0;
  for (int round = 0; round < 3'000; ++round) {
    const Json made = random_json(random, 0);
    const std::string text = made.dump(static_cast<int>(random() % 3) - 1);
    const auto quickly = parse_quickly(text);
    ASSERT_TRUE(quickly) << text;
    EXPECT_EQ(*quickly, Json::parse(text));
    EXPECT_EQ(quickly->dump(), Json::parse(text).dump());
    objects += made.is_object() ? 1 : 0;
  }
  EXPECT_GT(objects, 100);
  for (const char* text : {"1", "-0", "1.0", "1e3", "-9223372036854775808", "18446744073709551615",
                           R"({"a":1,"b":2,"a":3})", R"("\ud83d\ude00")"})
    EXPECT_EQ(parse_quickly(text)->dump(), Json::parse(text).dump()) << text;
}

TEST(ParseJson, TakesWhatTheFastParserLeaves) {
  EXPECT_EQ(parse_json("[18446744073709551616]").dump(), Json::parse("[18446744073709551616]").dump());
  EXPECT_EQ(parse_json(R"({"a":[1]})"), Json::parse(R"({"a":[1]})"));
  for (const char* text : {"", "{", "[1,]", "nul", "\"\xff\"", "{}{}", "1e999"})
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
}

TEST(ParseQuickly, LeavesTheRestToTheThoroughParser) {
  for (const char* text : {"", "{", "[1,]", "nul", "\"\xff\"", "18446744073709551616", "{}{}", "\"\\ud800\""})
    EXPECT_FALSE(parse_quickly(text)) << text;
}

}  // namespace
}  // namespace plimsoll::base

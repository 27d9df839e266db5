#include "base/json/json_text.hpp"

#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/text.hpp"

namespace plimsoll::base {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonText, EscapesWhatAStringMayNotHold) {
  EXPECT_EQ(in_quotes(""), R"("")");
  EXPECT_EQ(in_quotes("a\"b\\c\n\r\t"), R"("a\"b\\c\n\r\t")");
  EXPECT_EQ(in_quotes(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
  EXPECT_EQ(in_quotes("Größe 語 🚢"), "\"Größe 語 🚢\"");
}

TEST(JsonText, ReplacesEachByteThatIsNotUtf8) {
  EXPECT_EQ(in_quotes("a\xff\xfe z"), "\"a\uFFFD\uFFFD z\"");
  EXPECT_EQ(in_quotes("\xe8\xaa"), "\"\uFFFD\uFFFD\"");  // a sequence that ends too early
}

TEST(JsonText, IsReadBackAsItWasFromAnyBytes) {
  std::mt19937 rng{11};
  int well_formed = 0;
  for (int round = 0; round < 5'000; ++round) {
    std::string text;
    for (std::size_t i = rng() % 40; i > 0; --i)
      text += rng() % 3 == 0 ? static_cast<char>(rng()) : static_cast<char>(rng() % 0x80);
    const std::string written = in_quotes(text);
    ASSERT_EQ(written.find('\n'), std::string::npos);
    const auto read = nlohmann::json::parse(written, nullptr, false);
    ASSERT_TRUE(read.is_string()) << written;
    if (!is_valid_utf8(text)) continue;
    ++well_formed;
    ASSERT_EQ(read.get<std::string>(), text);
  }
  EXPECT_GT(well_formed, 500);
}

// A value of any shape, with text that mostly needs no escape.
nlohmann::ordered_json any_value(std::mt19937& rng, int depth) {
  using Json = nlohmann::ordered_json;
  const auto text = [&] {
    std::string out;
    for (std::size_t i = rng() % 30; i > 0; --i) {
      const auto any = rng() % 40;
      out += any == 0 ? "\"" : any == 1 ? "\\" : any == 2 ? "\n" : any == 3 ? "語" : any == 4 ? "\x7f" : "x";
      if (any == 5) out += static_cast<char>(rng() % 0x20);
    }
    return out;
  };
  switch (rng() % (depth > 0 ? 9 : 7)) {
    case 0: return nullptr;
    case 1: return rng() % 2 == 0;
    case 2: return -static_cast<std::int64_t>(rng());
    case 3: return static_cast<std::uint64_t>(rng()) << (rng() % 32);
    case 4: return static_cast<double>(static_cast<int>(rng() % 2000) - 1000) / (1 << rng() % 9);
    case 5: return std::ldexp(1.1, static_cast<int>(rng() % 400) - 200);
    case 6: return text();
    case 7: {
      Json list = Json::array();
      for (std::size_t i = rng() % 4; i > 0; --i) list.push_back(any_value(rng, depth - 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (std::size_t i = rng() % 4; i > 0; --i) object[text()] = any_value(rng, depth - 1);
      return object;
    }
  }
}

TEST(JsonText, WritesValuesAsTheirDump) {
  std::mt19937 rng{12};
  for (int round = 0; round < 5'000; ++round) {
    const nlohmann::ordered_json value = any_value(rng, 4);
    ASSERT_EQ(json_text(value), value.dump());
  }
  EXPECT_EQ(json_text(nlohmann::json(std::nan(""))), "null");
  EXPECT_EQ(json_text("a \"word\""), R"("a \"word\"")");
}

TEST(JsonText, PutsAnIndentedTextOnOneLine) {
  const nlohmann::json json{{"a", {1, 2}}, {"b", "line\nend  \r\n  blank"}};
  std::string out = "x:";
  append_json_on_one_line(out, json.dump(2) + "\n");
  EXPECT_EQ(out.find('\n'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(out.substr(2)), json);
}

}  // namespace
}  // namespace plimsoll::base

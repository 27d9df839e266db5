#include "base/log.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/secret.hpp"
#include "base/text/text.hpp"

namespace plimsoll::log {
namespace {

static_assert(!std::is_constructible_v<Value, base::Secret>, "a secret must not be loggable");

// Replaces every digit by 0.
std::string shape_of(std::string text) {
  for (char& c : text)
    if (c >= '0' && c <= '9') c = '0';
  return text;
}

class Log : public testing::Test {
 protected:
  void TearDown() override { start(Level::info, Format::text); }

  nlohmann::json only_json_line() const {
    const std::string text = out_.str();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    return nlohmann::json::parse(text);
  }
  // The text after the time stamp.
  std::string text_after_time() const {
    const std::string text = out_.str();
    return text.size() > 25 ? text.substr(25) : text;
  }

  std::ostringstream out_;
};

TEST_F(Log, TextLinesHaveTimeLevelMessageAndFields) {
  start_on(out_, Level::info, Format::text);
  info("window found", {{"model", "llama3.2:3b"}, {"window", 8192}, {"exact", true}, {"ratio", 0.5}});
  EXPECT_EQ(shape_of(out_.str().substr(0, 24)), "0000-00-00T00:00:00.000Z");
  EXPECT_EQ(out_.str().substr(24),
            " info    window found  model=llama3.2:3b window=8192 exact=true ratio=0.5\n");
}

TEST_F(Log, AMessageWithoutFieldsEndsWithItself) {
  start_on(out_, Level::info, Format::text);
  warning("nothing more to say");
  EXPECT_EQ(text_after_time(), "warning nothing more to say\n");
}

TEST_F(Log, TextValuesThatCouldMisleadAreQuotedAndEscaped) {
  start_on(out_, Level::info, Format::text);
  info("odd", {{"a", "two words"},
               {"b", ""},
               {"c", "x=y"},
               {"d", "1\n2026 info forged"},
               {"e", "\x1b[31m"},
               {"f", "\x7f"},
               {"g",
                "\xC2\x9B"
                "31m"},
               {"h", "caf\xC3\xA9"},
               {"i", "say \"hi\""}});
  EXPECT_EQ(text_after_time(),
            "info    odd  a=\"two words\" b=\"\" c=\"x=y\" d=\"1\\n2026 info forged\" e=\"\\u001b[31m\" "
            "f=\"\\u007f\" g=\"\\u009b31m\" h=caf\xC3\xA9 i=\"say \\\"hi\\\"\"\n");
}

TEST_F(Log, AMessageCannotForgeALine) {
  start_on(out_, Level::info, Format::text);
  error("bad\nname");
  EXPECT_EQ(text_after_time(), "error   \"bad\\nname\"\n");
}

TEST_F(Log, JsonLinesKeepTypesAndEscapeEverything) {
  start_on(out_, Level::info, Format::json);
  const std::string odd = "quote \" backslash \\ newline \n tab \t nul \x01 broken \xFF end";
  info(odd, {{"text", odd},
             {"window", 8192},
             {"large", UINT64_MAX},
             {"least", INT64_MIN},
             {"share", 0.25},
             {"on", false},
             {"no number", NAN}});
  const nlohmann::json line = only_json_line();
  const std::string mended = "quote \" backslash \\ newline \n tab \t nul \x01 broken \xEF\xBF\xBD end";
  EXPECT_EQ(line["message"], mended);
  EXPECT_EQ(line["text"], mended);
  EXPECT_EQ(line["level"], "info");
  EXPECT_EQ(line["window"], 8192);
  EXPECT_EQ(line["large"], UINT64_MAX);
  EXPECT_EQ(line["least"], INT64_MIN);
  EXPECT_EQ(line["share"], 0.25);
  EXPECT_EQ(line["on"], false);
  EXPECT_TRUE(line["no number"].is_null());
  EXPECT_EQ(shape_of(line["time"]), "0000-00-00T00:00:00.000Z");
}

TEST_F(Log, PercentSignsAndBracesAreOrdinary) {
  start_on(out_, Level::info, Format::json);
  info("100 %v {} %", {{"a", "{0} %l"}});
  EXPECT_EQ(only_json_line()["message"], "100 %v {} %");
}

TEST_F(Log, LevelsBelowTheOneAskedForAreSilent) {
  constexpr std::array levels{Level::trace, Level::debug, Level::info, Level::warning, Level::error};
  for (std::size_t asked = 0; asked <= levels.size(); ++asked) {
    out_.str("");
    start_on(out_, static_cast<Level>(asked), Format::text);
    for (const Level level : levels) {
      EXPECT_EQ(enabled(level), static_cast<std::size_t>(level) >= asked);
      write(level, "line", {});
    }
    const std::string text = out_.str();
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), levels.size() - asked);
  }
  EXPECT_FALSE(enabled(Level::off));
}

TEST_F(Log, LinesOfManyThreadsStayWhole) {
  start_on(out_, Level::info, Format::json);
  std::vector<std::thread> threads;
  for (int who = 0; who < 4; ++who)
    threads.emplace_back([who] {
      for (int i = 0; i < 200; ++i) info("tick", {{"who", who}, {"i", i}});
    });
  for (std::thread& thread : threads) thread.join();
  std::istringstream lines(out_.str());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  EXPECT_EQ(count, 800);
}

}  // namespace
}  // namespace plimsoll::log

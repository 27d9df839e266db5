#include "config/settings.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace plimsoll::config {
namespace {

Settings with(std::vector<std::string> assignments) {
  auto settings = resolve_settings(
      {.file = {}, .environment = {{"HOME", "/home/ann"}}, .assignments = std::move(assignments)});
  EXPECT_TRUE(settings) << settings.error().what;
  return *std::move(settings);
}
std::vector<const base::Setting*> some(std::vector<std::string> keys) {
  return *select_settings(keys);
}
std::size_t characters(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

TEST(SettingsTable, AlignsItsColumnsOnAWidePage) {
  EXPECT_EQ(
      settings_table(with({"max_top_k=20"}), some({"max_top_k", "debug"}), {.columns = {}, .colour = false}),
      "max_top_k  20     flag     Most passages that the top_k rule (B1) asks for.\n"
      "debug      false  default  Log debug lines too, whatever log_level says.\n");
}

TEST(SettingsTable, BreaksTheMeaningWhereThePageEnds) {
  EXPECT_EQ(settings_table(with({}), some({"max_top_k"}), {.columns = 60, .colour = false}),
            "max_top_k  10  default  Most passages that the top_k rule\n"
            "                        (B1) asks for.\n");
}

TEST(SettingsTable, PutsTheMeaningBelowOnANarrowPage) {
  EXPECT_EQ(settings_table(with({}), some({"max_top_k"}), {.columns = 40, .colour = false}),
            "max_top_k = 10  (default)\n"
            "    Most passages that the top_k rule\n"
            "    (B1) asks for.\n");
}

TEST(SettingsTable, NeverExceedsThePageAndNeverLosesALetter) {
  const Settings settings =
      with({"models_file=/sch\xC3\xB6ne/" + std::string(90, 'x') + "/m.toml",
            "llm_allowed_fallback_models=a b c,d e f g h i j,kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"});
  const auto all = some({});
  const auto letters = [](std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '=' || c == '(' || c == ')'; });
    return text.size();
  };
  const std::size_t whole = letters(settings_table(settings, all, {.columns = {}, .colour = false}));
  for (std::size_t columns = 8; columns <= 300; ++columns) {
    const std::string text = settings_table(settings, all, {.columns = columns, .colour = false});
    EXPECT_EQ(letters(text), whole) << columns;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      ASSERT_LE(characters(line), columns) << line;
      ASSERT_FALSE(line.ends_with(' ')) << columns << ": " << line;
    }
  }
}

TEST(SettingsTable, HasOneLineASettingWhenItIsNotForATerminal) {
  const std::string text = settings_table(with({}), some({}), {.columns = {}, .colour = false});
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), all_settings().size());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(SettingsTable, ColoursOnlyWhenAsked) {
  const std::string text =
      settings_table(with({"max_top_k=20"}), some({"max_top_k"}), {.columns = {}, .colour = true});
  EXPECT_EQ(
      text,
      "\x1b[1mmax_top_k\x1b[0m  20  \x1b[32mflag\x1b[0m  Most passages that the top_k rule (B1) asks for.\n");
}

TEST(SettingsTable, AValueCannotCommandTheTerminal) {
  const std::string text = settings_table(with({"models_file=a\x1b[2Jb\nc"}), some({"models_file"}), {});
  EXPECT_TRUE(text.starts_with("models_file  a\\x1b[2Jb\\x0ac  flag")) << text;
}

TEST(SettingsJson, HasTypedValuesAndNoSecret) {
  const Settings settings = with({"max_top_k=20", "llm_access_secret=sk-hidden", "models_file=a\"\\\n\xFF",
                                  "llm_allowed_fallback_models=a,b"});
  const std::string text = settings_json(settings, some({}));
  EXPECT_EQ(text.find("sk-hidden"), std::string::npos);
  const auto list = nlohmann::json::parse(text);
  ASSERT_EQ(list.size(), all_settings().size());
  std::map<std::string, nlohmann::json> by_key;
  for (const auto& entry : list) by_key[entry.at("key")] = entry;
  EXPECT_EQ(by_key["max_top_k"]["value"], 20);
  EXPECT_EQ(by_key["max_top_k"]["origin"], "flag");
  EXPECT_EQ(by_key["max_top_k"]["environment"], nlohmann::json({"MAX_TOP_K", "PLIMSOLL_MAX_TOP_K"}));
  EXPECT_EQ(by_key["context_safety_margin"]["value"], 0.75);
  EXPECT_EQ(by_key["debug"]["value"], false);
  EXPECT_EQ(by_key["max_history_turns"]["value"], "unlimited");
  EXPECT_EQ(by_key["llm_allowed_fallback_models"]["value"], nlohmann::json({"a", "b"}));
  EXPECT_TRUE(by_key["llm_inference_url"]["value"].is_null());
  EXPECT_EQ(by_key["llm_access_secret"]["value"], "***");
  EXPECT_EQ(by_key["models_file"]["value"], "a\"\\\n\xEF\xBF\xBD");
  EXPECT_EQ(by_key["log_level"]["value"], "info");
}

TEST(SelectSettings, TakesBothSpellingsInTheOrderAskedFor) {
  const std::vector<std::string> keys{"MAX_TOP_K", "debug"};
  const auto which = select_settings(keys);
  ASSERT_TRUE(which);
  ASSERT_EQ(which->size(), 2U);
  EXPECT_EQ((*which)[0]->key, "max_top_k");
  EXPECT_EQ((*which)[1]->key, "debug");
}

TEST(SelectSettings, NamesAnUnknownKey) {
  const std::vector<std::string> keys{"debug", "max_topk"};
  const auto which = select_settings(keys);
  ASSERT_FALSE(which);
  EXPECT_EQ(which.error().code, Errc::unknown_setting);
  EXPECT_EQ(which.error().what, "unknown setting 'max_topk' (command line); did you mean 'max_top_k'?");
}

}  // namespace
}  // namespace plimsoll::config

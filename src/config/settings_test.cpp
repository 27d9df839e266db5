#include "config/settings.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/source_dir.hpp"
#include "base/temporary_folder.hpp"
#include "base/text/text.hpp"

namespace plimsoll::config {
namespace {

Result<Settings> from_environment(base::Environment environment) {
  return resolve_settings({.file = {}, .environment = std::move(environment), .assignments = {}});
}
Result<Settings> from_file(std::string text) {
  return resolve_settings(
      {.file = base::ConfigFile{"a.toml", std::move(text)}, .environment = {}, .assignments = {}});
}
Result<Settings> from_flags(std::vector<std::string> assignments) {
  return resolve_settings({.file = {}, .environment = {}, .assignments = std::move(assignments)});
}
std::string shown(const Result<Settings>& settings, std::string_view key) {
  return settings ? shown_text(*settings, *find_setting(key)) : "error: " + settings.error().what;
}
std::string error_of(const Result<Settings>& settings) {
  if (settings) return "no error";
  return std::string(name_of(settings.error().code)) + ": " + settings.error().what;
}

struct Known {
  std::string_view name;  // name in other programs
  std::string_view key;
  std::string_view by_default;
  std::string_view another;  // an allowed value that is not the default
};
constexpr std::array known_names{
    Known{"DEFAULT_CONTEXT_WINDOW", "default_context_window", "4096", "8192"},
    Known{"CONTEXT_SAFETY_MARGIN", "context_safety_margin", "0.75", "0.5"},
    Known{"REVERSE_CONTEXT_FOR_OLLAMA", "reverse_context_for_ollama", "true", "false"},
    Known{"MIN_TOP_K", "min_top_k", "2", "3"},
    Known{"MAX_TOP_K", "max_top_k", "10", "7"},
    Known{"AVG_CHUNK_TOKENS", "avg_chunk_tokens", "200", "250"},
    Known{"GENERATION_BUFFER", "generation_buffer", "512", "1024"},
    Known{"max_history_turns", "max_history_turns", "unlimited", "2"},
    Known{"cache_ttl_seconds", "cache_ttl_seconds", "3600", "60"},
    Known{"OLLAMA_LLM_BASE_URL", "ollama_llm_base_url", "http://localhost:11434", "http://gpu:11434"},
    Known{"DEBUG", "debug", "false", "true"},
    Known{"LLM_FALLBACK_ENABLED", "llm_fallback_enabled", "false", "true"},
    Known{"LLM_ALLOWED_FALLBACK_MODELS", "llm_allowed_fallback_models", "none",
          "gpt-5-mini,gemini-2.5-flash"},
    Known{"MEMORY_COMPRESSION_THRESHOLD_PCT", "memory_compression_threshold_pct", "85", "70"},
    Known{"RAG_DOCUMENT_NODE_TOKEN_APPROXIMATION", "rag_document_node_token_approximation", "500", "300"},
    Known{"RAG_SIMILARITY_THRESHOLD", "rag_similarity_threshold", "0.85", "1.2"},
    Known{"RAG_CONTEXT_TOKEN_FILL_RATIO", "rag_context_token_fill_ratio", "0.5", "0.6"},
    Known{"ADDITION_PROMPT_TOKENS", "addition_prompt_tokens", "150", "90"},
    Known{"RAG_MAX_TOP_K", "rag_max_top_k", "300", "100"},
    Known{"LLM_INFERENCE_URL", "llm_inference_url", "none", "https://host/v1/chat/completions"},
    Known{"LLM_ACCESS_SECRET", "llm_access_secret", "none", "sk-1"},
    Known{"OLLAMA_NUM_CTX_MAX", "ollama_num_ctx_max", "auto", "32768"},
    Known{"LLM_CONTEXT_WINDOW", "llm_context_window", "auto", "64000"},
};

TEST(Settings, EveryKnownNameHasItsDefaultAndIsTakenFromTheEnvironment) {
  for (const Known& known : known_names) {
    SCOPED_TRACE(known.name);
    ASSERT_NE(find_setting(known.key), nullptr);
    EXPECT_EQ(find_setting(known.key)->environment, known.name);
    EXPECT_EQ(shown(from_environment({}), known.key), known.by_default);

    const std::string expected(known.key == "llm_access_secret" ? "***" : known.another);
    const std::string prefixed = "PLIMSOLL_" + base::to_upper_ascii(known.key);
    for (const std::string& name : {std::string(known.name), base::to_upper_ascii(known.name), prefixed}) {
      const auto settings = from_environment({{name, std::string(known.another)}});
      EXPECT_EQ(shown(settings, known.key), expected);
      ASSERT_TRUE(settings);
      EXPECT_EQ(settings->origin_of(known.key), "environment " + name);
      EXPECT_EQ(settings->origins.size(), 1U);
    }
  }
}

TEST(Settings, EverySettingIsTakenFromFileAndFlagInBothSpellings) {
  for (const base::Setting& setting : all_settings()) {
    SCOPED_TRACE(setting.key);
    const Settings defaults;
    std::string value = "/a/path";
    for (const Known& known : known_names)
      if (known.key == setting.key) value = known.another;
    if (const auto* choice = std::get_if<base::Choice>(&setting.binding)) value = choice->words.back();
    if (const auto* real = std::get_if<base::Real>(&setting.binding);
        real != nullptr && setting.environment.empty())
      value = real->most < 2.5 ? "0.25" : "2.5";
    if (const auto* flag = std::get_if<base::Flag>(&setting.binding);
        flag != nullptr && setting.environment.empty())
      value = flag->member.in(defaults) ? "false" : "true";
    if (const auto* whole = std::get_if<base::Whole>(&setting.binding);
        whole != nullptr && setting.environment.empty())
      value = whole->least < 64 ? "64" : "2048";
    if (std::holds_alternative<base::Url>(setting.binding)) value = "https://host/a/path";
    if (std::holds_alternative<base::OptionalWhole>(setting.binding) && setting.environment.empty())
      value = "2048";
    const bool quoted = !std::holds_alternative<base::Whole>(setting.binding) &&
                        !std::holds_alternative<base::Real>(setting.binding) &&
                        !std::holds_alternative<base::Flag>(setting.binding) &&
                        value.find_first_not_of("0123456789") != value.npos;
    const std::string toml = quoted ? '"' + value + '"' : value;
    for (const std::string& key : {std::string(setting.key), base::to_upper_ascii(setting.key)}) {
      const auto file = from_file("\n" + key + " = " + toml + "\n");
      EXPECT_EQ(shown(file, setting.key), setting.is_secret() ? "***" : value);
      ASSERT_TRUE(file);
      EXPECT_EQ(file->origin_of(setting.key), "file a.toml:2");
      const auto flag = from_flags({key + "=" + value});
      EXPECT_EQ(shown(flag, setting.key), setting.is_secret() ? "***" : value);
      ASSERT_TRUE(flag);
      EXPECT_EQ(flag->origin_of(setting.key), "flag");
      EXPECT_NE(shown(flag, setting.key), shown_text(defaults, setting));
    }
  }
}

TEST(Settings, KeysAndMeaningsAreUniqueAndWhole) {
  std::set<std::string_view> keys;
  for (const base::Setting& setting : all_settings()) {
    EXPECT_TRUE(keys.insert(setting.key).second) << setting.key;
    EXPECT_EQ(setting.key, base::to_lower_ascii(setting.key));
    EXPECT_TRUE(setting.meaning.ends_with('.')) << setting.key;
  }
  EXPECT_GE(keys.size(), known_names.size() + 5);
}

TEST(Settings, ALaterSourceWins) {
  base::SettingSources sources{
      .file = base::ConfigFile{"a.toml", "max_top_k = 20"}, .environment = {}, .assignments = {}};
  const auto value_and_origin = [&] {
    const auto settings = resolve_settings(sources);
    return settings ? fmt::format("{} {}", settings->max_top_k, settings->origin_of("max_top_k"))
                    : error_of(settings);
  };
  EXPECT_EQ(value_and_origin(), "20 file a.toml:1");
  sources.environment["MAX_TOP_K"] = "30";
  EXPECT_EQ(value_and_origin(), "30 environment MAX_TOP_K");
  sources.environment["PLIMSOLL_MAX_TOP_K"] = "40";
  EXPECT_EQ(value_and_origin(), "40 environment PLIMSOLL_MAX_TOP_K");
  sources.assignments = {"max_top_k=50"};
  EXPECT_EQ(value_and_origin(), "50 flag");
  sources.assignments = {"max_top_k=50", "MAX_TOP_K=60"};
  EXPECT_EQ(value_and_origin(), "60 flag");
}

TEST(Settings, ABadValueIsAnErrorAlsoWhereAStrongerSourceWouldHideIt) {
  EXPECT_EQ(error_of(resolve_settings(
                {.file = {}, .environment = {{"MAX_TOP_K", "ten"}}, .assignments = {"max_top_k=5"}})),
            "bad_setting: bad value 'ten' for max_top_k (environment MAX_TOP_K): "
            "allowed is a whole number from 1 to 10,000");
}

TEST(Settings, AnUnknownKeyIsNamedWithItsPlaceAndTheNearestName) {
  EXPECT_EQ(error_of(from_file("# comment\n\nmin_topk = 3\n")),
            "unknown_setting: unknown setting 'min_topk' (file a.toml:3); did you mean 'min_top_k'?");
  EXPECT_EQ(error_of(from_file("DEBGU = true")),
            "unknown_setting: unknown setting 'DEBGU' (file a.toml:1); did you mean 'DEBUG'?");
  EXPECT_EQ(
      error_of(from_file("[gateway]\nport = 1")),
      "unknown_setting: unknown setting 'gateway' (file a.toml:1); 'plimsoll config' lists all of them");
  EXPECT_EQ(error_of(from_environment({{"PLIMSOLL_MIN_TOPK", "3"}})),
            "unknown_setting: unknown setting 'PLIMSOLL_MIN_TOPK' (environment); "
            "did you mean 'PLIMSOLL_MIN_TOP_K'?");
  EXPECT_EQ(
      error_of(from_environment({{"PLIMSOLL_", ""}})),
      "unknown_setting: unknown setting 'PLIMSOLL_' (environment); 'plimsoll config' lists all of them");
  EXPECT_EQ(error_of(from_flags({"colour=red"})),
            "unknown_setting: unknown setting 'colour' (flag --set); 'plimsoll config' lists all of them");
  EXPECT_EQ(error_of(from_flags({"Min_Top_K=3"})),
            "unknown_setting: unknown setting 'Min_Top_K' (flag --set); did you mean 'min_top_k'?");
}

TEST(Settings, OtherVariablesAndTheFilesOwnAreIgnored) {
  const auto settings = from_environment(
      {{"PATH", "/bin"}, {"PLIMSOL_MIN_TOP_K", "x"}, {"plimsoll_x", "y"}, {"PLIMSOLL_CONFIG", "/f"}});
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_TRUE(settings->origins.empty());
}

TEST(Settings, AnEmptyVariableCountsAsAbsent) {
  const auto settings = from_environment({{"MIN_TOP_K", ""}, {"DEBUG", ""}, {"PLIMSOLL_LOG_LEVEL", ""}});
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->min_top_k, 2);
  EXPECT_EQ(settings->origin_of("min_top_k"), "default");
}

TEST(Settings, ABadValueIsNamedWithKeyOriginAndWhatIsAllowed) {
  EXPECT_EQ(error_of(from_environment({{"MIN_TOP_K", "0"}})),
            "bad_setting: bad value '0' for min_top_k (environment MIN_TOP_K): "
            "allowed is a whole number from 1 to 10,000");
  EXPECT_EQ(error_of(from_file("rag_context_token_fill_ratio = 0.9")),
            "bad_setting: bad value '0.9' for rag_context_token_fill_ratio (file a.toml:1): "
            "allowed is a number from 0.2 to 0.8");
  EXPECT_EQ(error_of(from_flags({"debug=perhaps"})),
            "bad_setting: bad value 'perhaps' for debug (flag): allowed is true or false");
  EXPECT_EQ(error_of(from_flags({"log_level=loud"})),
            "bad_setting: bad value 'loud' for log_level (flag): "
            "allowed is one of trace, debug, info, warning, error, off");
  EXPECT_EQ(error_of(from_flags({"max_history_turns=many"})),
            "bad_setting: bad value 'many' for max_history_turns (flag): "
            "allowed is a whole number from 0 to 1,000,000, or unlimited");
  EXPECT_EQ(error_of(from_flags({"llm_inference_url=host:80"})),
            "bad_setting: bad value 'host:80' for llm_inference_url (flag): "
            "allowed is an address that starts with http:// or https://");
  EXPECT_EQ(error_of(from_flags({"max_top_k"})), "bad_setting: --set needs key=value; got 'max_top_k'");
}

TEST(Settings, NumbersAreReadWholeOrNotAtAll) {
  for (const char* bad :
       {"", " 3", "3 ", "3x", "3.5", "0x3", "+3", "-1", "10001", "99999999999999999999", "1e3"})
    EXPECT_FALSE(from_flags({std::string("max_top_k=") + bad})) << bad;
  for (const char* bad : {"", "nan", "inf", "0.5x", "1.1", "0", "-0.5", " 0.5"})
    EXPECT_FALSE(from_flags({std::string("context_safety_margin=") + bad})) << bad;
  EXPECT_EQ(shown(from_flags({"context_safety_margin=1"}), "context_safety_margin"), "1");
  EXPECT_EQ(shown(from_file("context_safety_margin = 1"), "context_safety_margin"), "1");
}

TEST(Settings, ADebugVariableOfAnotherProgramIsIgnored) {
  const auto settings = from_environment({{"DEBUG", "express:*,app"}});
  EXPECT_EQ(shown(settings, "debug"), "false");
  EXPECT_NE(error_of(from_environment({{"PLIMSOLL_DEBUG", "express:*"}})), "");
}

TEST(Settings, FlagsKnowTheUsualWords) {
  for (const char* yes : {"true", "TRUE", "True", "1", "yes", "on"})
    EXPECT_EQ(shown(from_environment({{"DEBUG", yes}}), "debug"), "true") << yes;
  for (const char* no : {"false", "False", "0", "no", "off"})
    EXPECT_EQ(shown(from_environment({{"REVERSE_CONTEXT_FOR_OLLAMA", no}}), "reverse_context_for_ollama"),
              "false")
        << no;
}

TEST(Settings, TomlTypesAreTakenAtTheirWord) {
  for (const char* bad :
       {"max_top_k = \"7\"", "max_top_k = 7.0", "max_top_k = true", "max_top_k = [7]", "debug = 1",
        "debug = \"true\"", "context_safety_margin = \"0.5\"", "log_level = 1", "models_file = true",
        "llm_allowed_fallback_models = [1]", "llm_allowed_fallback_models = 1", "max_top_k = 2026-11-15",
        "max_history_turns = \"3\"", "max_top_k = {a = 1}"}) {
    const auto settings = from_file(bad);
    ASSERT_FALSE(settings) << bad;
    EXPECT_EQ(settings.error().code, Errc::bad_setting) << bad;
  }
}

TEST(Settings, NamesComeAsAnArrayOrAsOneTextWithCommas) {
  const std::vector<std::string> expected{"gpt-5-mini", "gemini-2.5-flash"};
  for (const auto& settings :
       {from_file("llm_allowed_fallback_models = [\"gpt-5-mini\", \" gemini-2.5-flash \", \"\"]"),
        from_file("llm_allowed_fallback_models = \"gpt-5-mini, gemini-2.5-flash\""),
        from_environment({{"LLM_ALLOWED_FALLBACK_MODELS", " gpt-5-mini ,,gemini-2.5-flash,"}})}) {
    ASSERT_TRUE(settings) << settings.error().what;
    EXPECT_EQ(settings->llm_allowed_fallback_models, expected);
  }
}

TEST(Settings, AWordTakesAnOptionalValueBack) {
  const auto settings =
      resolve_settings({.file = base::ConfigFile{"a.toml", "max_history_turns = 3\nllm_context_window = 900"},
                        .environment = {{"max_history_turns", "Unlimited"}},
                        .assignments = {"llm_context_window=auto"}});
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->max_history_turns, std::nullopt);
  EXPECT_EQ(settings->llm_context_window, std::nullopt);
  EXPECT_EQ(settings->origin_of("llm_context_window"), "flag");
}

TEST(Settings, OneKeyInBothSpellingsIsSetTwice) {
  EXPECT_EQ(error_of(from_file("min_top_k = 3\nMIN_TOP_K = 4")),
            "bad_setting: min_top_k is set twice (file a.toml:2 and file a.toml:1)");
}

TEST(Settings, AFileThatIsNotTomlIsNamedWithItsLine) {
  const std::string error = error_of(from_file("min_top_k = 3\nmax_top_k =\n"));
  EXPECT_TRUE(error.starts_with("bad_setting: a.toml:2: not TOML: ")) << error;
  EXPECT_FALSE(from_file("min_top_k = \xFF"));
}

TEST(Settings, BoundsThatCrossAreRefusedWithBothOrigins) {
  EXPECT_EQ(
      error_of(from_environment({{"MIN_TOP_K", "20"}})),
      "bad_setting: min_top_k is 20 (environment MIN_TOP_K), which is greater than max_top_k, 10 (default)");
  EXPECT_TRUE(from_environment({{"MIN_TOP_K", "20"}, {"MAX_TOP_K", "20"}}));
}

TEST(Settings, SecretsAreNeverShown) {
  const auto settings = from_environment({{"LLM_ACCESS_SECRET", "sk-hidden"}});
  EXPECT_EQ(shown(settings, "llm_access_secret"), "***");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->llm_access_secret.reveal(), "sk-hidden");
  const std::string two_lines = error_of(from_environment({{"LLM_ACCESS_SECRET", "sk-hidden\nX-Other: 1"}}));
  EXPECT_EQ(two_lines,
            "bad_setting: bad value '***' for llm_access_secret (environment LLM_ACCESS_SECRET): "
            "allowed is one line of text");
}

TEST(Settings, APasswordInAnAddressIsNeverShown) {
  EXPECT_EQ(shown(from_flags({"llm_inference_url=https://ann:p@ss@host/v1?a=@b"}), "llm_inference_url"),
            "https://***@host/v1?a=@b");
  EXPECT_EQ(shown(from_flags({"llm_inference_url=https://host/a@b"}), "llm_inference_url"),
            "https://host/a@b");
  const std::string error =
      error_of(from_flags({"llm_inference_url=ftp://ann:" + std::string(100, 'p') + "@host"}));
  EXPECT_EQ(error.find("ppp"), std::string::npos) << error;
}

TEST(Settings, ALongBadValueIsCutInTheMessage) {
  const std::string error = error_of(from_flags({"max_top_k=" + std::string(1000, '9')}));
  EXPECT_NE(error.find("'" + std::string(80, '9') + "...'"), std::string::npos);
}

TEST(Settings, DebugRaisesTheLogLevelAndNeverLowersIt) {
  EXPECT_EQ(from_flags({"debug=true"})->effective_log_level(), log::Level::debug);
  EXPECT_EQ(from_flags({"debug=true", "log_level=off"})->effective_log_level(), log::Level::debug);
  EXPECT_EQ(from_flags({"debug=true", "log_level=trace"})->effective_log_level(), log::Level::trace);
  EXPECT_EQ(from_flags({"log_level=WARNING"})->effective_log_level(), log::Level::warning);
}

TEST(Settings, FoldersFollowTheCacheFolder) {
  const auto settings = from_environment({{"XDG_CACHE_HOME", "/c"}});
  EXPECT_EQ(shown(settings, "assets_dir"), "/c/plimsoll/assets");
  EXPECT_EQ(shown(settings, "models_dir"), "/c/plimsoll/models");
  EXPECT_EQ(shown(settings, "tokenizer_dir"), "/c/plimsoll/tokenizers");
}

TEST(Settings, ReleaseHasItsOwnAssetsAndWritesToTheCacheFolder) {
  base::SettingSources sources;
  sources.environment = {{"XDG_CACHE_HOME", "/c"}};
  sources.shipped = "/opt/plimsoll/share/plimsoll";
  const auto settings = resolve_settings(sources);
  EXPECT_EQ(shown(settings, "assets_dir"), "/opt/plimsoll/share/plimsoll/assets");
  EXPECT_EQ(shown(settings, "models_dir"), "/c/plimsoll/models");
  EXPECT_EQ(shown(settings, "tokenizer_dir"), "/c/plimsoll/tokenizers");
}

class LoadSettings : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
    ::unsetenv("PLIMSOLL_CONFIG");
  }
  void TearDown() override {
    ::unsetenv("XDG_CONFIG_HOME");
    ::unsetenv("PLIMSOLL_CONFIG");
  }
  std::string written(std::string_view name, std::string_view text) const {
    EXPECT_TRUE(base::write_atomically(folder_ / name, text));
    return (folder_ / name).string();
  }
  base::TemporaryFolder folder_{"settings"};
};

TEST_F(LoadSettings, TakesTheFileThatIsNamedMostDirectly) {
  EXPECT_EQ(load_settings("", {})->max_top_k, 10);  // no file at all is fine
  written("plimsoll/plimsoll.toml", "max_top_k = 11");
  EXPECT_EQ(load_settings("", {})->max_top_k, 11);
  ::setenv("PLIMSOLL_CONFIG", written("named.toml", "max_top_k = 12").c_str(), 1);
  EXPECT_EQ(load_settings("", {})->max_top_k, 12);
  const std::string given = written("given.toml", "\nmax_top_k = 13");
  const auto settings = load_settings(given, {});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->max_top_k, 13);
  EXPECT_EQ(settings->origin_of("max_top_k"), "file " + given + ":2");
  const std::vector<std::string> flags{"max_top_k=14"};
  EXPECT_EQ(load_settings(given, flags)->max_top_k, 14);
}

TEST_F(LoadSettings, AFileThatWasAskedForMustExist) {
  EXPECT_EQ(load_settings(folder_ / "none.toml", {}).error().code, Errc::not_found);
  ::setenv("PLIMSOLL_CONFIG", "/none.toml", 1);
  EXPECT_EQ(error_of(load_settings("", {})),
            "not_found: cannot open '/none.toml': No such file or directory");
}

TEST_F(LoadSettings, AHugeFileIsRefused) {
  EXPECT_EQ(load_settings(written("huge.toml", std::string(1'000'001, '#')), {}).error().code,
            Errc::bad_input);
}

// The table in docs/settings.md must match the program, row by row.
std::string row_of(const base::Setting& setting) {
  const auto settings = from_environment({{"XDG_CACHE_HOME", "/XDG"}, {"XDG_DATA_HOME", "/DATA"}});
  std::string value = shown_text(*settings, setting);
  if (value.starts_with("/XDG/")) value.replace(0, 4, "$XDG_CACHE_HOME");
  if (value.starts_with("/DATA/")) value.replace(0, 5, "$XDG_DATA_HOME");
  const std::string other = setting.environment.empty() ? "" : fmt::format("`{}`", setting.environment);
  return fmt::format("| `{}` | {} | `{}` | {} | {} |", setting.key, other, value, allowed_values(setting),
                     setting.meaning);
}

TEST(SettingsManual, HasOneTrueRowForEverySetting) {
  const auto manual = base::read_file(base::source_dir() / "docs/settings.md", 1'000'000);
  ASSERT_TRUE(manual) << manual.error().what;
  std::string expected;
  for (const base::Setting& setting : all_settings()) {
    const std::string row = row_of(setting);
    expected += row + "\n";
    EXPECT_NE(manual->find("\n" + row + "\n"), std::string::npos) << "docs/settings.md lacks this row:\n"
                                                                  << row;
  }
  std::size_t rows = 0;
  for (std::size_t at = manual->find("\n| `"); at != std::string::npos; at = manual->find("\n| `", at + 1))
    ++rows;
  EXPECT_EQ(rows, all_settings().size()) << "docs/settings.md should have these rows only:\n" << expected;
}

}  // namespace
}  // namespace plimsoll::config

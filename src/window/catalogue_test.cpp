#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "plimsoll/tokenizers.hpp"
#include "window/names.hpp"
#include "window/providers.hpp"
#include "window/testing_catalogue.hpp"

namespace plimsoll {
namespace {

std::string found(std::string_view name) {
  const auto match = catalogue().find(name);
  return match ? match->card->name : "none";
}

TEST(Catalogue, IsWellFormed) {
  const TokenizerLibrary library("", "");
  std::set<std::string> tokenizers;
  for (const TokenizerSource& source : library.sources()) tokenizers.insert(source.name);
  EXPECT_GE(catalogue().models().size(), 150U);
  for (const ModelCard& card : catalogue().models()) {
    EXPECT_TRUE(tokenizers.contains(card.tokenizer)) << card.name << " has the tokenizer " << card.tokenizer;
    // A verified number has a date; an unverified one is marked.
    EXPECT_EQ(card.date.empty(), card.source == "unverified" || card.source == "rule D6") << card.name;
    const bool table = card.source.starts_with("litellm ");
    EXPECT_TRUE(!table || card.source.find(": ") < card.source.size() - 2) << card.name << " names no key";
    EXPECT_TRUE(table || card.source.starts_with("rule D6") || card.source == "unverified" ||
                card.source == "the model's own GGUF")
        << card.name << ": " << card.source;
    EXPECT_GE(card.window, 2048) << card.name;
    EXPECT_EQ(card.why.empty(), card.exactness == Exactness::exact) << card.name;
    EXPECT_EQ(found(card.name), card.name);
    for (const std::string& alias : card.aliases) EXPECT_EQ(found(alias), card.name) << alias;
  }
}

// Two names that differ only in case and separators are one name to find().
TEST(Catalogue, GivesNoNameToTwoModels) {
  std::map<std::string, std::string> owner;
  for (const ModelCard& card : catalogue().models()) {
    const auto claim = [&](const std::string& name) {
      const auto [at, first] = owner.try_emplace(window::key_of(window::words_of(name)), card.name);
      EXPECT_TRUE(first || at->second == card.name) << name << " is " << at->second << " and " << card.name;
    };
    claim(card.name);
    for (const std::string& alias : card.aliases) claim(alias);
  }
  EXPECT_GE(owner.size(), 250U);
}

// Prices name whose they are, and each name that has them is found as this model.
TEST(Catalogue, PricesAreOfAProvidersOwnServerAndOfNamesThatAreFound) {
  std::size_t priced = 0;
  for (const ModelCard& card : catalogue().models()) {
    if (!card.prices) continue;
    ++priced;
    const CardPrices& prices = *card.prices;
    EXPECT_TRUE(window::is_provider(prices.provider)) << card.name << ": " << prices.provider;
    EXPECT_TRUE(prices.source.starts_with("litellm ")) << card.name;
    EXPECT_FALSE(prices.date.empty()) << card.name;
    EXPECT_FALSE(prices.names.empty()) << card.name;
    EXPECT_GT(prices.prices.input, 0) << card.name;
    EXPECT_GE(prices.prices.output, prices.prices.input) << card.name;
    EXPECT_LE(prices.prices.cached_input.value_or(0), prices.prices.input) << card.name;
    EXPECT_GE(prices.prices.cache_write_hour.value_or(most_price), prices.prices.cache_write.value_or(0))
        << card.name;
    for (const std::string& name : prices.names) {
      const auto match = catalogue().find(name);
      ASSERT_TRUE(match) << name;
      EXPECT_EQ(match->card->name, card.name) << name;
      EXPECT_NE(match->kind, MatchKind::partial) << name;
    }
  }
  EXPECT_GE(priced, 100U);
}

TEST(Catalogue, MostFiguresWereLookedUp) {
  std::size_t unverified = 0;
  std::size_t without_output = 0;
  for (const ModelCard& card : catalogue().models()) {
    unverified += card.source == "unverified" ? 1 : 0;
    without_output += card.max_output == 0 ? 1 : 0;
  }
  EXPECT_LE(unverified, 8U);
  EXPECT_LE(without_output, 18U);
}

TEST(Catalogue, HoldsTheWindowsOfRuleD6) {
  const std::pair<const char*, Tokens> windows[] = {{"gpt-4", 8192},
                                                    {"gpt-4-turbo", 128000},
                                                    {"gpt-4o", 128000},
                                                    {"gpt-3.5-turbo", 16385},
                                                    {"gpt-5-mini", 400000},
                                                    {"claude-3-opus", 200000},
                                                    {"claude-3-sonnet", 200000},
                                                    {"claude-3-haiku", 200000},
                                                    {"claude-3-5-sonnet", 200000},
                                                    {"gemini-2.5-flash", 1048576},
                                                    {"grok-3", 131072},
                                                    {"grok-4-fast", 2000000},
                                                    {"deepseek-chat", 64000},
                                                    {"deepseek-coder:6.7b", 16000},
                                                    {"qwen3-coder-flash", 128000},
                                                    {"qwen3-235b-a22b", 262144},
                                                    {"llama3.2:3b", 128000},
                                                    {"llama3.1:70b", 128000},
                                                    {"qwen2.5:7b", 32768},
                                                    {"mistral:7b", 32768},
                                                    {"gemma3:1b", 8192},
                                                    {"phi3:mini", 4096},
                                                    {"llama3.2:8b", 8192},
                                                    {"qwen2.5:0.5b", 32768},
                                                    {"mixtral:8x7b", 32768}};
  for (const auto& [name, window] : windows) {
    const auto match = catalogue().find(name);
    ASSERT_TRUE(match) << name;
    EXPECT_EQ(match->kind, MatchKind::exact) << name;
    EXPECT_EQ(match->card->window, window) << name;
  }
}

TEST(Find, SeesThroughProvidersDatesAndQuantizations) {
  const std::pair<const char*, const char*> names[] = {
      {"gpt-4o-mini-2024-07-18", "gpt-4o-mini"},
      {"openai/gpt-5-mini", "gpt-5-mini"},
      {"llama3.2:3b-instruct-q4_K_M", "llama3.2:3b"},
      {"Qwen/Qwen2.5-7B-Instruct", "qwen2.5:7b"},
      {"meta-llama/Llama-3.1-8B-Instruct", "llama3.1:8b"},
      {"meta-llama/Meta-Llama-3-8B-Instruct", "llama3:8b"},
      {"deepseek-ai/DeepSeek-V3", "deepseek-v3"},
      {"deepseek-ai/DeepSeek-V3-0324", "deepseek-v3"},
      {"mistralai/Mistral-Nemo-Instruct-2407", "mistral-nemo"},
      {"mistralai/Mistral-7B-Instruct-v0.3", "mistral:7b"},
      {"google/gemma-3-27b-it", "gemma3:27b"},
      {"anthropic/claude-3-5-sonnet-20241022", "claude-3-5-sonnet"},
      {"anthropic/claude-3.5-sonnet", "claude-3-5-sonnet"},
      {"bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"},
      {"claude-3-opus@20240229", "claude-3-opus"},
      {"bedrock/meta.llama3-1-70b-instruct-v1:0", "llama3.1:70b"},
      {"CohereForAI/c4ai-command-r-plus", "command-r-plus"},
      {"CohereForAI/c4ai-command-r-v01", "command-r"},
      {"HuggingFaceTB/SmolLM2-135M-Instruct", "smollm2:135m"},
      {"qwen/qwen3-235b-a22b", "qwen3-235b-a22b"},
      {"Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b"},
      {"x-ai/grok-4-fast", "grok-4-fast"},
      {"models/gemini-2.5-flash", "gemini-2.5-flash"},
      {"gemini/gemini-2.5-flash-preview-05-20", "gemini-2.5-flash"},
      {"ft:gpt-4o-mini-2024-07-18:acme::abc123", "gpt-4o-mini"},
      {"azure/gpt-35-turbo", "gpt-3.5-turbo"},
      {"gpt-4-0613", "gpt-4"},
      {"gpt-4-1106-preview", "gpt-4-turbo"},
      {"openai/gpt-oss-20b", "gpt-oss:20b"},
      {"llama3.1:latest", "llama3.1:8b"},
      {"bartowski/Llama-3.2-3B-Instruct-GGUF", "llama3.2:3b"},
      {"unsloth/gemma-2-9b-it-bnb-4bit", "gemma2:9b"},
      {"mixtral:8x7b-instruct-v0.1-q4_0", "mixtral:8x7b"},
      {"deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "deepseek-r1:32b"},
      {"phi3:mini-4k-instruct-q4_0", "phi3:mini"},
      {"GPT-4O", "gpt-4o"}};
  for (const auto& [name, model] : names) EXPECT_EQ(found(name), model) << name;
}

TEST(Find, NeverLetsAShorterNameSwallowALongerOne) {
  EXPECT_EQ(found("gpt-4"), "gpt-4");
  EXPECT_EQ(found("gpt-4o"), "gpt-4o");
  EXPECT_EQ(found("gpt-4.1"), "gpt-4.1");
  EXPECT_EQ(found("gpt-4.1-mini-2025-04-14"), "gpt-4.1-mini");
  EXPECT_EQ(found("gpt-49"), "none");
  EXPECT_EQ(found("gpt-4.9"), "none");
  EXPECT_EQ(found("claude-3-9-haiku"), "none");
  EXPECT_EQ(found("llama3.9:8b"), "none");
  EXPECT_EQ(found("mistral-colossal-9"), "none");
  EXPECT_EQ(found("o1-mini"), "o1-mini");
  EXPECT_EQ(found("command-r7b-12-2024"), "command-r7b");
  EXPECT_EQ(found("gemini-2.5-flash-lite"), "gemini-2.5-flash-lite");
  EXPECT_EQ(found("qwen2.5-coder:7b"), "qwen2.5-coder:7b");
}

// Every name that begins another one, and every name with something glued to its end.
TEST(Find, TakesOnlyWholeWordsOutOfALongerName) {
  int pairs = 0;
  int relatives = 0;
  for (const ModelCard& card : catalogue().models()) {
    for (const ModelCard& longer : catalogue().models()) {
      if (longer.name == card.name || !longer.name.starts_with(card.name)) continue;
      ++pairs;
      EXPECT_EQ(found("somebody/" + longer.name), longer.name);
      EXPECT_EQ(found(longer.name + "-2025-01-31"), longer.name);
    }
    for (const char* glued : {"x", "9", ".9", "o"}) {
      const std::string name = card.name + glued;
      const auto match = catalogue().find(name);
      if (!match) continue;
      ++relatives;
      const std::string within = " " + window::key_of(window::words_of(name)) + " ";
      const std::string taken = " " + window::key_of(window::words_of(match->matched)) + " ";
      EXPECT_NE(within.find(taken), std::string::npos) << name << " was taken for " << match->matched;
    }
  }
  EXPECT_GT(pairs, 50);
  EXPECT_GT(relatives, 100);
}

TEST(Find, SaysHowItMatched) {
  EXPECT_EQ(catalogue().find("llama3.2:3b")->kind, MatchKind::exact);
  EXPECT_EQ(catalogue().find("Llama-3.2-3B")->kind, MatchKind::exact);
  EXPECT_EQ(catalogue().find("meta-llama/Llama-3.2-3B-Instruct")->kind, MatchKind::stripped);
  const auto partial = catalogue().find("NousResearch/Hermes-3-Llama-3.1-8B");
  ASSERT_TRUE(partial);
  EXPECT_EQ(partial->card->name, "llama3.1:8b");
  EXPECT_EQ(partial->kind, MatchKind::partial);
  EXPECT_FALSE(catalogue().find(""));
  EXPECT_FALSE(catalogue().find("-:/@"));
  EXPECT_FALSE(catalogue().find(std::string(1'000'000, '-') + "gpt"));
  EXPECT_FALSE(catalogue().find("my-own-model"));
}

TEST(Find, NamesTheNearestTokenizerWhereTheTrueOneIsNotPublished) {
  const std::pair<const char*, const char*> nearest[] = {
      {"claude-3-opus", "claude-legacy"}, {"gemini-2.5-pro", "gemma3"}, {"grok-4", "o200k_base"}};
  for (const auto& [name, tokenizer] : nearest) {
    const ModelCard& card = *catalogue().find(name)->card;
    EXPECT_EQ(card.tokenizer, tokenizer);
    EXPECT_EQ(card.exactness, Exactness::estimated);
    EXPECT_NE(card.why.find("publishes no tokenizer"), std::string::npos) << card.why;
  }
}

// ---- User files ----

constexpr std::string_view mine =
    "[[model]]\nname = \"%\"\nwindow = 5000\ntokenizer = \"qwen3\"\nspecials = \"parsed\"\nsource = \"me\"\n";

std::string model(std::string_view name, std::string_view more = "") {
  std::string text(mine);
  return text.replace(text.find('%'), 1, name) + std::string(more);
}

TEST(Extend, AddsAndReplaces) {
  ModelCatalogue extended = catalogue();
  ASSERT_TRUE(extended.extend(model("my-own-model", "aliases = [\"mom\"]\n") + model("gpt-4o"), "mine.toml"));
  EXPECT_EQ(extended.find("mom")->card->window, 5000);
  EXPECT_EQ(extended.find("openai/gpt-4o-2024-08-06")->card->window, 5000);
  EXPECT_EQ(extended.find("gpt-4o")->card->origin, "mine.toml");
  EXPECT_EQ(extended.find("gpt-4")->card->origin, "built in");
}

TEST(Extend, NamesWhatIsWrongAndChangesNothing) {
  const auto error = [](const std::string& text) {
    ModelCatalogue extended = catalogue();
    const auto done = extended.extend(text, "mine.toml");
    EXPECT_EQ(extended.models().size(), catalogue().models().size());
    return done ? "none" : done.error().what;
  };
  EXPECT_EQ(error(model("x", "windw = 3\n")), "mine.toml: x has an unknown key 'windw'");
  EXPECT_EQ(error(model("x", "max_output = \"many\"\n")),
            "mine.toml: 'max_output' of x must be a number from 1 to 1000000000");
  EXPECT_EQ(error(model("x", "max_output = 6000\n")),
            "mine.toml: 'max_output' of x is 6000, its window 5000");
  EXPECT_EQ(error(model("x", "template = \"chatlm\"\n")),
            "mine.toml: 'template' of x is 'chatlm', which is not a chat template");
  EXPECT_EQ(error(model("x", "images = \"tiles\"\n")),
            "mine.toml: 'images' of x is 'tiles', which is not an image rule");
  EXPECT_EQ(error(model("x", "exactness = \"estimated\"\n")), "mine.toml: x has no 'why'");
  EXPECT_EQ(error(model("x", "date = \"today\"\n")),
            "mine.toml: 'date' of x must be a day such as 2026-11-15");
  EXPECT_EQ(error(model("x") + model("x")), "mine.toml: 'x' is listed twice");
  EXPECT_EQ(error(model("x-1b") + model("y", "aliases = [\"X:1B\"]\n")),
            "mine.toml: 'X:1B' means both x-1b and y");
  EXPECT_EQ(error("[[model]]\nname = \"x\"\n"),
            "mine.toml: 'window' of x must be a number from 1 to 1000000000");
  EXPECT_EQ(error("[[modle]]\n"), "mine.toml: unknown key 'modle'; a catalogue has [[model]] only");
  EXPECT_NE(error("[[model]\n").find("mine.toml: line 1"), std::string::npos);
}

TEST(ModelCatalogue, NamesTheNearestModelOfAMistypedName) {
  EXPECT_EQ(catalogue().nearest("gpt-4oo"), "gpt-4o");
  EXPECT_EQ(catalogue().nearest("GPT-4oo"), "gpt-4o");
  EXPECT_EQ(catalogue().nearest("lama3.2"), "llama3.2");
  EXPECT_EQ(catalogue().nearest("the model of my neighbour"), std::nullopt);
  EXPECT_EQ(catalogue().no_entry_for("gpt-4oo"), "no entry for 'gpt-4oo' (did you mean 'gpt-4o'?)");
  EXPECT_EQ(catalogue().no_entry_for("x"), "no entry for 'x'");
}

TEST(WordsOf, CutsDifferentSpellingsAlike) {
  EXPECT_EQ(window::key_of(window::words_of("Llama-3.1-8B")), "llama 3.1 8b");
  EXPECT_EQ(window::key_of(window::words_of("llama3.1:8b")), "llama 3.1 8b");
  EXPECT_EQ(window::key_of(window::words_of("mixtral:8x7b")), "mixtral 8x7b");
  EXPECT_EQ(window::key_of(window::words_of("gpt-4o")), "gpt 4o");
  EXPECT_EQ(window::without_provider("bedrock/us.anthropic.claude-3-haiku"), "claude-3-haiku");
  EXPECT_EQ(window::without_provider("gpt-4.1"), "gpt-4.1");
}

}  // namespace
}  // namespace plimsoll

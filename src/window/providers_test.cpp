#include "window/providers.hpp"

#include <gtest/gtest.h>

namespace plimsoll::window {
namespace {

std::string of(std::string_view model) {
  static const ModelCatalogue catalogue = *ModelCatalogue::built_in();
  const auto match = catalogue.find(model);
  return match ? provider_of(*match->card) : "no such model";
}

TEST(Providers, ACardsFiguresBelongToWhoeverItsSourceNames) {
  EXPECT_EQ(of("gpt-4"), "azure");
  EXPECT_EQ(of("gpt-3.5-turbo"), "openai");
  EXPECT_EQ(of("gpt-5-pro"), "openai");
  EXPECT_EQ(of("gemma3:12b"), "novita");
  EXPECT_EQ(of("gemini-2.5-flash"), "gemini");
  EXPECT_EQ(of("claude-2"), "anthropic");
  EXPECT_EQ(of("deepseek-chat"), "deepseek");
  ModelCard unverified;
  unverified.source = "unverified";
  EXPECT_EQ(provider_of(unverified), "");
}

TEST(Providers, AHostBelongsToAProviderOrToNobody) {
  EXPECT_EQ(provider_at("https://api.openai.com/v1"), "openai");
  EXPECT_EQ(provider_at("https://user:word@API.OPENAI.com:443"), "openai");
  EXPECT_EQ(provider_at("https://mine.openai.azure.com"), "azure");
  EXPECT_EQ(provider_at("https://api.anthropic.com"), "anthropic");
  EXPECT_EQ(provider_at("http://localhost:11434"), "?");
  EXPECT_EQ(provider_at("https://api.openai.com.example.org"), "?");
  EXPECT_EQ(provider_at(""), "?");
}

constexpr std::string_view own_file = R"(
[[model]]
name = "harbour-8b"
aliases = ["harbour"]
window = 4096
tokenizer = "llama3.1"
specials = "plain"
source = "mine"
price_input = 0.0375
price_output = 2
price_longest_prompt = 1000
)";

TEST(Prices, OfAProviderApplyToItsOwnServerAlone) {
  const ModelCatalogue catalogue = *ModelCatalogue::built_in();
  const auto at_openai = prices_at(catalogue, "gpt-4o", "https://api.openai.com/v1");
  ASSERT_TRUE(at_openai);
  EXPECT_EQ(at_openai->input, 2'500'000);
  EXPECT_EQ(at_openai->cached_input, 1'250'000);
  EXPECT_EQ(prices_at(catalogue, "openai/gpt-4o-2024-08-06", "https://api.openai.com"), at_openai);
  for (const char* url :
       {"http://127.0.0.1:8000", "https://mine.openai.azure.com", "https://api.openai.com.evil.example"})
    EXPECT_FALSE(prices_at(catalogue, "gpt-4o", url)) << url;
  // These mean the same model, and cost something else.
  for (const char* name :
       {"gpt-4o-2024-05-13", "gpt-4o-audio-preview", "ft:gpt-4o:mine::1", "gpt-4o-unknown"})
    EXPECT_FALSE(prices_at(catalogue, name, "https://api.openai.com")) << name;
}

TEST(Prices, OfOnesOwnFileApplyToAnyServer) {
  ModelCatalogue catalogue = *ModelCatalogue::built_in();
  ASSERT_TRUE(catalogue.extend(own_file, "mine.toml"));
  for (const char* name : {"harbour-8b", "harbour", "harbour-8b-instruct-q4_K_M"}) {
    const auto prices = prices_at(catalogue, name, "http://127.0.0.1:11434");
    ASSERT_TRUE(prices) << name;
    EXPECT_EQ(prices->input, 37'500);
    EXPECT_EQ(prices->output, 2'000'000);
    EXPECT_EQ(prices->cached_input, std::nullopt);
    EXPECT_EQ(prices->longest_prompt, 1'000);
  }
  EXPECT_FALSE(prices_at(catalogue, "harbour-8b-of-another", "http://127.0.0.1:11434"));
}

TEST(Prices, ThatAreWrongAreErrorsThatNameTheKey) {
  for (const std::string wrong :
       {"price_input = -1", "price_input = 10001", "price_input = nan", "price_input = \"2\"",
        "price_input = inf", "price_longest_prompt = 0", "price_names = \"harbour\"", "price_date = 3",
        "price_cache_write = -0.1"}) {
    std::string text(own_file);
    const std::string key = wrong.substr(0, wrong.find(' '));
    if (const std::size_t at = text.find(key + " ="); at != std::string::npos)
      text.replace(at, text.find('\n', at) - at, wrong);
    else
      text += wrong + "\n";
    const auto read = ModelCatalogue::built_in()->extend(text, "mine.toml");
    ASSERT_FALSE(read) << wrong;
    EXPECT_NE(read.error().what.find("'" + key + "' of harbour-8b"), std::string::npos) << read.error().what;
  }
  std::string half(own_file);
  half.erase(half.find("price_output"), std::string_view("price_output = 2\n").size());
  const auto read = ModelCatalogue::built_in()->extend(half, "mine.toml");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().what.find("both 'price_input' and 'price_output'"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::window

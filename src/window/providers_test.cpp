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

}  // namespace
}  // namespace plimsoll::window

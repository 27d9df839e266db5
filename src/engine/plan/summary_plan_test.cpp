#include <random>

#include <gtest/gtest.h>

#include "base/paths.hpp"
#include "count/chat/chat_body.hpp"
#include "engine/plan/plan.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

class Models : public CatalogueModels {
 public:
  Models(const ModelCatalogue& catalogue, const TokenizerLibrary& library, Tokens window)
      : CatalogueModels(catalogue, library), window_(window) {}
  Result<PlanModel> open(std::string_view model) const override {
    auto opened = CatalogueModels::open(model);
    if (opened) opened->window = {window_, WindowSource::configured, Confidence::high, {}};
    return opened;
  }

 private:
  Tokens window_;
};

std::string words(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "ship ";
  return text;
}

// A request whose first messages are replaced by a summary.
std::string random_body(std::mt19937& rng) {
  Json messages = Json::array();
  if (rng() % 2 == 0) messages.push_back({{"role", "system"}, {"content", "You are the mate."}});
  for (std::size_t turn = rng() % 6; turn > 0; --turn) {
    messages.push_back({{"role", "user"}, {"content", words(rng() % 150)}});
    messages.push_back({{"role", "assistant"}, {"content", words(rng() % 150)}});
  }
  messages.push_back({{"role", "user"}, {"content", "How deep?"}});
  Json ours = Json::object();
  if (rng() % 3 == 0) ours["memories"] = Json::array({Json{{"text", "She sails."}}});
  if (rng() % 3 == 0) ours["passages"] = Json::array({Json{{"text", words(rng() % 60)}}});
  return Json{{"messages", messages}, {"plimsoll", ours}, {"max_tokens", 200}}.dump();
}

TEST(PlanWithASummary, KeepsTheLawAndCountsIt) {
  const ModelCatalogue catalogue = *ModelCatalogue::built_in();
  const auto cache = base::cache_folder(base::current_environment());
  const TokenizerLibrary library(cache / "assets", cache / "tokenizers");
  if (!library.open("o200k_base")) GTEST_SKIP() << "tokenizers were not fetched: run tools/setup assets";
  std::mt19937 rng{4};
  int fitting = 0, cut = 0;
  for (int round = 0; round < 300; ++round) {
    const Models models(catalogue, library, static_cast<Tokens>(500 + rng() % 1'500));
    const std::string body = random_body(rng);
    auto parts = chat::read_chat(body);
    ASSERT_TRUE(parts) << parts.error().what;
    chat::Compressed compressed;
    compressed.summary = {words(rng() % 120) + "and so on", 6};
    compressed.told.id = "9f2c";
    compressed.told.replaces = {"messages[0-5]"};
    for (std::size_t i = 0; i < 6; ++i) compressed.replaced.push_back({i, 100});
    parts->compressed = compressed;
    parts->altered = true;
    const auto plan = plan_parts(*parts, parts->additions, "gpt-4o", {}, models);
    ASSERT_TRUE(plan) << plan.error().what;
    if (!plan->fits) continue;
    ++fitting;
    ASSERT_EQ(plan->input + plan->thinking + plan->answer + plan->margin + plan->left, plan->window.tokens);
    ASSERT_GE(plan->left, 0);
    ASSERT_TRUE(plan->summary);
    ASSERT_GT(plan->summary->after, 0);
    Tokens sent = 0;
    for (const PlannedSection& section : plan->sections) {
      ASSERT_LE(section.used, section.grant);
      if (is_input(section.section.kind)) sent += section.used;
    }
    ASSERT_EQ(sent, plan->input);
    const auto& history = plan->sections[static_cast<std::size_t>(SectionKind::history)];
    ASSERT_GE(history.used, plan->summary->after);
    const auto model = models.open("gpt-4o");
    const auto counted = count::count_chat_body(model->tokenizer, Json::parse(plan->request), model->chat);
    ASSERT_EQ(counted->total, plan->input);
    ASSERT_NE(plan->request.find("<summary>"), std::string::npos);
    for (const PlannedPiece& piece : plan->pieces) cut += piece.fate != Fate::kept ? 1 : 0;
  }
  EXPECT_GT(fitting, 100);
  EXPECT_GT(cut, 10);
}

TEST(PlanWithASummary, OneThatDoesNotFitIsSaidToBeLeftOut) {
  const ModelCatalogue catalogue = *ModelCatalogue::built_in();
  const auto cache = base::cache_folder(base::current_environment());
  const TokenizerLibrary library(cache / "assets", cache / "tokenizers");
  if (!library.open("o200k_base")) GTEST_SKIP() << "tokenizers were not fetched: run tools/setup assets";
  auto parts =
      chat::read_chat(R"({"messages": [{"role": "user", "content": "How deep?"}], "max_tokens": 100})");
  ASSERT_TRUE(parts);
  parts->compressed.emplace();
  parts->compressed->summary = {words(900), 2};
  parts->compressed->replaced = {{0, 500}, {1, 600}};
  parts->given_at = {2};
  const Models models(catalogue, library, 500);
  EXPECT_FALSE(plan_parts(*parts, parts->additions, "gpt-4o", {}, models)->fits);
  parts->additions.without_summary = true;
  const auto plan = plan_parts(*parts, parts->additions, "gpt-4o", {}, models);
  ASSERT_TRUE(plan->fits);
  EXPECT_FALSE(plan->summary);
  ASSERT_EQ(plan->pieces.size(), 3U);
  EXPECT_EQ(plan->pieces[1].id, "messages[1]");
  EXPECT_EQ(plan->pieces[1].fate, Fate::too_old);
  EXPECT_EQ(plan->pieces[2].id, "messages[2]");
}

}  // namespace
}  // namespace plimsoll::engine

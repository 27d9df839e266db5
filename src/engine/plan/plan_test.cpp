#include "plimsoll/plan.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include <nlohmann/json.hpp>

#include "base/paths.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

const ModelCatalogue& catalogue() {
  static const ModelCatalogue built_in = *ModelCatalogue::built_in();
  return built_in;
}

const TokenizerLibrary& library() {
  static const auto cache = base::cache_folder(base::current_environment());
  static const TokenizerLibrary opened(cache / "assets", cache / "tokenizers");
  return opened;
}

// The catalogue's models with windows set by the test.
class Models : public CatalogueModels {
 public:
  explicit Models(Tokens window = 0) : CatalogueModels(catalogue(), library()), window_(window) {}
  Result<PlanModel> open(std::string_view model) const override {
    auto opened = CatalogueModels::open(model);
    if (opened && window_ > 0) opened->window = {window_, WindowSource::configured, Confidence::high, {}};
    if (opened) opened->drift = drift;
    return opened;
  }
  budget::Drift drift;

 private:
  Tokens window_;
};

#define NEED_TOKENIZERS()                                                                           \
  if (!library().open("o200k_base") || !library().open("qwen2.5") || !library().open("llama3.1") || \
      !library().open("command-r") || !library().open("gemma3"))                                    \
  GTEST_SKIP() << "tokenizers were not fetched: run tools/setup assets"

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += i == 0 ? "ship" : " ship";
  return text;
}

Json message(const char* role, std::string text) {
  return {{"role", role}, {"content", std::move(text)}};
}

// `turns` pairs of question and answer of some 2 * size tokens each, and a last question.
Json conversation(int turns, int size) {
  Json messages = Json::array({message("system", "You are a harbour master.")});
  for (int i = 0; i < turns; ++i) {
    messages.push_back(message("user", std::to_string(i) + " " + words(size)));
    messages.push_back(message("assistant", std::to_string(i) + " " + words(size)));
  }
  messages.push_back(message("user", "How deep may she be loaded?"));
  return {{"messages", messages}};
}

Tokens used(const Plan& plan, SectionKind kind) {
  return plan.sections[static_cast<std::size_t>(kind)].used;
}

// Invariants of every plan that fits.
void expect_lawful(const Plan& plan, const PlanModels& models) {
  ASSERT_TRUE(plan.fits);
  EXPECT_EQ(plan.input + plan.thinking + plan.answer + plan.margin + plan.left, plan.window.tokens);
  EXPECT_GE(plan.left, 0);
  EXPECT_GE(plan.answer, 0);
  Tokens input = 0, grants = 0;
  for (const PlannedSection& planned : plan.sections) {
    EXPECT_LE(planned.used, planned.grant) << name_of(planned.section.kind);
    EXPECT_GE(planned.used, 0) << name_of(planned.section.kind);
    input += is_input(planned.section.kind) ? planned.used : 0;
    grants += planned.grant;
  }
  EXPECT_EQ(input, plan.input);
  EXPECT_LE(grants, plan.window.tokens);
  // The request to send has the count of the plan.
  const auto model = models.open(plan.model);
  ASSERT_TRUE(model);
  const auto counted = count_chat(model->tokenizer, plan.request, model->chat);
  ASSERT_TRUE(counted) << counted.error().what;
  EXPECT_EQ(counted->total, plan.input);
}

Plan planned(const Json& request, const std::string& model, const PlanModels& models,
             const PlanOptions& options = {}) {
  auto plan = plan_request(request.dump(), model, options, models);
  EXPECT_TRUE(plan) << plan.error().what;
  return plan ? *plan : Plan{};
}

TEST(PlanRequest, TakesASmallRequestAsItIs) {
  NEED_TOKENIZERS();
  const Models models;
  const Plan plan = planned(conversation(2, 20), "gpt-4o", models);
  expect_lawful(plan, models);
  EXPECT_EQ(plan.window.tokens, 128'000);
  EXPECT_EQ(plan.window.source, WindowSource::catalogue);
  EXPECT_EQ(plan.message_count, 6);
  EXPECT_EQ(plan.margin, 100);
  EXPECT_EQ(plan.answer, 16'384);  // the model's maximum
  EXPECT_FALSE(plan.fallback.needed);
  for (const PlannedPiece& piece : plan.pieces) EXPECT_EQ(piece.fate, Fate::kept) << piece.id;
}

TEST(PlanRequestB2, LowersTheAnswerBeforeItCutsHistory) {
  NEED_TOKENIZERS();
  const Models models(4'096);
  Json request = conversation(5, 300);  // some 3,000 tokens
  request["max_tokens"] = 3'000;
  const Plan plan = planned(request, "gpt-4o", models);
  expect_lawful(plan, models);
  EXPECT_EQ(plan.message_count, 12);
  EXPECT_EQ(plan.answer, 4'096 - plan.input - 100);
  EXPECT_EQ(plan.left, 0);
  EXPECT_NE(plan_json(plan).find("REDUCED"), std::string::npos);
}

TEST(PlanRequestB2, CutsHistoryUntilFiveHundredAreFreeForTheAnswer) {
  NEED_TOKENIZERS();
  const Models models(2'048);
  Json request = conversation(20, 100);
  request["max_tokens"] = 3'000;
  const Plan plan = planned(request, "gpt-4o", models);
  expect_lawful(plan, models);
  EXPECT_GE(plan.answer, 500);
  EXPECT_LT(plan.message_count, 42);
  EXPECT_GT(plan.message_count, 4);
  bool kept_before = false;
  for (const PlannedPiece& piece : plan.pieces) {
    if (piece.section != SectionKind::history) continue;
    EXPECT_FALSE(kept_before && piece.fate != Fate::kept) << piece.id << " is newer than one that stays";
    kept_before = kept_before || piece.fate == Fate::kept;
  }
}

TEST(PlanRequest, SaysWhatTheLeastWouldBe) {
  NEED_TOKENIZERS();
  const Models models(1'000);
  const Json request = {{"messages", {message("user", words(900))}}};
  const Plan plan = planned(request, "gpt-4o", models);
  EXPECT_FALSE(plan.fits);
  EXPECT_LT(plan.left, 0);
  ASSERT_FALSE(plan.warnings.empty());
  EXPECT_TRUE(plan.warnings[0].starts_with("Prompt length exceeds context window. The least"));
  const Models enough(plan.least);
  EXPECT_TRUE(planned(request, "gpt-4o", enough).fits);
  const Models too_little(plan.least - 1);
  EXPECT_FALSE(planned(request, "gpt-4o", too_little).fits);
}

TEST(PlanRequest, KeepsACallOfAToolWithItsResult) {
  NEED_TOKENIZERS();
  const Models models(900);
  Json messages = {message("user", "Sail to Hull."), message("assistant", "Aye."),
                   message("user", "Now check the draught.")};
  for (int i = 0; i < 8; ++i) {
    messages.push_back({{"role", "assistant"},
                        {"content", nullptr},
                        {"tool_calls",
                         {{{"id", "call" + std::to_string(i)},
                           {"type", "function"},
                           {"function", {{"name", "sound"}, {"arguments", "{\"at\":1}"}}}}}}});
    messages.push_back(
        {{"role", "tool"}, {"tool_call_id", "call" + std::to_string(i)}, {"content", words(60)}});
  }
  const Plan plan = planned({{"messages", messages}}, "gpt-4o", models);
  ASSERT_TRUE(plan.fits);
  const Json sent = Json::parse(plan.request)["messages"];
  EXPECT_LT(sent.size(), messages.size());
  int calls = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (sent[i]["role"] == "tool") {
      ASSERT_GT(i, 0U);
      EXPECT_EQ(sent[i]["tool_call_id"], sent[i - 1]["tool_calls"][0]["id"]);
      ++calls;
    }
  }
  EXPECT_GE(calls, 1);
  EXPECT_EQ(sent.back()["tool_call_id"], "call7");
  bool asks = false;
  for (const Json& one : sent) asks = asks || one["content"] == "Now check the draught.";
  EXPECT_TRUE(asks) << "the question must stay";
}

// Every result that is sent has its call before it, and every call its results.
void expect_pairs(const Json& sent, const std::string& where) {
  std::set<std::string> called;
  for (const Json& one : sent) {
    if (one.contains("tool_calls"))
      for (const Json& call : one["tool_calls"]) called.insert(call["id"].get<std::string>());
    if (one["role"] == "tool") {
      EXPECT_EQ(called.erase(one["tool_call_id"].get<std::string>()), 1U) << where << sent.dump();
    }
  }
  EXPECT_TRUE(called.empty()) << where << sent.dump();
}

TEST(PlanRequest, KeepsCallsWithResultsThatStandFurtherOff) {
  NEED_TOKENIZERS();
  const auto call = [](const std::string& id) {
    return Json{{"role", "assistant"},
                {"content", words(15)},
                {"tool_calls",
                 {{{"id", id}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", "{}"}}}}}}};
  };
  const auto result = [](const std::string& id) {
    return Json{{"role", "tool"}, {"tool_call_id", id}, {"content", words(15)}};
  };
  const Json parallel = {message("user", "go"), call("a"), call("b"),  result("a"),
                         result("b"),           call("c"), result("c")};
  const Json interrupted = {message("user", "go"),
                            call("a"),
                            message("user", "wait"),
                            result("a"),
                            message("assistant", "done"),
                            message("user", "and?"),
                            call("d"),
                            result("d"),
                            message("user", "now?")};
  int cut = 0;
  for (const Json& messages : {parallel, interrupted}) {
    for (Tokens window = 600; window < 800; window += 3) {
      const Plan plan = planned({{"messages", messages}, {"max_tokens", 500}}, "gpt-4o", Models(window));
      if (!plan.fits) continue;
      const Json sent = Json::parse(plan.request)["messages"];
      cut += sent.size() < messages.size() ? 1 : 0;
      expect_pairs(sent, std::to_string(window));
    }
  }
  EXPECT_GT(cut, 10);
}

TEST(PlanRequest, TakesPassagesByScoreAndPutsThemBeforeTheQuestion) {
  NEED_TOKENIZERS();
  const Models models(1'400);
  Json request = conversation(0, 0);
  for (int i = 0; i < 10; ++i)
    request["plimsoll"]["passages"].push_back(
        {{"id", "p" + std::to_string(i)}, {"text", words(150)}, {"score", i / 10.0}});
  request["plimsoll"]["memories"] = {{{"id", "m"}, {"text", "The owner is Samuel."}, {"importance", 0.9}}};
  const Plan plan = planned(request, "gpt-4o", models);
  expect_lawful(plan, models);
  EXPECT_EQ(plan.memory_count, 1);
  EXPECT_GE(used(plan, SectionKind::memory), 5);
  EXPECT_GT(used(plan, SectionKind::context), 300);
  for (const PlannedPiece& piece : plan.pieces) {
    if (piece.id != "p9" && piece.id != "p0") continue;
    EXPECT_EQ(piece.fate, piece.id == "p9" ? Fate::kept : Fate::no_room) << piece.reason;
  }
  ASSERT_EQ(plan.prices.size(), 2U);
  EXPECT_FALSE(plan.prices[0].added.empty());
  EXPECT_FALSE(plan.prices[1].gone.empty());
}

TEST(PlanRequestB4, BoundsPassagesByTheRatio) {
  NEED_TOKENIZERS();
  const Models models(8'192);
  Json request = conversation(0, 0);
  request["max_tokens"] = 1'000;
  request["context_token_ratio"] = 0.6;
  for (int i = 0; i < 10; ++i) request["plimsoll"]["passages"].push_back({{"text", words(150)}});
  const Plan plan = planned(request, "gpt-4o", models);
  expect_lawful(plan, models);
  EXPECT_EQ(plan.sections[static_cast<std::size_t>(SectionKind::context)].section.max, 600);
  EXPECT_LE(used(plan, SectionKind::context), 600);
  EXPECT_GT(used(plan, SectionKind::context), 400);
  request["context_token_ratio"] = 0.9;
  EXPECT_FALSE(plan_request(request.dump(), "gpt-4o", {}, models));
}

TEST(PlanRequestB7, KeepsTheAnswersMinimumFromThinking) {
  NEED_TOKENIZERS();
  const Models models(2'000);
  Json request = conversation(0, 0);
  request["max_tokens"] = 1'000;
  request["plimsoll"]["thinking"] = 50'000;
  const Plan plan = planned(request, "gpt-4o", models);
  expect_lawful(plan, models);
  EXPECT_GE(plan.answer, 500);
  EXPECT_GT(plan.thinking, 500);
}

TEST(PlanRequestB8, FollowsTheModelsDrift) {
  NEED_TOKENIZERS();
  Models models;
  models.drift = {.embedded = false, .seen = true, .worst = 0};
  EXPECT_EQ(planned(conversation(0, 0), "gpt-4o", models).margin, 50);
  models.drift.worst = 350;
  EXPECT_EQ(planned(conversation(0, 0), "gpt-4o", models).margin, 350);
  models.drift.embedded = true;
  EXPECT_EQ(planned(conversation(0, 0), "gpt-4o", models).margin, 0);
}

TEST(PlanRequestF4, IsMadeAnewForTheFallbackModel) {
  NEED_TOKENIZERS();
  const Models models;
  Json request = conversation(1, 4'000);  // over 8,000 tokens
  const PlanOptions options{.max_tokens = {},
                            .policy = {},
                            .fallback = true,
                            .fallback_models = {"gpt-4", "qwen2.5:7b"},
                            .max_history_turns = {},
                            .retrieval = {}};
  const Plan plan = planned(request, "gpt-4", models, options);
  expect_lawful(plan, models);
  EXPECT_EQ(plan.fallback.from, "gpt-4");
  EXPECT_EQ(plan.fallback.to, "qwen2.5:7b");
  EXPECT_EQ(plan.model, "qwen2.5:7b");
  EXPECT_EQ(plan.window.tokens, 32'768);
  EXPECT_EQ(plan.message_count, 4);
  const Plan kept = planned(request, "gpt-4", models);
  EXPECT_EQ(kept.model, "gpt-4");
  EXPECT_LT(kept.message_count, 4);
}

TEST(PlanRequest, SendsTheModelAndTheLimitsThatWerePlanned) {
  NEED_TOKENIZERS();
  const Models models(1'500);
  Json request = conversation(2, 100);
  request["model"] = "gpt-4";
  request["max_tokens"] = 1'200;
  request["context_token_ratio"] = 0.5;
  request["thinking"] = {{"type", "enabled"}, {"budget_tokens", 800}};
  const Plan plan = planned(request, "gpt-4o", models);
  const Json sent = Json::parse(plan.request);
  EXPECT_EQ(sent["model"], "gpt-4o");
  EXPECT_EQ(sent["max_tokens"], plan.answer);
  EXPECT_LT(plan.answer, 1'200);
  EXPECT_EQ(sent["thinking"]["budget_tokens"], plan.thinking);
  EXPECT_LT(plan.thinking, 800);
  EXPECT_FALSE(sent.contains("context_token_ratio"));
  EXPECT_NE(plan_json(plan).find("thinking is REDUCED from 800"), std::string::npos);
}

TEST(PlanRequest, NeedsNoMoreForPassagesThatStayBehind) {
  NEED_TOKENIZERS();
  Json request = conversation(0, 0);
  request["max_tokens"] = 500;
  const Models tight(planned(request, "gpt-4o", Models(100)).least);
  EXPECT_TRUE(planned(request, "gpt-4o", tight).fits);
  request["plimsoll"]["passages"] = {{{"text", words(50)}}};
  request["plimsoll"]["memories"] = {{{"text", words(50)}}};
  const Plan plan = planned(request, "gpt-4o", tight);
  EXPECT_TRUE(plan.fits) << plan.least;
  for (const PlannedSection& planned_section : plan.sections)
    EXPECT_GE(planned_section.grant, planned_section.section.min) << name_of(planned_section.section.kind);
}

TEST(PlanRequestF1, CountsPassagesThatAreNeverLeftOut) {
  NEED_TOKENIZERS();
  const Models models;
  Json request = conversation(0, 0);
  for (int i = 0; i < 20; ++i) request["plimsoll"]["passages"].push_back({{"text", words(500)}});
  PlanOptions options;
  options.fallback = true;
  options.fallback_models = {"gpt-4o"};
  EXPECT_EQ(planned(request, "gpt-4", models, options).model, "gpt-4");
  options.policy = Policy::strict;
  const Plan strict = planned(request, "gpt-4", models, options);
  EXPECT_EQ(strict.model, "gpt-4o");
  EXPECT_TRUE(strict.fits);
}

TEST(PlanRequest, SaysThatAnUnknownModelIsGuessed) {
  NEED_TOKENIZERS();
  const Models models;
  const Plan plan = planned(conversation(1, 10), "no-such-model", models);
  EXPECT_EQ(plan.window.tokens, 4'096);
  EXPECT_EQ(plan.window.source, WindowSource::assumed);
  EXPECT_EQ(plan.exactness, Exactness::estimated);
}

TEST(PlanRequest, HashesAlikeWhatIsAlike) {
  NEED_TOKENIZERS();
  const Models models;
  const Plan once = planned(conversation(2, 10), "gpt-4o", models),
             again = planned(conversation(2, 10), "gpt-4o", models);
  EXPECT_EQ(once.hash, again.hash);
  EXPECT_EQ(once.hash.size(), 64U);
  EXPECT_NE(once.hash, planned(conversation(2, 11), "gpt-4o", models).hash);
  EXPECT_NE(once.hash, planned(conversation(2, 10), "gpt-4", models).hash);
}

TEST(PlanRequest, NamesWhatIsWrongWithARequest) {
  NEED_TOKENIZERS();
  const Models models;
  const auto error_of = [&](const Json& request) {
    const auto plan = plan_request(request.dump(), "gpt-4o", {}, models);
    return plan ? "fine" : plan.error().what;
  };
  Json request = conversation(0, 0);
  EXPECT_EQ(error_of(request), "fine");
  request["max_tokens"] = -1;  // no limit
  EXPECT_EQ(error_of(request), "fine");
  request["max_tokens"] = -2;
  EXPECT_EQ(error_of(request), "max_tokens is -2, not a whole number from 1 to 1,000,000,000,000");
  request["max_tokens"] = "many";
  EXPECT_NE(error_of(request), "fine");
  request["max_tokens"] = nullptr;
  request["plimsoll"] = {{"policy", "greedy"}};
  EXPECT_NE(error_of(request).find("not one of balanced, history"), std::string::npos) << error_of(request);
  request["plimsoll"] = {{"passages", {{{"id", "x"}}}}};
  EXPECT_EQ(error_of(request), "plimsoll.passages[0] has no \"text\"");
  request["plimsoll"] = {{"pasages", Json::array()}};
  EXPECT_EQ(error_of(request), "plimsoll has no field 'pasages'; did you mean 'passages'?");
  EXPECT_NE(error_of({{"messages", "none"}}), "fine");
  EXPECT_EQ(error_of({{"messages", Json::array()}}), "the request has no messages");
}

// Random conversations, passages, windows and policies, through real tokenizers and templates.
TEST(PlanRequest, KeepsTheLawOverRandomRequests) {
  NEED_TOKENIZERS();
  std::mt19937 rng{3};
  const auto up_to = [&](unsigned most) { return static_cast<int>(rng() % (most + 1)); };
  int fitted = 0, cut = 0, unfit = 0;
  for (int round = 0; round < 300; ++round) {
    Json request = conversation(up_to(12), up_to(60));
    for (int i = up_to(6); i > 0; --i)
      request["plimsoll"]["passages"].push_back({{"text", words(up_to(200))}, {"score", up_to(9)}});
    for (int i = up_to(3); i > 0; --i)
      request["plimsoll"]["memories"].push_back({{"text", words(up_to(30))}});
    if (up_to(1) == 0) request["max_tokens"] = 1 + up_to(2'000);
    if (up_to(3) == 0) request["plimsoll"]["thinking"] = up_to(800);
    if (up_to(4) == 0) request["messages"].erase(0);
    PlanOptions options;
    options.policy = static_cast<Policy>(up_to(5));
    const Models models(300 + up_to(2'500));
    const char* const names[] = {"gpt-4o", "qwen2.5:7b", "llama3.1:8b", "command-r", "gemma3:4b"};
    const auto plan = plan_request(request.dump(), names[up_to(4)], options, models);
    ASSERT_TRUE(plan) << plan.error().what;
    if (!plan->fits) {
      ++unfit;
      const Models enough(plan->least), too_little(plan->least - 1);
      EXPECT_TRUE(planned(request, plan->model, enough, options).fits) << plan->least;
      EXPECT_FALSE(planned(request, plan->model, too_little, options).fits) << plan->least;
      continue;
    }
    ++fitted;
    expect_lawful(*plan, models);
    cut +=
        std::ranges::any_of(plan->pieces, [](const PlannedPiece& piece) { return piece.fate != Fate::kept; })
            ? 1
            : 0;
  }
  EXPECT_GT(fitted, 150);
  EXPECT_GT(cut, 60);
  EXPECT_GT(unfit, 20);
}

}  // namespace
}  // namespace plimsoll

// Summaries in place of old turns: who writes them, and what the request is afterwards.
#include "engine/history/compress.hpp"

#include "conversation/testing_sessions.hpp"
#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

std::string long_body() {
  Json messages = Json::array({{{"role", "system"}, {"content", "You are the mate."}}});
  for (int turn = 1; turn <= 400; ++turn) {
    messages.push_back(
        {{"role", "user"}, {"content", fmt::format("We sounded pump {} and wrote it down.", turn)}});
    messages.push_back({{"role", "assistant"}, {"content", fmt::format("Pump {} is in order.", turn)}});
  }
  messages.push_back({{"role", "user"}, {"content", "How deep?"}});
  return Json{{"model", "gpt-4o"}, {"max_tokens", 16}, {"messages", messages}}.dump();
}

class Compress : public testing::Test {
 protected:
  void SetUp() override { test_.engine.summaries = &summaries_; }

  Prepared compressed(const TestRequest& one, bool may_ask = true) {
    const auto step = one.plan();
    EXPECT_TRUE(step);
    EXPECT_EQ(step->again, Replan::Reason::history_too_long);
    return test_.run(compress(test_.engine, test_.worker, one.received, one.request, one.attempt,
                              step->planned.plan, may_ask, TestEngine::soon()));
  }

  ScriptedServer server_;
  TestEngine test_{{&server_}};
  conversation::MemorySessions sessions_;
  conversation::Summaries summaries_{sessions_};
};

TEST_F(Compress, AModelsSummaryTakesThePlaceOfOldTurns) {
  server_.script = {{200, completion(0, "All pumps up to 300 are in order.")}};
  TestRequest one(test_, long_body());
  const std::size_t before = one.request.chat.turns.size();
  const Prepared prepared = compressed(one);
  ASSERT_EQ(server_.got.size(), 1U);
  EXPECT_NE(server_.got[0].find("Write a summary of the conversation"), std::string::npos);
  ASSERT_TRUE(prepared.request.chat.compressed);
  EXPECT_EQ(prepared.request.chat.compressed->summary.text, "All pumps up to 300 are in order.");
  EXPECT_EQ(prepared.request.chat.compressed->told.how, "model");
  EXPECT_LT(prepared.request.chat.turns.size(), before);
  EXPECT_EQ(prepared.next.compressions, 1);
  EXPECT_EQ(one.request.chat.turns.size(), before);  // of the value before it
  EXPECT_FALSE(one.request.chat.compressed);
  EXPECT_EQ(test_.engine.counters.compressions, 1U);
  one.request = prepared.request;
  one.attempt = prepared.next;
  const auto step = one.plan();
  ASSERT_TRUE(step);
  EXPECT_FALSE(step->again);
  EXPECT_TRUE(step->planned.plan.summary);
  EXPECT_NE(step->planned.body.find("All pumps up to 300"), std::string::npos);
}

TEST_F(Compress, WithoutAModelTheBestSentencesAreTheSummary) {
  server_.script = {{.unreachable = true}};
  const Prepared prepared = compressed(TestRequest(test_, long_body()));
  ASSERT_TRUE(prepared.request.chat.compressed);
  EXPECT_EQ(prepared.request.chat.compressed->told.how, "extractive");
  EXPECT_NE(prepared.request.chat.compressed->summary.text.find("pump"), std::string::npos);
  ASSERT_EQ(prepared.request.notes.warnings.size(), 1U);
  EXPECT_EQ(prepared.request.notes.warnings[0],
            "the summary is extractive, not written by a model (gpt-4o: connection refused)");
  EXPECT_EQ(test_.engine.counters.extracts, 1U);
}

// Limits that have this many tokens left.
class FewTokens {
 public:
  explicit FewTokens(Tokens left) : left_(left) {}
  tl::expected<Share, Refusal> reserve(const Need& need) {
    const Tokens wanted = need.input + need.answer;
    if (wanted > left_) return tl::unexpected(Refusal{Refusal::Kind::limit, "budget", "nothing is left", 60});
    left_ -= wanted;
    return Share{need.answer, std::make_shared<Held>(*this, wanted)};
  }
  Tokens left() const { return left_; }

 private:
  class Held final : public HeldShare {
   public:
    Held(FewTokens& limits, Tokens wanted) : limits_(limits), wanted_(wanted) {}
    ~Held() override { limits_.left_ += wanted_; }
    void settle(Tokens used) override { wanted_ -= used; }

   private:
    FewTokens& limits_;
    Tokens wanted_;
  };
  Tokens left_;
};

TEST_F(Compress, ASummaryIsReservedBeforeAModelIsAskedForIt) {
  server_.script = {{200, completion(100, "All pumps up to 300 are in order.")}};
  Ask ask = ask_with(long_body());
  ask.caller = {.owner = "ann", .indexes = "ann", .metered = true};
  FewTokens few(50), many(100'000);
  FewTokens* limits = &few;
  test_.engine.reserve = [&](const Caller&, const Need& need) { return limits->reserve(need); };
  const Prepared refused = compressed(TestRequest(test_, ask));
  EXPECT_TRUE(server_.got.empty());
  EXPECT_EQ(refused.request.chat.compressed->told.how, "extractive");
  EXPECT_EQ(refused.request.notes.warnings.at(0),
            "the summary is extractive, not written by a model (nothing is left)");
  EXPECT_EQ(few.left(), 50);

  limits = &many;
  ask.caller.owner = "bob";  // who has no stored summary
  const Prepared written = compressed(TestRequest(test_, ask));
  EXPECT_EQ(server_.got.size(), 1U);
  EXPECT_EQ(written.request.chat.compressed->told.how, "model");
  EXPECT_GT(written.request.notes.summary_used, 0);
  EXPECT_EQ(written.request.notes.summary_settled, written.request.notes.summary_used);
  EXPECT_EQ(many.left(), 100'000 - written.request.notes.summary_used);  // the rest is given back
}

TEST_F(Compress, ASummaryWithoutTextIsChargedAllTheSame) {
  server_.script = {{200, completion(100, "")}};
  Ask ask = ask_with(long_body());
  ask.caller = {.owner = "ann", .indexes = "ann", .metered = true};
  FewTokens limits(100'000);
  test_.engine.reserve = [&](const Caller&, const Need& need) { return limits.reserve(need); };
  const Prepared prepared = compressed(TestRequest(test_, ask));
  EXPECT_EQ(server_.got.size(), 1U);
  EXPECT_EQ(prepared.request.chat.compressed->told.how, "extractive");
  EXPECT_LE(limits.left(), 100'000 - 100);
}

TEST_F(Compress, AModelThatOneOwnerNamesInVainIsAskedForOthers) {
  const auto compressed_for = [&](const char* owner) {
    Ask ask = ask_with(long_body());
    ask.caller = {.owner = owner, .indexes = owner};
    server_.got.clear();
    (void)compressed(TestRequest(test_, ask));
    return server_.got.size();
  };
  server_.script = {{404, R"({"error":{"message":"no such model"}})"}};
  EXPECT_EQ(compressed_for("ann"), 1U);
  EXPECT_EQ(compressed_for("ann"), 0U) << "it rests for her";
  EXPECT_EQ(compressed_for("bob"), 1U);
}

TEST_F(Compress, ASummaryIsChargedOnce) {
  const ScriptedServer::Reply summary{200, completion(100, "All pumps are in order.")},
      reply{200, completion()};
  server_.script = {summary, reply, summary, reply};
  Ask ask = ask_with(long_body());
  ask.caller = {.owner = "ann", .indexes = "ann", .metered = true};
  FewTokens limits(100'000);
  test_.engine.reserve = [&](const Caller&, const Need& need) { return limits.reserve(need); };
  TestClient client;
  ASSERT_TRUE(test_.ask(ask, client));
  ASSERT_EQ(server_.got.size(), 2U);

  // As much as where nothing is reserved.
  ask.caller.owner = ask.caller.indexes = "bob";
  test_.engine.reserve = [&](const Caller&, const Need& need) { return Share{need.answer}; };
  Tokens charged = 0;
  test_.engine.charge = [&](const std::string&, Tokens tokens) { charged += tokens; };
  ASSERT_TRUE(test_.ask(ask, client));
  ASSERT_EQ(server_.got.size(), 4U);
  EXPECT_GT(charged, 102);
  EXPECT_EQ(limits.left(), 100'000 - charged);
}

TEST_F(Compress, NobodyIsAskedForAPlanAlone) {
  server_.script = {{200, completion()}};
  const Prepared prepared = compressed(TestRequest(test_, long_body()), /*may_ask=*/false);
  EXPECT_TRUE(server_.got.empty());
  ASSERT_TRUE(prepared.request.chat.compressed);
  EXPECT_EQ(prepared.request.chat.compressed->told.how, "extractive");
  EXPECT_TRUE(prepared.request.notes.warnings.empty());
  EXPECT_EQ(test_.engine.counters.compressions, 0U);
}

TEST_F(Compress, ASummaryThatIsKnownIsNotWrittenAgain) {
  server_.script = {{200, completion(0, "All pumps up to 300 are in order.")}};
  (void)compressed(TestRequest(test_, long_body()));
  const Prepared again = compressed(TestRequest(test_, long_body()));
  EXPECT_EQ(server_.got.size(), 1U);
  ASSERT_TRUE(again.request.chat.compressed);
  EXPECT_TRUE(again.request.chat.compressed->told.known);
}

TEST_F(Compress, AServerThatFailedIsNotAskedAgainAtOnce) {
  server_.script = {{503, "{}"}};
  const Prepared first = compressed(TestRequest(test_, long_body()));
  EXPECT_EQ(server_.got.size(), 1U);
  EXPECT_NE(first.request.notes.warnings.at(0).find("gpt-4o: it answered with status 503"),
            std::string::npos);
  Json other = Json::parse(long_body());  // so that its summary is not known
  other["messages"][1]["content"] = "We sounded no pump.";
  const Prepared second = compressed(TestRequest(test_, other.dump()));
  EXPECT_EQ(server_.got.size(), 1U);
  EXPECT_NE(second.request.notes.warnings.at(0).find("gpt-4o failed recently"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::engine

// Limits of an owner before a request is sent.
#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

class NoShare final : public HeldShare {
 public:
  void settle(Tokens) override {}
};

class ReserveTest : public testing::Test {
 protected:
  // A request of a caller with limits, of which `left` tokens of answers are left.
  tl::expected<Reserved, Refusal> reserved(const std::string& body, Tokens left, bool metered = true) {
    Ask ask = ask_with(body);
    ask.caller = {.owner = "ann", .indexes = "ann", .metered = metered};
    one_.emplace(test_, std::move(ask));
    one_->keep_plan();
    test_.engine.reserve = [&, left](const Caller& caller, const Need& need) -> tl::expected<Share, Refusal> {
      EXPECT_EQ(caller.owner, "ann");
      need_ = need;
      if (left == 0) return tl::unexpected(Refusal{Refusal::Kind::limit, "budget", "nothing is left", 60});
      return Share{std::min(left, need.answer), std::make_shared<NoShare>()};
    };
    return reserve(test_.engine, one_->received, one_->request, one_->planned);
  }

  ScriptedServer server_;
  TestEngine test_{{&server_}};
  std::optional<TestRequest> one_;
  std::optional<Need> need_;
};

TEST_F(ReserveTest, AsksForWhatThePlanTakes) {
  const auto done = reserved(chat_body(), 1'000);
  ASSERT_TRUE(done);
  EXPECT_EQ(need_->input, one_->planned.figures.input);
  EXPECT_EQ(need_->answer, 16);
  EXPECT_FALSE(need_->answer_may_shrink);
  EXPECT_EQ(done->allowed_answer, 16);
  EXPECT_TRUE(done->held);
  EXPECT_FALSE(done->limited);
}

TEST_F(ReserveTest, AsksNobodyForACallerWithoutLimits) {
  const auto done = reserved(chat_body(), 0, /*metered=*/false);
  ASSERT_TRUE(done);
  EXPECT_FALSE(need_);
  EXPECT_FALSE(done->held);
}

TEST_F(ReserveTest, RefusesWhereNothingIsLeft) {
  const auto done = reserved(chat_body(), 0);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, "nothing is left");
}

TEST_F(ReserveTest, LimitsTheAnswerInTheRequestThatIsSent) {
  Json body = Json::parse(chat_body());
  body.erase("max_tokens");
  const auto done = reserved(body.dump(), 100);
  ASSERT_TRUE(done);
  EXPECT_TRUE(need_->answer_may_shrink);
  ASSERT_TRUE(done->limited);
  const Planned& limited = *done->limited;
  EXPECT_EQ(Json::parse(limited.body)["max_tokens"], 100 - limited.figures.thinking);
  EXPECT_TRUE(limited.changed);
  EXPECT_EQ(limited.figures.answer, 100 - limited.figures.thinking);
  EXPECT_NE(done->warning.find("limited to 100 tokens"), std::string::npos) << done->warning;
  EXPECT_EQ(limited.figures.input, one_->planned.figures.input);
}

TEST_F(ReserveTest, CountsEveryAnswerThatIsWanted) {
  ASSERT_TRUE(reserved(chat_body({{"n", 3}}), 1'000));
  EXPECT_EQ(need_->answer, 48);
}

}  // namespace
}  // namespace plimsoll::engine

// What is learned from replies (windows, drift, failures), by whatever a server may say: the engine is driven
// with servers that lie, repeat what they were sent and fail, on a clock of the test's own.
#include <random>
#include <sstream>

#include "base/log.hpp"
#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr Tokens whole_window = 8'192;
constexpr std::int64_t minute_ms = 60'000;

enum class Way : std::uint8_t { well, lying_usage, echo, lying_window, out_of_service, unreachable };

// A server whose behaviour and numbers the test sets.
class Server final : public UpstreamLink {
 public:
  Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest request,
                                                         Deadline /*deadline*/) override {
    ++asked;
    if (way == Way::unreachable) co_return fail(Errc::unreachable, "connection refused");
    auto [status, body] = reply_to(request);
    co_return ready_reply(status, std::move(body));
  }

  Way way = Way::well;
  std::int64_t number = 0;
  int asked = 0;

 private:
  std::pair<int, std::string> reply_to(const UpstreamRequest& request) const {
    Json answer{
        {"choices", {{{"message", {{"role", "assistant"}, {"content", "Aye"}}}, {"finish_reason", "stop"}}}}};
    switch (way) {
      case Way::lying_usage:
        answer["usage"] = {{"prompt_tokens", number}, {"completion_tokens", number}};
        break;
      case Way::echo: {
        const Json body = Json::parse(request.body);
        return {400, Json{{"error",
                           {{"message", std::string(500, 'x') + " Input: '" +
                                            body.value("user", std::string("none")) + "'"}}}}
                         .dump()};
      }
      case Way::lying_window:
        return {
            400,
            Json{{"error",
                  {{"message", fmt::format("This model's maximum context length is {} tokens.", number)}}}}
                .dump()};
      case Way::out_of_service: return {503, R"({"error":{"message":"no"}})"};
      default: break;
    }
    return {200, answer.dump()};
  }
};

// An engine with one such server.
struct World : TestEngine {
  World() : TestEngine({&server}) {}

  // The status that the client gets.
  int ask(const std::string& owner, int words, const std::string& user = "none") {
    std::string text;
    for (int i = 0; i < words; ++i) text += " ship";
    Ask ask;
    ask.body = Json{{"model", "gpt-4o"},
                    {"user", user},
                    {"max_tokens", 16},
                    {"messages", {{{"role", "user"}, {"content", text}}}}}
                   .dump();
    ask.caller.owner = owner;
    TestClient client;
    const auto outcome = TestEngine::ask(std::move(ask), client);
    return outcome ? client.status : number_of(reply_code(outcome.error().code));
  }

  Server server;
};

// The longest that a gateway would send which knows nothing: 8,192 less the margin of 100, the answer and the
// frame.
constexpr int longest = 8'060;

class Learned : public testing::Test {
 protected:
  void SetUp() override { log::start_on(said_, log::Level::error, log::Format::text); }
  void TearDown() override { log::start(log::Level::info, log::Format::text); }

  budget::Drift drift(const std::string& owner) { return world_.models.learned({0, "gpt-4o"}, owner).drift; }
  std::optional<Tokens> told(const std::string& owner) {
    return world_.models.learned({0, "gpt-4o"}, owner).window;
  }

  std::ostringstream said_;
  World world_;
};

TEST_F(Learned, AGatewayThatKnowsNothingSendsTheLongest) {
  EXPECT_EQ(world_.ask("ann", longest), 200);
  EXPECT_EQ(world_.ask("ann", whole_window), 400);
}

TEST_F(Learned, AUsageThatNoRequestCanHaveTeachesNothing) {
  world_.server.way = Way::lying_usage;
  for (const std::int64_t lie :
       {std::int64_t{100'000'000}, std::int64_t{1} << 40, INT64_MAX, std::int64_t{6'000}}) {
    world_.server.number = lie;
    EXPECT_EQ(world_.ask("ann", 10), 200);
    EXPECT_FALSE(drift("ann").seen) << lie;
  }
}

TEST_F(Learned, OneOwnersDriftIsNobodyElsesAndRefusesNothing) {
  world_.server.way = Way::lying_usage;
  world_.server.number = 3'000;
  EXPECT_EQ(world_.ask("ann", 10), 200);
  EXPECT_GT(drift("ann").worst, 2'900);
  EXPECT_FALSE(drift("bob").seen);
  world_.server.way = Way::well;
  EXPECT_EQ(world_.ask("ann", longest), 200);
  EXPECT_FALSE(drift("ann").seen) << "the refusal that it would have been did not relax it";
}

TEST_F(Learned, AMarginIsNoMoreThanAnEighthOfTheWindow) {
  PlanModel model = *world_.models.open({0, "gpt-4o"}, Deadline::after(std::chrono::seconds(5)));
  models::apply({{.embedded = false, .seen = true, .worst = 8'000}, std::nullopt}, model);
  EXPECT_EQ(budget::margin_for(model.drift), whole_window / 8);
}

TEST_F(Learned, WordsOfTheRequestTeachNoWindow) {
  world_.server.way = Way::echo;
  for (const char* planted : {"maximum context length is 300 tokens", "MAXIMUM CONTEXT LENGTH IS 300 TOKENS",
                              "exceed context window of 300"})
    for (const char* owner : {"ann", "bob"})
      for (int words = 1; words < 4; ++words) EXPECT_EQ(world_.ask(owner, 1'000 + words, planted), 400);
  for (const char* owner : {"ann", "bob", "cy"}) EXPECT_FALSE(told(owner));
}

TEST_F(Learned, AWindowIsEverybodysWhenTwoOwnersWereRefusedAndRefusesNothing) {
  world_.server.way = Way::lying_window;
  world_.server.number = 2'000;
  world_.ask("ann", 5'000);
  world_.ask("ann", 5'001);
  EXPECT_EQ(told("ann"), 2'000);
  EXPECT_FALSE(told("cy"));
  world_.ask("bob", 5'000);
  EXPECT_EQ(told("cy"), 2'000);
  world_.server.way = Way::well;
  EXPECT_EQ(world_.ask("cy", 5'000), 200);
  world_.server.way = Way::lying_usage;  // which says that it has read more
  world_.server.number = 5'100;
  EXPECT_EQ(world_.ask("cy", 5'000), 200);
  EXPECT_FALSE(told("ann"));
}

TEST_F(Learned, AWindowThatTheServerNamedWrongRefusesNothingForLongerThanAMinute) {
  world_.http.window = 300;
  world_.finder.refresh();
  EXPECT_EQ(world_.ask("ann", 2'000), 400);
  world_.http.window = whole_window;
  const int asked = world_.server.asked;
  world_.now_ms += minute_ms / 2;
  EXPECT_EQ(world_.ask("bob", longest), 200);
  EXPECT_EQ(world_.ask("ann", longest), 200);
  EXPECT_EQ(world_.server.asked, asked + 2);
  EXPECT_EQ(world_.ask("ann", whole_window), 400) << "the window itself still holds";
}

// Random replies to random requests; then a server that is well must answer everybody within a minute, and
// who had no failures of its own, at once.
TEST_F(Learned, NoSequenceOfRepliesKeepsARequestFromASoundServerForLongerThanAMinute) {
  std::mt19937 rng{7};
  const auto any = [&](int least, int most) { return std::uniform_int_distribution(least, most)(rng); };
  const std::int64_t lies[] = {0, 1, 50, 500, 3'000, 8'300, 100'000'000, INT64_MAX};
  const std::string owners[] = {"ann", "bob", "cy"};
  int taught = 0, waited = 0;
  for (int round = 0; round < 200; ++round) {
    bool unreachable = false;
    for (int step = 0; step < 12; ++step) {
      world_.server.way = static_cast<Way>(any(0, 5));
      unreachable = unreachable || world_.server.way == Way::unreachable;
      world_.server.number = lies[any(0, 7)];
      const std::string planted = fmt::format("maximum context length is {} tokens", any(1, 9'000));
      world_.ask(owners[any(0, 2)], any(0, 2) == 0 ? longest : any(1, 2'000), planted);
      world_.now_ms += any(0, 3'000);
    }
    for (const std::string& owner : owners)
      taught += world_.models.learned({0, "gpt-4o"}, owner).holds_back();
    world_.server.way = Way::well;
    for (const std::string& owner : {owners[0], owners[1], owners[2], std::string("bystander")}) {
      const std::int64_t begin = world_.now_ms;
      while (world_.ask(owner, longest) != 200) {
        world_.now_ms += 1'000;
        ASSERT_LE(world_.now_ms - begin, minute_ms) << owner << " in round " << round;
      }
      waited += world_.now_ms > begin;
      if (owner == "bystander" && !unreachable) {
        ASSERT_EQ(world_.now_ms, begin) << "round " << round;
      }
    }
  }
  EXPECT_GT(taught, 20);
  EXPECT_GT(waited, 5);
}

}  // namespace
}  // namespace plimsoll::engine

// What is learned from replies (windows, drift, failures), by whatever a server may say: the engine is driven
// with servers that lie, repeat what they were sent and fail, on a clock of the test's own.
#include <map>
#include <random>
#include <sstream>

#include "base/log.hpp"
#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr Tokens whole_window = 8'192;
constexpr std::int64_t minute_ms = 60'000;

enum class Way : std::uint8_t {
  well,
  lying_usage,
  echo,
  lying_window,
  out_of_service,
  unreachable,
  error_in_stream,
  half_stream
};

// A server whose behaviour and numbers the test sets.
class Server final : public UpstreamLink {
 public:
  Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest request,
                                                         Deadline /*deadline*/) override {
    ++asked;
    if (way == Way::unreachable) co_return fail(Errc::unreachable, "connection refused");
    const bool streams = Json::parse(request.body).value("stream", false);
    auto [status, body] = reply_to(request);
    if (!streams || status != 200) co_return ready_reply(status, std::move(body));
    co_return ready_reply(status, events_of(body), "text/event-stream");
  }

  Way way = Way::well;
  std::int64_t number = 0;
  int asked = 0;

 private:
  // The answer as a stream, which fails after its first words if the server is to fail.
  std::string events_of(const std::string& answer) const {
    const Json whole = Json::parse(answer);
    const auto event = [](const Json& json) { return "data: " + json.dump() + "\n\n"; };
    std::string out = event({{"choices", {{{"index", 0}, {"delta", {{"content", "Aye"}}}}}}});
    if (way == Way::half_stream) return out;
    if (way == Way::error_in_stream) return out + event({{"error", {{"message", window_error()}}}});
    out += event({{"choices", {{{"index", 0}, {"delta", Json::object()}, {"finish_reason", "stop"}}}}});
    if (whole.contains("usage")) out += event({{"choices", Json::array()}, {"usage", whole["usage"]}});
    return out + "data: [DONE]\n\n";
  }

  std::string window_error() const {
    return fmt::format("This model's maximum context length is {} tokens.", number);
  }

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
      case Way::lying_window: return {400, Json{{"error", {{"message", window_error()}}}}.dump()};
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
  int ask(const std::string& owner, int words, const std::string& user = "none", bool streams = false) {
    std::string text;
    for (int i = 0; i < words; ++i) text += " ship";
    Ask ask;
    ask.body = Json{{"model", "gpt-4o"},
                    {"user", user},
                    {"max_tokens", 16},
                    {"stream", streams},
                    {"messages", {{{"role", "user"}, {"content", text}}}}}
                   .dump();
    ask.caller.owner = owner;
    ask.caller.metered = metered;
    TestClient client;
    const auto outcome = TestEngine::ask(std::move(ask), client);
    return outcome ? client.status : number_of(reply_code(outcome.error().code));
  }

  Server server;
  bool metered = false;
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

// What requests reserved of a budget, and what they were charged.
struct Budget {
  class Held final : public HeldShare {
   public:
    explicit Held(Budget& budget) : budget_(budget) { ++budget_.held; }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() override { --budget_.held; }
    void settle(Tokens used) override {
      ++budget_.charged;
      budget_.least = std::min(budget_.least, used);
      budget_.most = std::max(budget_.most, used);
    }

   private:
    Budget& budget_;
  };

  Reserve reserve() {
    return [this](const Caller&, const Need& need) {
      return tl::expected<Share, Refusal>(Share{need.answer, std::make_shared<Held>(*this)});
    };
  }

  int held = 0;  // that requests still hold
  int charged = 0;
  Tokens least = 0, most = 0;  // of one request
};

// A gateway that is started again: it has the drift that was stored, and nothing else that it learned.
class Restarted {
 public:
  Restarted() { start(); }
  World* operator->() { return world_.get(); }

  void start() {
    const auto old = std::move(world_);
    world_ = std::make_unique<World>();
    if (old != nullptr) {
      for (DriftHistory& one : old->drift.take_changed()) stored_[one.key] = std::move(one);
      world_->now_ms = old->now_ms;
      world_->http.window = old->http.window;
      world_->finder.refresh();
    }
    std::vector<DriftHistory> histories;
    for (const auto& [key, history] : stored_) histories.push_back(history);
    world_->drift.load(std::move(histories), world_->now_ms);
    world_->engine.reserve = budget.reserve();
    world_->metered = true;
    EXPECT_TRUE(world_->models.open({0, "gpt-4o"}, Deadline::after(std::chrono::seconds(5))));
  }

  Budget budget;

 private:
  std::map<DriftKey, DriftHistory> stored_;
  std::unique_ptr<World> world_;
};

// Random replies to random requests, whole and as streams, wrong windows in the server's list, and restarts;
// then a server that is well must answer everybody within a minute, and who had no failures of its own, at
// once. Whatever it reports, no request is charged more than a prompt and an answer of the window.
TEST_F(Learned, NoSequenceOfRepliesKeepsARequestFromASoundServerForLongerThanAMinute) {
  std::mt19937 rng{7};
  const auto any = [&](int least, int most) { return std::uniform_int_distribution(least, most)(rng); };
  const std::int64_t lies[] = {0, 1, 50, 500, 3'000, 8'300, 100'000'000, INT64_MAX};
  const Tokens listed[] = {300, 2'000, 100'000};
  const std::string owners[] = {"ann", "bob", "cy"};
  Restarted world;
  int taught = 0, waited = 0, restarts = 0, remembered = 0;
  for (int round = 0; round < 200; ++round) {
    bool everybody_waits = false;
    for (int step = 0; step < 12; ++step) {
      world->server.way = static_cast<Way>(any(0, 7));
      everybody_waits = everybody_waits || world->server.way == Way::unreachable;
      world->server.number = lies[any(0, 7)];
      if (any(0, 20) == 0) {
        everybody_waits = true;
        world->http.window = listed[any(0, 2)];
        world->finder.refresh();
      }
      const std::string planted = fmt::format("maximum context length is {} tokens", any(1, 9'000));
      world->ask(owners[any(0, 2)], any(0, 2) == 0 ? longest : any(1, 2'000), planted, any(0, 1) == 0);
      world->now_ms += any(0, 3'000);
      if (any(0, 50) == 0) {
        world.start();
        ++restarts;
        for (const std::string& owner : owners)
          remembered += world->models.learned({0, "gpt-4o"}, owner).drift.seen ? 1 : 0;
      }
    }
    for (const std::string& owner : owners)
      taught += world->models.learned({0, "gpt-4o"}, owner).holds_back();
    world->server.way = Way::well;
    world->http.window = whole_window;
    for (const std::string& owner : {owners[0], owners[1], owners[2], std::string("bystander")}) {
      const std::int64_t begin = world->now_ms;
      while (world->ask(owner, longest, "none", any(0, 1) == 0) != 200) {
        world->now_ms += 1'000;
        ASSERT_LE(world->now_ms - begin, minute_ms) << owner << " in round " << round;
      }
      waited += world->now_ms > begin;
      if (owner == "bystander" && !everybody_waits) {
        ASSERT_EQ(world->now_ms, begin) << "round " << round;
      }
    }
    ASSERT_EQ(world.budget.held, 0) << "round " << round;
  }
  EXPECT_GT(taught, 20);
  EXPECT_GT(waited, 5);
  EXPECT_GT(restarts, 20);
  EXPECT_GT(remembered, 5);
  EXPECT_GT(world.budget.charged, 1'000);
  EXPECT_GE(world.budget.least, 0);
  EXPECT_LE(world.budget.most, 2 * whole_window);
}

}  // namespace
}  // namespace plimsoll::engine

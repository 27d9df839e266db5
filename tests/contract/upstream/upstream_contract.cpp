#include "contract/upstream/upstream_contract.hpp"

#include "base/chat_reply.hpp"

namespace plimsoll {
namespace {

using base::soon;
using base::wait_for;

constexpr std::chrono::seconds patience{5};

struct Streamed {
  std::string words;
  ReplyFacts facts;
  bool is_done = false;
  std::optional<Error> error;
};

Streamed read_all(UpstreamReply& reply) {
  Streamed all;
  while (true) {
    const auto events = wait_for(reply.next(patience, soon()));
    if (!events) {
      all.error = events.error();
      return all;
    }
    if (events->each.empty()) return all;
    std::string joined;
    for (const AnswerEvent& event : events->each) {
      EXPECT_FALSE(all.is_done && !event.data.empty()) << "after the end: " << event.bytes;
      joined += event.bytes;
      all.words += base::words_in(event.data);
      all.is_done = all.is_done || event.is_done;
      if (event.facts.usage.input) all.facts.usage = event.facts.usage;
      if (!event.facts.finish_reason.empty()) all.facts.finish_reason = event.facts.finish_reason;
    }
    EXPECT_EQ(joined, events->bytes);
  }
}

void expect_the_answer(const ReplyFacts& facts) {
  EXPECT_EQ(facts.usage.input, 21);
  EXPECT_EQ(facts.usage.answer, 3);
  EXPECT_EQ(facts.finish_reason, "stop");
  EXPECT_FALSE(facts.is_error);
}

}  // namespace

Result<std::unique_ptr<UpstreamReply>> UpstreamContract::ask(ReplyHead head, std::deque<std::string> pieces,
                                                             bool stream, std::size_t longest) {
  streams_ = std::make_unique<base::FakeStreams>(std::move(head), std::move(pieces));
  link_ = GetParam().link(*streams_);
  UpstreamRequest request;
  request.model = "m";
  request.body = R"({"model":"m","messages":[{"role":"user","content":"How deep?"}],"max_tokens":9})";
  request.stream = stream;
  request.longest_answer = longest;
  return wait_for(link_->send(std::move(request), soon()));
}

ReplyHead UpstreamContract::stream_head() const {
  return {200, {{"content-type", GetParam().stream_type}}};
}

TEST_P(UpstreamContract, GivesAWholeAnswerWithItsFacts) {
  const auto reply = ask({200, {{"content-type", "application/json"}}}, {GetParam().whole}, false);
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ((*reply)->info().took, Took::answers);
  EXPECT_FALSE((*reply)->info().streams);
  const auto body = wait_for((*reply)->body(patience, soon()));
  ASSERT_TRUE(body) << body.error().what;
  EXPECT_TRUE(body->facts.has_answer);
  EXPECT_EQ(base::words_in(body->text), "Ten feet.");
  expect_the_answer(body->facts);
}

TEST_P(UpstreamContract, GivesAStreamHoweverItIsCut) {
  std::string all;
  for (const std::string& event : GetParam().stream) all += event;
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{50}, all.size()}) {
    std::deque<std::string> pieces;
    for (std::size_t at = 0; at < all.size(); at += step) pieces.push_back(all.substr(at, step));
    const auto reply = ask(stream_head(), std::move(pieces), true);
    ASSERT_TRUE(reply) << reply.error().what;
    EXPECT_TRUE((*reply)->info().streams);
    const Streamed streamed = read_all(**reply);
    EXPECT_FALSE(streamed.error) << streamed.error->what;
    EXPECT_EQ(streamed.words, "Ten feet.") << step;
    EXPECT_TRUE(streamed.is_done) << step;
    expect_the_answer(streamed.facts);
  }
}

TEST_P(UpstreamContract, NeverEndsAStreamThatBrokeOff) {
  const auto& events = GetParam().stream;
  for (std::size_t kept = 1; kept < events.size(); ++kept) {
    const auto last = events.begin() + static_cast<std::ptrdiff_t>(kept);
    const auto reply = ask(stream_head(), {events.begin(), last}, true);
    ASSERT_TRUE(reply) << reply.error().what;
    const Streamed streamed = read_all(**reply);
    EXPECT_FALSE(streamed.is_done) << kept;
    EXPECT_EQ(streamed.error.value_or(Error{Errc::upstream_failed, ""}).code, Errc::upstream_failed);
  }
}

TEST_P(UpstreamContract, SaysHowTheServerTookTheRequest) {
  struct Case {
    int status;
    Took took;
  };
  for (const auto [status, took] :
       {Case{400, Took::refused}, Case{401, Took::refused}, Case{429, Took::limited}, Case{500, Took::failed},
        Case{503, Took::out_of_service}})
    for (const bool stream : {false, true}) {
      const auto reply = ask({status, {{"content-type", "application/json"}, {"retry-after", "7"}}},
                             {GetParam().error}, stream);
      ASSERT_TRUE(reply) << reply.error().what;
      EXPECT_EQ((*reply)->info().took, took) << status;
      EXPECT_FALSE((*reply)->info().streams);
      EXPECT_EQ((*reply)->info().head.status, status);
      EXPECT_EQ((*reply)->info().retry_after, std::chrono::seconds(7));
      const auto body = wait_for((*reply)->body(patience, soon()));
      ASSERT_TRUE(body) << body.error().what;
      EXPECT_EQ(body->said, "the prompt is too long");
    }
}

TEST_P(UpstreamContract, TakesNoAnswerBeyondTheLongest) {
  auto reply = ask({200, {{"content-type", "application/json"}}}, {GetParam().whole}, false, 20);
  ASSERT_TRUE(reply) << reply.error().what;
  const auto body = wait_for((*reply)->body(patience, soon()));
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().code, Errc::upstream_failed);
}

}  // namespace plimsoll

#include "base/chat_reply.hpp"

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing_streams.hpp"

namespace plimsoll::base {
namespace {

std::string event(std::string_view data) {
  return "data: " + std::string(data) + "\n\n";
}

std::string delta(std::string_view text) {
  return event(R"({"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":")" +
               std::string(text) + R"("},"finish_reason":null}],"usage":null})");
}
const std::string finish =
    event(R"({"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})");
const std::string usage = event(
    R"({"choices":[],"usage":{"prompt_tokens":21,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":16}}})");
const std::string done = event("[DONE]");

TEST(EventSplitter, KeepsEveryByteHoweverTheStreamIsDivided) {
  const std::string stream =
      ": comment\n\n" + delta("Aye \\\"x\\\" }") + "event: note\r\ndata: {}\r\n\r\n" + finish + usage + done;
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    EventSplitter splitter;
    std::string out;
    std::vector<std::string> data;
    ReplyFacts seen;
    bool is_done = false;
    const auto take = [&](const AnswerEvents& events) {
      std::string joined;
      for (const AnswerEvent& one : events.each) {
        joined += one.bytes;
        data.emplace_back(one.data);
        if (one.facts.usage.input) seen.usage = one.facts.usage;
        if (!one.facts.finish_reason.empty()) seen.finish_reason = one.facts.finish_reason;
        is_done = is_done || one.is_done;
      }
      EXPECT_EQ(joined, events.bytes);
      out += events.bytes;
    };
    for (std::string_view rest = stream; !rest.empty();) {
      const std::size_t size = round == 0 ? rest.size() : 1 + random() % 40;
      const std::string piece(rest.substr(0, size));  // its memory is soon gone
      take(splitter.add(piece));
      splitter.settle();
      rest.remove_prefix(std::min(size, rest.size()));
    }
    take(splitter.rest());
    EXPECT_EQ(out, stream);
    EXPECT_EQ(data.size(), 6U);
    EXPECT_EQ(seen.usage.input, 21);
    EXPECT_EQ(seen.usage.cached, 16);
    EXPECT_EQ(seen.finish_reason, "stop");
    EXPECT_TRUE(is_done);
  }
}

TEST(EventSplitter, HandsOutAWholeEventAtOnceAndHoldsTheBeginningOfOne) {
  EventSplitter splitter;
  const std::string two = delta("a") + delta("b").substr(0, 30);
  EXPECT_EQ(splitter.add(two).bytes, delta("a"));
  EXPECT_EQ(splitter.waiting(), 30U);
  EXPECT_EQ(splitter.add(delta("b").substr(30)).bytes, delta("b"));
  EXPECT_EQ(splitter.waiting(), 0U);
}

TEST(EventSplitter, MakesAnEventOfWhatHasNoEnd) {
  EventSplitter splitter;
  EXPECT_TRUE(splitter.add("data: {\"error\":{\"message\":\"gone\"}}").each.empty());
  const AnswerEvents rest = splitter.rest();
  ASSERT_EQ(rest.each.size(), 1U);
  EXPECT_TRUE(rest.each[0].facts.is_error);
  EXPECT_TRUE(splitter.rest().each.empty());
}

TEST(EventSplitter, MarksAnEventThatIsNotAWholeObject) {
  const auto is_broken = [](std::string_view bytes) {
    EventSplitter splitter;
    const AnswerEvents events = splitter.add(bytes);
    EXPECT_EQ(events.each.size(), 1U) << bytes;
    return events.each.size() == 1 && events.each[0].is_broken;
  };
  for (const char* sound :
       {"data: {}\n\n", ": comment\n\n", "data:\n\n", "event: ping\n\n", "data: [DONE] \n\n",
        "data: {\ndata: \"a\": 1\r\ndata: }\n\n", "data: {\"a\":\"\xC3\"}\n\n"})
    EXPECT_FALSE(is_broken(sound)) << sound;
  for (const char* broken : {"data: {\"a\":\n\n", "data: {\"a\":}\n\n", "data: [1]\n\n", "data: x\n\n",
                             "data: {\ndata: \"a\"\n\n", "data: {\"a\":\"\xC3\n\n"})
    EXPECT_TRUE(is_broken(broken)) << broken;
}

TEST(ReadFacts, IgnoresANumberThatNoServerCanMean) {
  for (const char* number : {"9223372036854775807", "9223372036854775808", "100000001", "-1", "1e30"}) {
    const Usage told = read_facts(fmt::format(R"({{"usage":{{"prompt_tokens":{0},"completion_tokens":{0},)"
                                              R"("completion_tokens_details":{{"reasoning_tokens":{0}}}}}}})",
                                              number))
                           .usage;
    EXPECT_FALSE(told.input || told.answer || told.thinking) << number;
  }
}

TEST(ReadFacts, TakesUsageInEveryShapeAndNothingFromRubbish) {
  EXPECT_EQ(read_facts(R"({"usage":{"input_tokens":7,"output_tokens":2}})").usage.input, 7);
  EXPECT_EQ(read_facts(R"({"response":{"usage":{"input_tokens":8}}})").usage.input, 8);
  EXPECT_EQ(
      read_facts(R"({"usage":{"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":5}}})")
          .usage.thinking,
      5);
  for (const char* rubbish : {"", "[]", "{", R"({"usage":[1]})", R"({"usage":{"prompt_tokens":-1}})",
                              R"({"choices":[3]})", R"({"usage":{"prompt_tokens":1e99}})"})
    EXPECT_FALSE(read_facts(rubbish).usage.input) << rubbish;
}

TEST(SaidInError, FindsTheMessageInEveryFormat) {
  EXPECT_EQ(said_in_error(R"({"error":{"message":"too long"}})"), "too long");
  EXPECT_EQ(said_in_error(R"({"error":"no model"})"), "no model");
  EXPECT_EQ(said_in_error(R"({"detail":"not here"})"), "not here");
  EXPECT_EQ(said_in_error(R"({"message":"busy"})"), "busy");
  EXPECT_EQ(said_in_error("<html>"), "<html>");
  EXPECT_EQ(said_in_error(std::string(5'000, 'x')).size(), 2'000U);
}

TEST(WordsIn, ReadsChunksCompletionsAndTexts) {
  EXPECT_EQ(words_in(R"({"choices":[{"delta":{"content":"a"}}]})"), "a");
  EXPECT_EQ(words_in(R"({"choices":[{"message":{"content":"b"}}]})"), "b");
  EXPECT_EQ(words_in(R"({"choices":[{"text":"c"}]})"), "c");
  for (const char* none : {"", "[DONE]", R"({"choices":[]})", R"({"choices":[{"delta":{"content":null}}]})"})
    EXPECT_EQ(words_in(none), "") << none;
}

TEST(ChatReply, ClassifiesHowAServerTookARequest) {
  const auto took = [](int status) { return info_of(ReplyHead{status, {}}).took; };
  EXPECT_EQ(took(200), Took::answers);
  EXPECT_EQ(took(400), Took::refused);
  EXPECT_EQ(took(429), Took::limited);
  EXPECT_EQ(took(500), Took::failed);
  EXPECT_EQ(took(503), Took::out_of_service);
  EXPECT_EQ(took(529), Took::out_of_service);
  const ReplyInfo busy = info_of(ReplyHead{503, {}});
  EXPECT_EQ(busy.code, ReplyCode{503});
  EXPECT_EQ(busy.outcome, "status 503");
  EXPECT_EQ(info_of(ReplyHead{200, {}}).outcome, "answered");
  for (const int status : {200, 401, 404, 503, 504})
    EXPECT_FALSE(info_of(ReplyHead{status, {}}).may_be_too_long) << status;
  for (const int status : {400, 413, 422, 429, 500})
    EXPECT_TRUE(info_of(ReplyHead{status, {}}).may_be_too_long) << status;
  const auto wait = [](const char* seconds) {
    return info_of(ReplyHead{429, {{"retry-after", seconds}}}).retry_after;
  };
  EXPECT_EQ(wait("1.5"), std::chrono::milliseconds(1'500));
  EXPECT_FALSE(wait("tomorrow"));
  EXPECT_FALSE(wait("-1"));
  EXPECT_GT(wait("1e300").value_or(std::chrono::milliseconds(0)), std::chrono::hours(1));
}

std::unique_ptr<UpstreamReply> reply_of(ReplyHead head, std::deque<std::string> pieces, std::size_t longest) {
  FakeStreams streams(std::move(head), std::move(pieces));
  return chat_reply(*wait_for(streams.open({}, soon())), longest);
}

TEST(ChatReply, BoundsBodiesAndEvents) {
  const std::chrono::seconds patience{5};
  auto body = reply_of({200, {}}, {"{\"a\":", "1}"}, 7);
  const auto whole = wait_for(body->body(patience, soon()));
  ASSERT_TRUE(whole) << whole.error().what;
  EXPECT_FALSE(whole->facts.has_answer);
  EXPECT_TRUE(read_facts(R"({"choices":[]})").has_answer);
  EXPECT_FALSE(read_facts(R"({"choices":[{"message":{"content":"a"}})").has_answer) << "it is not whole";
  body = reply_of({200, {}}, {R"({"error":{"message":"no"}})"}, 100);
  EXPECT_EQ(wait_for(body->body(patience, soon()))->said, "no");
  body = reply_of({200, {}}, {"{\"a\":", "12}"}, 7);
  EXPECT_FALSE(wait_for(body->body(patience, soon())));
  const ReplyHead stream{200, {{"content-type", "text/event-stream"}}};
  auto events = reply_of(stream, {done, "data: " + std::string(50, 'x')}, 50);
  EXPECT_TRUE(events->info().streams);
  EXPECT_EQ(wait_for(events->next(patience, soon()))->bytes, done);
  const auto too_long = wait_for(events->next(patience, soon()));
  ASSERT_FALSE(too_long);
  EXPECT_NE(too_long.error().what.find("max_answer_bytes"), std::string::npos) << too_long.error().what;
}

std::unique_ptr<UpstreamReply> reply_in_pieces(const char* type, std::deque<std::string> pieces,
                                               RequestResources& resources) {
  FakeStreams streams({200, {{"content-type", type}}}, std::move(pieces));
  auto stream = wait_for(streams.open({}, soon()));
  return chat_reply(*std::move(stream), std::size_t{1} << 30, &resources);
}

TEST(ChatReply, TakesMemoryForABodyAsItArrivesAndReadsALongOneOnAWorker) {
  const std::string half(40'000, ' ');
  FakeResources enough;
  auto reply = reply_in_pieces("application/json", {half, half}, enough);
  EXPECT_EQ(wait_for(reply->body(std::chrono::seconds(1), soon()))->text.size(), 80'000U);
  EXPECT_EQ(enough.held, 80'000U);
  EXPECT_EQ(enough.works, 1);
  FakeResources few(50'000);
  reply = reply_in_pieces("application/json", {half, half, half}, few);
  const auto body = wait_for(reply->body(std::chrono::seconds(1), soon()));
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().code, Errc::over_budget);
  EXPECT_EQ(few.held, 80'000U);  // it reads no further
}

TEST(ChatReply, TakesMemoryForAnEventAsItArrives) {
  FakeResources few(50'000);
  const std::string half = "data: " + std::string(40'000, ' ');
  const auto reply = reply_in_pieces("text/event-stream", {half, half}, few);
  const auto events = wait_for(reply->next(std::chrono::seconds(1), soon()));
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code, Errc::over_budget);
}

}  // namespace
}  // namespace plimsoll::base

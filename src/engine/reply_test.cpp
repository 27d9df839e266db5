#include "engine/reply.hpp"

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace plimsoll::engine {
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

// The stream in pieces of these sizes.
std::string relayed(EventRelay& relay, std::string_view stream, std::mt19937* random) {
  const EventRelay::Fields fields = [] { return std::string(R"("plimsoll":{"trace":"t"})"); };
  std::string out;
  while (!stream.empty()) {
    const std::size_t size = random == nullptr ? stream.size() : 1 + (*random)() % 40;
    out += relay.pass(stream.substr(0, size), fields);
    stream.remove_prefix(std::min(size, stream.size()));
  }
  out += relay.finish(fields);
  return out;
}

TEST(EventRelay, WhatIsNotToBeChangedGoesThroughByteForByteHoweverItIsCut) {
  const std::string stream =
      ": comment\n\n" + delta("Aye \\\"x\\\" }") + "event: note\r\ndata: {}\r\n\r\n" + finish + usage + done;
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    EventRelay relay({});
    EXPECT_EQ(relayed(relay, stream, round == 0 ? nullptr : &random), stream);
    EXPECT_EQ(relay.facts().usage.input, 21);
    EXPECT_EQ(relay.facts().usage.cached, 16);
    EXPECT_EQ(relay.facts().finish_reason, "stop");
    EXPECT_TRUE(relay.is_done());
  }
}

TEST(EventRelay, AWholeEventGoesOnAtOnceAndTheBeginningOfOneWaits) {
  EventRelay relay({});
  const EventRelay::Fields fields = [] { return std::string(); };
  const std::string two = delta("a") + delta("b").substr(0, 30);
  EXPECT_EQ(relay.pass(two, fields), delta("a"));
  EXPECT_EQ(relay.waiting(), 30U);
  EXPECT_EQ(relay.pass(delta("b").substr(30), fields), delta("b"));
}

TEST(EventRelay, UsageThatTheClientDidNotAskForStaysHere) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    EventRelay relay({.hides_usage = true});
    EXPECT_EQ(relayed(relay, delta("a") + finish + usage + done, &random), delta("a") + finish + done);
    EXPECT_EQ(relay.facts().usage.answer, 4);
  }
}

TEST(EventRelay, FieldsStandInTheLastChunkOnce) {
  const std::string with = R"(,"plimsoll":{"trace":"t"}})";
  const auto last = [&](const std::string& chunk) {
    return chunk.substr(0, chunk.rfind('}')) + with + "\n\n";
  };
  std::mt19937 random(9);
  for (int round = 0; round < 100; ++round) {
    EventRelay asked({.annotated = true});
    EXPECT_EQ(relayed(asked, delta("a") + finish + usage + done, &random),
              delta("a") + finish + last(usage) + done);
    EventRelay hidden({.annotated = true, .hides_usage = true});
    EXPECT_EQ(relayed(hidden, delta("a") + finish + usage + done, &random), delta("a") + last(finish) + done);
    EventRelay broken({.annotated = true});  // no [DONE]
    EXPECT_EQ(relayed(broken, delta("a") + finish, &random), delta("a") + last(finish));
  }
}

TEST(EventRelay, WhatShowsOnlyAtTheEndIsToldInAChunkOfItsOwn) {
  const std::string told =
      event(R"({"object":"chat.completion.chunk","choices":[],"plimsoll":{"trace":"t"}})");
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    EventRelay relay({.told_late = true});
    EXPECT_EQ(relayed(relay, delta("a") + finish + usage + done, round == 0 ? nullptr : &random),
              delta("a") + finish + usage + told + done);
  }
  EventRelay nothing({.told_late = true});
  const std::string stream = delta("a") + finish + usage + done;
  EXPECT_EQ(nothing.pass(stream, [] { return std::string(); }), stream);
}

TEST(EventRelay, AnErrorInTheStreamIsSeen) {
  EventRelay relay({});
  relayed(relay, delta("a") + event(R"({"error":{"message":"gone"}})"), nullptr);
  EXPECT_TRUE(relay.facts().is_error);
}

TEST(WithFields, GoBeforeTheLastBraceAndNowhereElse) {
  EXPECT_EQ(with_fields(R"({"a":{}})", R"("b":1)"), R"({"a":{},"b":1})");
  EXPECT_EQ(with_fields("{ }\n", R"("b":1)"), "{ \"b\":1}\n");
  EXPECT_EQ(with_fields("no object", R"("b":1)"), "no object");
  EXPECT_EQ(with_fields(R"({"a":1})", ""), R"({"a":1})");
}

TEST(ReadReply, ANumberThatNoServerCanMeanIsNone) {
  for (const char* number : {"9223372036854775807", "9223372036854775808", "100000001", "-1", "1e30"}) {
    const Usage told = read_reply(fmt::format(R"({{"usage":{{"prompt_tokens":{0},"completion_tokens":{0},)"
                                              R"("completion_tokens_details":{{"reasoning_tokens":{0}}}}}}})",
                                              number))
                           .usage;
    EXPECT_FALSE(told.input || told.answer || told.thinking) << number;
  }
}

TEST(ReadReply, TakesUsageInEveryShapeAndNothingFromRubbish) {
  EXPECT_EQ(read_reply(R"({"usage":{"input_tokens":7,"output_tokens":2}})").usage.input, 7);
  EXPECT_EQ(read_reply(R"({"response":{"usage":{"input_tokens":8}}})").usage.input, 8);
  EXPECT_EQ(
      read_reply(R"({"usage":{"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":5}}})")
          .usage.thinking,
      5);
  for (const char* rubbish : {"", "[]", "{", R"({"usage":[1]})", R"({"usage":{"prompt_tokens":-1}})",
                              R"({"choices":[3]})", R"({"usage":{"prompt_tokens":1e99}})"})
    EXPECT_FALSE(read_reply(rubbish).usage.input) << rubbish;
}

}  // namespace
}  // namespace plimsoll::engine

#include <limits>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "plimsoll/trace.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

std::string random_text(std::mt19937& rng) {
  static const char* const pieces[] = {"a",  "llama3.2:3b", "\"",     "\\",        "\n",      "\t", "é",
                                       "語", "🚢",          "\u2028", "</script>", "\\u0000", " ",  "{}"};
  std::string out;
  for (std::size_t i = rng() % 8; i > 0; --i) out += pieces[rng() % std::size(pieces)];
  if (rng() % 8 == 0) out += '\0';
  return out;
}

Tokens random_number(std::mt19937& rng) {
  switch (rng() % 6) {
    case 0: return std::numeric_limits<Tokens>::max();
    case 1: return std::numeric_limits<Tokens>::min();
    case 2: return -static_cast<Tokens>(rng() % 5'000);
    default: return static_cast<Tokens>(rng() % 200'000);
  }
}

std::optional<Tokens> maybe_number(std::mt19937& rng) {
  if (rng() % 2 == 0) return std::nullopt;
  return random_number(rng);
}

Trace random_trace(std::mt19937& rng) {
  Trace trace;
  trace.id = "t" + random_text(rng);
  for (std::string* text :
       {&trace.owner, &trace.session, &trace.route, &trace.asked_model, &trace.model, &trace.upstream,
        &trace.index, &trace.error, &trace.finish_reason, &trace.prompt, &trace.context.trace_id})
    *text = random_text(rng);
  for (std::int64_t* number :
       {&trace.at_ms, &trace.window, &trace.input, &trace.thinking, &trace.answer, &trace.margin, &trace.cut,
        &trace.plan_us, &trace.retrieve_us, &trace.first_byte_us, &trace.total_us})
    *number = random_number(rng);
  trace.stream = rng() % 2 == 0;
  trace.changed = rng() % 2 == 0;
  trace.code = ReplyCode{static_cast<int>(rng() % 600)};
  trace.exactness = static_cast<Exactness>(rng() % 3);
  for (const char* section : {"system", "a \"section\"", "answer"})
    if (maybe_number(rng)) trace.used.push_back({section, maybe_number(rng).value_or(7)});
  trace.usage = {maybe_number(rng), maybe_number(rng), maybe_number(rng), maybe_number(rng)};
  trace.usage.written = maybe_number(rng);
  if (rng() % 3 > 0) {
    trace.cost.nano_usd = static_cast<std::int64_t>(rng() % most_cost);
  } else if (rng() % 2 == 0) {
    trace.cost.why = "x" + random_text(rng);
  }
  trace.drift = maybe_number(rng);
  if (rng() % 2 == 0)
    trace.plan = Json{{"model", random_text(rng)}, {"pieces", {1, 2.5, random_text(rng)}}}.dump(2) + "\n";
  for (std::size_t i = rng() % 3; i > 0; --i)
    trace.left_out.push_back({random_text(rng), 0.25, 0.5, random_text(rng)});
  trace.left_out_total = static_cast<std::int64_t>(trace.left_out.size());
  for (std::size_t i = rng() % 3; i > 0; --i)
    trace.attempts.push_back({random_text(rng), random_text(rng), ReplyCode{static_cast<int>(rng() % 600)},
                              random_text(rng), random_number(rng), random_number(rng)});
  for (std::size_t i = rng() % 3; i > 0; --i)
    trace.passages.push_back({random_text(rng),
                              {rng(), std::numeric_limits<std::uint64_t>::max()},
                              random_number(rng),
                              static_cast<double>(rng()) / 7.0,
                              -1.0 / static_cast<double>(1 + rng()),
                              random_text(rng),
                              random_text(rng),
                              rng() % 3,
                              rng() % 3,
                              5});
  for (std::size_t i = rng() % 3; i > 0; --i) trace.warnings.push_back(random_text(rng));
  return trace;
}

void expect_same(const Trace& a, const Trace& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.at_ms, b.at_ms);
  EXPECT_EQ(a.session, b.session);
  EXPECT_EQ(a.error, b.error);
  EXPECT_EQ(a.prompt, b.prompt);
  EXPECT_EQ(a.window, b.window);
  EXPECT_EQ(a.exactness, b.exactness);
  EXPECT_EQ(a.used, b.used);
  EXPECT_EQ(a.usage.input, b.usage.input);
  EXPECT_EQ(a.usage.cached, b.usage.cached);
  EXPECT_EQ(a.usage.written, b.usage.written);
  EXPECT_EQ(a.cost, b.cost);
  EXPECT_EQ(a.drift, b.drift);
  EXPECT_EQ(a.total_us, b.total_us);
  EXPECT_EQ(a.warnings, b.warnings);
  ASSERT_EQ(a.attempts.size(), b.attempts.size());
  ASSERT_EQ(a.left_out.size(), b.left_out.size());
  EXPECT_EQ(a.left_out_total, b.left_out_total);
  for (std::size_t i = 0; i < a.left_out.size(); ++i) {
    EXPECT_EQ(a.left_out[i].document, b.left_out[i].document);
    EXPECT_EQ(a.left_out[i].reason, b.left_out[i].reason);
    EXPECT_EQ(a.left_out[i].relevance, b.left_out[i].relevance);
  }
  ASSERT_EQ(a.passages.size(), b.passages.size());
  for (std::size_t i = 0; i < a.attempts.size(); ++i) EXPECT_EQ(a.attempts[i].outcome, b.attempts[i].outcome);
  for (std::size_t i = 0; i < a.passages.size(); ++i) {
    EXPECT_EQ(a.passages[i].source, b.passages[i].source);
    EXPECT_EQ(a.passages[i].score, b.passages[i].score);
    EXPECT_EQ(a.passages[i].distance, b.passages[i].distance);
    EXPECT_EQ(a.passages[i].text, b.passages[i].text);
    EXPECT_EQ(a.passages[i].page, b.passages[i].page);
    EXPECT_EQ(a.passages[i].last_page, b.passages[i].last_page);
    EXPECT_EQ(a.passages[i].first_line, b.passages[i].first_line);
    if (a.passages[i].first_line > 0) {
      EXPECT_EQ(a.passages[i].last_line, b.passages[i].last_line);
    }
  }
  EXPECT_EQ(a.plan.empty(), b.plan.empty());
  if (!a.plan.empty() && !b.plan.empty()) {
    EXPECT_EQ(Json::parse(a.plan), Json::parse(b.plan));
  }
}

TEST(TraceJson, ACostThatCannotBeIsNotRead) {
  Trace trace;
  trace.id = "t";
  trace.cost.nano_usd = most_cost;
  EXPECT_TRUE(read_trace(trace_json(trace)));
  for (const std::int64_t wrong :
       {most_cost + 1, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    trace.cost.nano_usd = wrong;
    const auto read = read_trace(trace_json(trace));
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().what.find("'cost'"), std::string::npos) << read.error().what;
  }
}

TEST(TraceJson, IsReadBackAsItWas) {
  std::mt19937 rng{6};
  for (int round = 0; round < 2'000 && !testing::Test::HasFailure(); ++round) {
    const Trace trace = random_trace(rng);
    const std::string text = trace_json(trace);
    ASSERT_EQ(text.find('\n'), std::string::npos);
    const auto read = read_trace(text);
    ASSERT_TRUE(read) << read.error().what << "\n" << text;
    expect_same(trace, *read);
    // All fields, whatever expect_same forgets: a second writing of what was read is the first, but for
    // blanks.
    EXPECT_EQ(Json::parse(trace_json(*read)), Json::parse(text));
  }
}

TEST(TraceJson, HoldsThePlanAsAnObject) {
  Trace trace;
  trace.id = "1";
  trace.plan = "{\n  \"messageCount\": 3,\n  \"why\": \"two\\nlines\"\n}\n";
  const Json json = Json::parse(trace_json(trace));
  EXPECT_EQ(json["plan"]["messageCount"], 3);
  EXPECT_EQ(json["plan"]["why"], "two\nlines");
  trace.plan.clear();
  EXPECT_TRUE(Json::parse(trace_json(trace))["plan"].is_null());
  trace.plan = "no plan, because ...";
  EXPECT_TRUE(Json::parse(trace_json(trace))["plan"].is_null());
}

TEST(TraceJson, IsJsonWhateverAModelOrClientSent) {
  Trace trace;
  trace.id = "1";
  trace.model = "\xff\xfe\"},{\"id\":\"2\x01";
  trace.error = std::string("\xed\xa0\x80\0\x1b[31m", 9);
  trace.passages.resize(1);
  trace.passages[0].score = std::numeric_limits<double>::quiet_NaN();
  trace.passages[0].distance = std::numeric_limits<double>::infinity();
  const Json json = Json::parse(trace_json(trace), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["id"], "1");
  EXPECT_TRUE(json["passages"][0]["score"].is_null());
  const auto read = read_trace(trace_json(trace));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->model, "\uFFFD\uFFFD\"},{\"id\":\"2\x01");
}

TEST(TraceJson, RefusesWhatIsNoTrace) {
  const char* const wrong[] = {"",
                               "[]",
                               "{}",
                               "{\"schema\":1}",
                               "{\"schema\":2,\"id\":\"a\"}",
                               "{\"schema\":1,\"id\":7}",
                               "{\"schema\":1,\"id\":\"a\",\"status\":99999999999}",
                               "{\"schema\":1,\"id\":\"a\",\"window\":9223372036854775808}",
                               "{\"schema\":1,\"id\":\"a\",\"window\":1.5}",
                               "{\"schema\":1,\"id\":\"a\",\"exactness\":\"sure\"}",
                               "{\"schema\":1,\"id\":\"a\",\"usage\":[]}",
                               "{\"schema\":1,\"id\":\"a\",\"used\":[]}",
                               "{\"schema\":1,\"id\":\"a\",\"used\":{\"system\":1.5}}",
                               "{\"schema\":1,\"id\":\"a\",\"usage\":{\"input\":\"3\"}}",
                               "{\"schema\":1,\"id\":\"a\",\"passages\":[{\"start\":-1}]}",
                               "{\"schema\":1,\"id\":\"a\",\"passages\":[7]}",
                               "{\"schema\":1,\"id\":\"a\",\"warnings\":[null]}",
                               "{\"schema\":1,\"id\":\"a\",\"plan\":\"{}\"}"};
  for (const char* text : wrong) {
    const auto read = read_trace(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Errc::damaged);
    EXPECT_FALSE(read.error().what.empty());
  }
  EXPECT_FALSE(read_trace(std::string(10'000, '[')));
  EXPECT_TRUE(read_trace(R"({"schema":1,"id":"a","of_a_later_program":{}})"));
}

}  // namespace
}  // namespace plimsoll

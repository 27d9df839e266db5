#include "engine/history/older_turns.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

Json message(std::string_view role, const std::string& text) {
  return {{"role", role}, {"content", text}};
}

void add_tool_turn(Json& messages, int number) {
  const std::string id = fmt::format("call{}", number);
  messages.push_back(message("user", fmt::format("sound {}", number)));
  Json call = {{"id", id}, {"type", "function"}, {"function", {{"name", "sound"}, {"arguments", "{}"}}}};
  messages.push_back({{"role", "assistant"}, {"content", nullptr}, {"tool_calls", Json::array({call})}});
  messages.push_back(
      {{"role", "tool"}, {"tool_call_id", id}, {"content", fmt::format("{} fathoms", number)}});
  messages.push_back(message("assistant", fmt::format("it is {}", number)));
}

// Turns with and without tools, system prompts anywhere, and a question.
Json random_messages(std::mt19937& rng) {
  Json messages = Json::array();
  if (rng() % 2 == 0) messages.push_back(message("system", "You are the mate."));
  const int turns = static_cast<int>(rng() % 14);
  for (int turn = 0; turn < turns; ++turn) {
    if (rng() % 4 == 0) {
      add_tool_turn(messages, turn);
      continue;
    }
    if (rng() % 9 == 0) messages.push_back(message("system", fmt::format("note {}", turn)));
    messages.push_back(message("user", fmt::format("question {}", turn)));
    if (rng() % 6 != 0) messages.push_back(message("assistant", fmt::format("answer {}", turn)));
  }
  messages.push_back(message("user", "How deep?"));
  return messages;
}

History history_in(const chat::ChatRequest& parts) {
  History history;
  const Json& messages = parts.messages();
  for (std::size_t i = 0; i < messages.size(); ++i) history.messages.push_back(static_cast<Tokens>(i + 1));
  for (const chat::Messages& turn : parts.turns) {
    conversation::TurnSize size;
    for (const std::size_t i : turn) {
      size.tokens += history.messages[i];
      size.whole = size.whole || messages[i]["role"] == "tool" || messages[i].contains("tool_calls");
    }
    history.turns.push_back(size);
  }
  return history;
}

Replacement summary_for(const Rows& rows, std::size_t count) {
  Replacement by;
  by.kept.hash = rows.names.hashes[count - 1];
  by.kept.how = "extractive";
  by.text = "short";
  return by;
}

std::set<std::size_t> indices(const std::vector<std::size_t>& list) {
  return {list.begin(), list.end()};
}

TEST(ReplaceTurns, LeavesEveryOtherMessageAsItWasAndNamesEachOfThese) {
  std::mt19937 rng{21};
  int replaced = 0, kept_tools = 0;
  for (int round = 0; round < 2'000; ++round) {
    const Json given = random_messages(rng);
    const std::string body = Json{{"messages", given}}.dump();
    auto parts = chat::read_chat(body);
    ASSERT_TRUE(parts) << parts.error().what;
    const std::size_t last_turns = std::min<std::size_t>(parts->turns.size(), 2);
    const std::vector<chat::Messages> last(parts->turns.end() - static_cast<std::ptrdiff_t>(last_turns),
                                           parts->turns.end());
    const chat::Messages question = parts->question;
    for (int step = 0; step < 2; ++step) {
      const History history = history_in(*parts);
      const Rows rows = rows_of(*parts, history, true);
      if (rows.turns.empty()) break;
      const std::size_t count = 1 + rng() % rows.turns.size();
      replace_turns(*parts, history, rows, count, summary_for(rows, count));
      ++replaced;
    }
    const Json& left = parts->body["messages"];
    std::set<std::size_t> named;
    if (parts->compressed)
      for (const chat::Compressed::Message& one : parts->compressed->replaced) named.insert(one.given_at);
    ASSERT_EQ(named.size() + left.size(), given.size());  // each once
    for (std::size_t i = 0; i < left.size(); ++i) {
      const std::size_t at = parts->given_at.empty() ? i : parts->given_at[i];
      ASSERT_EQ(left[i], given[at]);
      ASSERT_FALSE(named.contains(at));
      kept_tools += left[i]["role"] == "tool" ? 1 : 0;
    }
    for (const std::size_t at : named) {
      ASSERT_TRUE(given[at]["role"] == "user" || given[at]["role"] == "assistant");
      ASSERT_FALSE(given[at].contains("tool_calls"));
    }
    for (const std::size_t i : question) ASSERT_FALSE(named.contains(i));
    for (const chat::Messages& turn : last)
      for (const std::size_t i : turn) ASSERT_FALSE(named.contains(i));
    // What is left is divided as it was.
    std::size_t divided = parts->system.size() + parts->question.size();
    for (const chat::Messages& turn : parts->turns) divided += turn.size();
    ASSERT_EQ(divided, left.size());
    ASSERT_EQ(left[parts->asked_at]["role"], "user");
    for (const std::size_t i : indices(parts->system)) ASSERT_EQ(left[i]["role"], "system");
  }
  EXPECT_GT(replaced, 1'000);
  EXPECT_GT(kept_tools, 1'000);
}

TEST(RowsOf, AreKnownByWhatTheyHoldHoweverManyStepsItTook) {
  Json messages = Json::array();
  for (int turn = 0; turn < 12; ++turn) {
    messages.push_back(message("user", fmt::format("question {}", turn)));
    messages.push_back(message("assistant", fmt::format("answer {}", turn)));
  }
  messages.push_back(message("user", "How deep?"));
  const std::string body = Json{{"messages", messages}}.dump();
  auto parts = chat::read_chat(body);
  ASSERT_TRUE(parts);
  const Rows whole = rows_of(*parts, history_in(*parts), true);
  ASSERT_EQ(whole.turns.size(), 10U);
  for (const std::size_t count : {3U, 2U}) {
    const Rows rows = rows_of(*parts, history_in(*parts), true);
    replace_turns(*parts, history_in(*parts), rows, count, summary_for(rows, count));
  }
  const Rows rest = rows_of(*parts, history_in(*parts), true);
  ASSERT_EQ(rest.turns.size(), 5U);
  EXPECT_EQ(rest.names.hashes.back(), whole.names.hashes.back());
  EXPECT_EQ(rest.names.ends_with.front(), whole.names.ends_with[5]);
  EXPECT_EQ(parts->compressed->told.replaces, std::vector<std::string>{"messages[0-9]"});
  EXPECT_EQ(parts->compressed->told.turns, 5);
}

TEST(RowsOf, AConversationWithoutItsBeginningEndsAsBefore) {
  Json messages = Json::array();
  for (int turn = 0; turn < 12; ++turn)
    messages.push_back(message("user", fmt::format("{}", turn))),
        messages.push_back(message("assistant", "aye"));
  messages.push_back(message("user", "How deep?"));
  Json later = Json::array();
  for (std::size_t i = 4; i < messages.size(); ++i) later.push_back(messages[i]);
  const std::string body = Json{{"messages", messages}}.dump(), later_body = Json{{"messages", later}}.dump();
  const auto parts = chat::read_chat(body), later_parts = chat::read_chat(later_body);
  const Rows rows = rows_of(*parts, history_in(*parts), true),
             later_rows = rows_of(*later_parts, history_in(*later_parts), true);
  EXPECT_NE(rows.names.hashes.back(), later_rows.names.hashes.back());
  EXPECT_EQ(rows.names.ends_with.back(), later_rows.names.ends_with.back());
}

}  // namespace
}  // namespace plimsoll::engine

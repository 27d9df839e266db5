#include "contract/sessions/sessions_contract.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

namespace plimsoll {
namespace {

using Names = std::vector<std::string>;

}  // namespace

void SessionsContract::SetUp() {
  ASSERT_FALSE(folder_.empty());
  reopen();
}

void SessionsContract::TearDown() {
  store_.reset();
}

void SessionsContract::reopen() {
  store_.reset();
  auto opened = GetParam().open(folder_);
  ASSERT_TRUE(opened) << opened.error().what;
  store_ = *std::move(opened);
}

void SessionsContract::say(const std::string& session, const std::string& question,
                           const SessionLimits& limits, std::string_view owner) {
  const std::vector<Turn> turns{{"user", question, 1, "t1", "docs", "m"},
                                {"assistant", "re " + question, 2, "t1", "docs", "m"}};
  const auto kept = store_->append(owner, session, turns, limits);
  ASSERT_TRUE(kept) << kept.error().what;
}

Names SessionsContract::said(const std::string& session, std::string_view owner) {
  const auto turns = store_->turns(owner, session);
  EXPECT_TRUE(turns);
  Names out;
  for (const Turn& turn : *turns) out.push_back(turn.role + ": " + turn.text);
  return out;
}

Names SessionsContract::names(std::string_view owner) {
  const auto sessions = store_->sessions(owner, 100);
  EXPECT_TRUE(sessions);
  Names out;
  for (const SessionInfo& one : *sessions) out.push_back(one.id);
  return out;
}

plimsoll::Run SessionsContract::begin(const std::string& id, std::int64_t most) {
  plimsoll::Run run;
  run.id = id;
  run.owner = "local";
  run.kind = "evaluation";
  run.asked = R"({"questions":2})";
  const auto begun = store_->begin_run(run, most);
  EXPECT_TRUE(begun) << begun.error().what;
  return run;
}

TEST_P(SessionsContract, KeepsVectorsOfTurnsAndForgetsThemWithTheSession) {
  const std::vector<TurnVector> vectors{{"h1", std::string("\0\x7f\x81", 3)}, {"h2", "abc"}};
  constexpr std::int64_t day_ms = std::int64_t{24} * 3600 * 1000;
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  say("s", "Ahoy");
  for (const auto& [owner, session] : {std::pair{"local", "s"}, {"local", "unnamed"}, {"other", "s"}})
    ASSERT_TRUE(store_->keep_turn_vectors(owner, session, "e", vectors, now, day_ms));
  reopen();
  const auto bytes = [&](std::string_view owner, std::string_view session, std::string_view embedder) {
    const auto kept = store_->turn_vectors(owner, session, embedder);
    EXPECT_TRUE(kept);
    std::string all;
    for (const TurnVector& one : *kept) all += one.hash + one.bytes;
    return all;
  };
  EXPECT_EQ(bytes("local", "s", "e"), std::string("h1\0\x7f\x81h2abc", 10));
  EXPECT_EQ(bytes("local", "s", "another"), "");
  EXPECT_TRUE(*store_->forget("local", "s"));
  EXPECT_EQ(bytes("local", "s", "e"), "");
  EXPECT_NE(bytes("other", "s", "e"), "");
  EXPECT_TRUE(*store_->forget("local", "unnamed"));
  EXPECT_EQ(bytes("local", "unnamed", "e"), "");
  // A request that was under way when the session was deleted brings nothing back.
  ASSERT_TRUE(store_->keep_turn_vectors("local", "s", "e", vectors, now - 1'000, day_ms));
  EXPECT_EQ(bytes("local", "s", "e"), "");
  // What is too old goes when something new comes.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_TRUE(store_->keep_turn_vectors("other", "t", "e", vectors, now + day_ms, 1));
  EXPECT_EQ(bytes("other", "s", "e"), "");
  EXPECT_NE(bytes("other", "t", "e"), "");
}

TEST_P(SessionsContract, KeepsTurnsOverARestart) {
  say("s", "Ahoy");
  say("s", "How deep?");
  reopen();
  EXPECT_EQ(said("s"),
            (Names{"user: Ahoy", "assistant: re Ahoy", "user: How deep?", "assistant: re How deep?"}));
  const auto turn = store_->turns("local", "s")->front();
  EXPECT_EQ((Names{turn.trace, turn.collection, turn.model}), (Names{"t1", "docs", "m"}));
  EXPECT_EQ(turn.at_ms, 1);
  const SessionInfo info = store_->sessions("local", 1)->front();
  EXPECT_EQ(info.turns, 4);
  EXPECT_EQ(info.bytes, 32);
  EXPECT_GT(info.created_ms, 0);
  EXPECT_GE(info.updated_ms, info.created_ms);
}

TEST_P(SessionsContract, ShowsNobodyWhatIsAnothers) {
  say("s", "mine");
  say("s", "theirs", {}, "somebody");
  EXPECT_EQ(said("s"), (Names{"user: mine", "assistant: re mine"}));
  EXPECT_EQ(said("s", "somebody"), (Names{"user: theirs", "assistant: re theirs"}));
  EXPECT_TRUE(said("s", "nobody").empty());
  EXPECT_FALSE(*store_->forget("nobody", "s"));
  EXPECT_TRUE(*store_->forget("somebody", "s"));
  EXPECT_TRUE(said("s", "somebody").empty());
  EXPECT_EQ(said("s").size(), 2U);
}

TEST_P(SessionsContract, ForgetsTheOldestTurnsInPairs) {
  for (const char* question : {"a", "b", "c", "d"}) say("s", question, {.turns = 5});
  EXPECT_EQ(said("s"), (Names{"user: c", "assistant: re c", "user: d", "assistant: re d"}));
  say("s", "e", {.turns = 1});
  EXPECT_EQ(said("s"), (Names{"user: e", "assistant: re e"})) << "what was said last stays";
  EXPECT_EQ(store_->sessions("local", 1)->front().turns, 2);
}

TEST_P(SessionsContract, ForgetsTheOldestBytes) {
  say("s", std::string(40, 'x'), {.bytes = 100});
  say("s", "short", {.bytes = 100});
  EXPECT_EQ(said("s").size(), 4U);
  say("s", "last", {.bytes = 100});
  EXPECT_EQ(said("s"), (Names{"user: short", "assistant: re short", "user: last", "assistant: re last"}));
  EXPECT_EQ(store_->sessions("local", 1)->front().bytes, 24);
}

TEST_P(SessionsContract, ForgetsSessionsThatNobodySpeaksIn) {
  for (const char* name : {"a", "b", "c"}) say(name, "x", {.sessions = 3});
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  say("a", "again", {.sessions = 3});
  say("z", "x", {.sessions = 1}, "somebody");
  say("d", "x", {.sessions = 3});
  Names left = names();
  std::ranges::sort(left);
  EXPECT_EQ(left, (Names{"a", "c", "d"}));
  EXPECT_TRUE(said("b").empty());
  EXPECT_EQ(names("somebody"), Names{"z"});
}

TEST_P(SessionsContract, TakesAnyBytes) {
  const std::string odd("it's; DROP TABLE turns --\0\xff", 27);
  say(odd, odd);
  EXPECT_EQ(said(odd).front(), "user: " + odd);
}

TEST_P(SessionsContract, KeepsARunWithItsParts) {
  begin("r1");
  ASSERT_TRUE(store_->add_part("local", "r1", R"({"q":1})"));
  ASSERT_TRUE(store_->add_part("local", "r1", R"({"q":2})"));
  EXPECT_EQ(store_->run("local", "evaluation", "r1")->state, RunState::running);
  ASSERT_TRUE(store_->end_run("local", "r1", RunState::done, "{}"));
  reopen();
  const auto run = store_->run("local", "evaluation", "r1");
  ASSERT_TRUE(run) << run.error().what;
  EXPECT_EQ(run->state, RunState::done);
  EXPECT_EQ(run->parts, (Names{R"({"q":1})", R"({"q":2})"}));
  EXPECT_EQ(run->asked, R"({"questions":2})");
  EXPECT_EQ(run->outcome, "{}");
  EXPECT_GE(run->ended_ms, run->created_ms);
}

TEST_P(SessionsContract, KnowsNoRunOfAnotherOwnerOrKind) {
  begin("r1");
  for (const auto& [owner, kind, id] :
       {std::tuple("somebody", "evaluation", "r1"), std::tuple("local", "upload", "r1"),
        std::tuple("local", "evaluation", "r2")}) {
    const auto run = store_->run(owner, kind, id);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, Errc::not_found);
  }
  EXPECT_FALSE(store_->add_part("somebody", "r1", "{}"));
  EXPECT_FALSE(store_->end_run("somebody", "r1", RunState::failed, "{}"));
  EXPECT_EQ(store_->run("local", "evaluation", "r1")->state, RunState::running);
}

TEST_P(SessionsContract, ListsTheRunsOfOneOwnerAndKindNewestFirst) {
  begin("r1");
  begin("r2");
  begin("r3");
  ASSERT_TRUE(store_->add_part("local", "r2", R"({"q":1})"));
  ASSERT_TRUE(store_->end_run("local", "r2", RunState::done, "{}"));
  const auto runs = store_->runs("local", "evaluation", 2);
  ASSERT_TRUE(runs) << runs.error().what;
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_EQ((*runs)[0].id, "r3");
  EXPECT_EQ((*runs)[0].state, RunState::running);
  EXPECT_EQ((*runs)[1].id, "r2");
  EXPECT_EQ((*runs)[1].state, RunState::done);
  EXPECT_EQ((*runs)[1].parts, 1U);
  EXPECT_EQ((*runs)[1].asked, R"({"questions":2})");
  EXPECT_TRUE(store_->runs("somebody", "evaluation", 10)->empty());
  EXPECT_TRUE(store_->runs("local", "upload", 10)->empty());
}

TEST_P(SessionsContract, SaysWhatARestartCutShort) {
  begin("r1");
  begin("r2");
  ASSERT_TRUE(store_->end_run("local", "r2", RunState::failed, "{}"));
  reopen();
  ASSERT_TRUE(store_->interrupt_runs());
  EXPECT_EQ(store_->run("local", "evaluation", "r1")->state, RunState::interrupted);
  EXPECT_EQ(store_->run("local", "evaluation", "r2")->state, RunState::failed);
}

TEST_P(SessionsContract, ForgetsOldRunsThatHaveEnded) {
  begin("running");
  for (const char* id : {"a", "b", "c", "d"}) {
    begin(id, 3);
    ASSERT_TRUE(store_->end_run("local", id, RunState::done, "{}"));
  }
  EXPECT_TRUE(store_->run("local", "evaluation", "running"));
  EXPECT_FALSE(store_->run("local", "evaluation", "a"));
  EXPECT_FALSE(store_->run("local", "evaluation", "b"));
  EXPECT_TRUE(store_->run("local", "evaluation", "d"));
}

TEST_P(SessionsContract, KeepsARunThatHasEndedAndForgetsItWhenAsked) {
  plimsoll::Run run;
  run.id = "resp_1";
  run.owner = "local";
  run.kind = "response";
  run.state = plimsoll::RunState::done;
  run.asked = R"({"items":[]})";
  run.outcome = R"({"id":"resp_1"})";
  ASSERT_TRUE(store_->begin_run(run, 10));
  ASSERT_TRUE(store_->interrupt_runs());
  reopen();
  const auto kept = store_->run("local", "response", "resp_1");
  ASSERT_TRUE(kept) << kept.error().what;
  EXPECT_EQ(kept->state, plimsoll::RunState::done);
  EXPECT_EQ((Names{kept->asked, kept->outcome}), (Names{run.asked, run.outcome}));
  EXPECT_GT(kept->ended_ms, 0);
  EXPECT_FALSE(*store_->forget_run("somebody", "response", "resp_1"));
  EXPECT_FALSE(*store_->forget_run("local", "upload", "resp_1"));
  EXPECT_TRUE(*store_->forget_run("local", "response", "resp_1"));
  EXPECT_FALSE(*store_->forget_run("local", "response", "resp_1"));
  EXPECT_FALSE(store_->run("local", "response", "resp_1"));
}

TEST_P(SessionsContract, ServesManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        say("shared", fmt::format("{} {}", t, i));
        say(fmt::format("own {}", t), "x");
      }
    });
  for (std::thread& thread : threads) thread.join();
  const Names all = said("shared");
  ASSERT_EQ(all.size(), 80U);
  for (std::size_t i = 0; i < all.size(); i += 2)
    EXPECT_EQ(all[i + 1], "assistant: re " + all[i].substr(6)) << "pairs stay together";
  EXPECT_EQ(names().size(), 5U);
}

// ---- Summaries ----

namespace {

KeptSummary summary_of(const std::string& hash, const std::string& parent = "") {
  KeptSummary summary;
  summary.hash = hash;
  summary.ends_with = "end " + hash;
  summary.parent = parent;
  summary.how = "model";
  summary.model = "m";
  summary.text = "They spoke of " + hash;
  summary.turns = 3;
  summary.messages = 6;
  summary.at_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
  summary.originals = R"([{"id": "messages[0]", "message": {"role": "user", "content": "ahoy"}}])";
  return summary;
}

}  // namespace

TEST_P(SessionsContract, SummariesComeBackByTheirHash) {
  ASSERT_TRUE(store_->keep_summary("local", "s", summary_of("a"), {}));
  ASSERT_TRUE(store_->keep_summary("local", "s", summary_of("b", "a"), {}));
  reopen();
  const auto one = store_->summary("local", "s", "b");
  ASSERT_TRUE(one) << one.error().what;
  EXPECT_EQ(one->text, "They spoke of b");
  EXPECT_EQ(one->parent, "a");
  EXPECT_EQ(one->messages, 6);
  EXPECT_EQ(store_->summary("local", "s", "c").error().code, Errc::not_found);
  const auto briefly = store_->summaries("local", "s", false), whole = store_->summaries("local", "s", true);
  ASSERT_EQ(briefly->size(), 2U);
  EXPECT_EQ((*briefly)[0].ends_with, "end a");
  EXPECT_TRUE((*briefly)[0].originals.empty());
  EXPECT_EQ((*whole)[1].originals, summary_of("b").originals);
  // The same hash again is one.
  ASSERT_TRUE(store_->keep_summary("local", "s", summary_of("b"), {}));
  EXPECT_EQ(store_->summaries("local", "s", false)->size(), 2U);
}

TEST_P(SessionsContract, SummariesBelongToAnOwnerAndASession) {
  ASSERT_TRUE(store_->keep_summary("ann", "s", summary_of("a"), {}));
  EXPECT_FALSE(store_->summary("bob", "s", "a"));
  EXPECT_FALSE(store_->summary("ann", "t", "a"));
  EXPECT_TRUE(store_->summaries("bob", "s", true)->empty());
  EXPECT_EQ(store_->forget("bob", "s"), false);
  EXPECT_TRUE(store_->summary("ann", "s", "a"));
  EXPECT_EQ(store_->forget("ann", "s"), true);  // also where there are no turns
  EXPECT_FALSE(store_->summary("ann", "s", "a"));
}

TEST_P(SessionsContract, SummariesGoWithTheirSession) {
  say("s", "one");
  ASSERT_TRUE(store_->keep_summary("local", "s", summary_of("a"), {}));
  ASSERT_EQ(store_->forget("local", "s"), true);
  EXPECT_TRUE(store_->summaries("local", "s", true)->empty());
  // And where a session makes room for others.
  say("old", "one");
  ASSERT_TRUE(store_->keep_summary("local", "old", summary_of("a"), {}));
  SessionLimits few;
  few.sessions = 1;
  say("new", "two", few);
  EXPECT_TRUE(store_->summaries("local", "old", true)->empty());
}

TEST_P(SessionsContract, SummariesBeyondTheLimitsGo) {
  for (const char* hash : {"a", "b", "c"})
    ASSERT_TRUE(store_->keep_summary("local", "s", summary_of(hash), SummaryLimits{2, 1'000'000}));
  EXPECT_FALSE(store_->summary("local", "s", "a"));
  EXPECT_TRUE(store_->summary("local", "s", "c"));
  KeptSummary old = summary_of("old");
  old.at_ms -= 2'000'000;
  ASSERT_TRUE(store_->keep_summary("local", "s", old, SummaryLimits{10, 10'000'000}));
  ASSERT_TRUE(store_->keep_summary("local", "s", summary_of("d"), SummaryLimits{10, 1'000'000}));
  EXPECT_FALSE(store_->summary("local", "s", "old"));
}

TEST_P(SessionsContract, SummariesBeyondTheBytesGoWithTheirOriginals) {
  KeptSummary large = summary_of("large");
  large.originals = std::string(1'000, 'x');
  const SummaryLimits limits{.bytes = 1'500};
  ASSERT_TRUE(store_->keep_summary("local", "s", large, limits));
  ASSERT_TRUE(store_->keep_summary("another", "s", large, limits));
  ASSERT_TRUE(store_->keep_summary("local", "s", summary_of("small"), limits));
  EXPECT_TRUE(store_->summary("local", "s", "large"));
  large.hash = "larger";
  ASSERT_TRUE(store_->keep_summary("local", "t", large, limits));
  EXPECT_FALSE(store_->summary("local", "s", "large"));
  EXPECT_TRUE(store_->summary("local", "s", "small"));
  EXPECT_TRUE(store_->summary("local", "t", "larger"));
  EXPECT_TRUE(store_->summary("another", "s", "large"));
}

TEST_P(SessionsContract, WhatWasUnderWayBringsNothingBackThatWasForgotten) {
  KeptSummary under_way = summary_of("a");
  under_way.at_ms -= 60'000;
  say("s", "one");
  ASSERT_EQ(store_->forget("local", "s"), true);
  reopen();
  say("s", "said in 1970");
  ASSERT_TRUE(store_->keep_summary("local", "s", under_way, {}));
  EXPECT_TRUE(said("s").empty());
  EXPECT_TRUE(store_->summaries("local", "s", true)->empty());
  // Another's session of that name, another session, and what comes later are none of it.
  say("s", "theirs", {}, "somebody");
  say("t", "another");
  EXPECT_EQ(said("s", "somebody").size(), 2U);
  EXPECT_EQ(said("t").size(), 2U);
  const Turn later[] = {{"user", "again", summary_of("b").at_ms + 1, "t2", "docs", "m"}};
  ASSERT_TRUE(store_->append("local", "s", later, {}));
  ASSERT_TRUE(store_->keep_summary("local", "s", summary_of("b"), {}));
  EXPECT_EQ(said("s"), Names{"user: again"});
  EXPECT_EQ(store_->summaries("local", "s", true)->size(), 1U);
}

}  // namespace plimsoll

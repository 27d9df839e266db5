#include "engine/traces/trace_feed.hpp"

#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace plimsoll::engine {
namespace {

Trace trace_of(const std::string& owner, const std::string& id) {
  Trace trace;
  trace.owner = owner;
  trace.id = id;
  trace.model = "gpt-4o";
  trace.window = 8'192;
  return trace;
}

std::size_t times(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(TraceFeed, ShowsOnlyTheOwnersRequests) {
  TraceFeed feed;
  const auto ann = feed.watch("ann"), bob = feed.watch("bob");
  feed.add_finished(trace_of("ann", "t1"), {});
  feed.add_begun(trace_of("bob", "t2"));
  const std::string of_ann = ann->take().events, of_bob = bob->take().events;
  EXPECT_NE(of_ann.find("event: trace\ndata: {\"id\":\"t1\""), std::string::npos) << of_ann;
  EXPECT_EQ(of_ann.find("t2"), std::string::npos);
  EXPECT_NE(of_bob.find("event: begun\ndata: {\"id\":\"t2\""), std::string::npos) << of_bob;
  EXPECT_EQ(of_bob.find("t1"), std::string::npos);
  EXPECT_EQ(ann->take().events, "");
}

TEST(TraceFeed, TellsSlowViewersHowManyEventsTheyLost) {
  TraceFeed feed({.most_waiting = 3});
  const auto viewer = feed.watch("ann");
  for (int i = 0; i < 5; ++i) feed.add_begun(trace_of("ann", std::to_string(i)));
  const std::string events = viewer->take().events;
  EXPECT_EQ(times(events, "event: begun"), 3u);
  EXPECT_TRUE(events.ends_with("event: lost\ndata: {\"lost\":2}\n\n")) << events;
  feed.add_begun(trace_of("ann", "5"));
  EXPECT_EQ(viewer->take().events.find("lost"), std::string::npos);
}

TEST(TraceFeed, HasAPlaceForLimitedViewers) {
  TraceFeed feed({.most_viewers = 3, .most_of_one_owner = 2});
  auto first = feed.watch("ann");
  const auto second = feed.watch("ann");
  EXPECT_EQ(feed.watch("ann"), nullptr);
  const auto other = feed.watch("bob");
  EXPECT_EQ(feed.watch("cid"), nullptr);
  first.reset();
  EXPECT_NE(feed.watch("ann"), nullptr);
}

TEST(TraceFeed, EndsItsViewers) {
  TraceFeed feed;
  const auto viewer = feed.watch("ann");
  EXPECT_FALSE(viewer->take().is_over);
  feed.end();
  EXPECT_TRUE(viewer->take().is_over);
  EXPECT_EQ(feed.watch("ann"), nullptr);
}

// A plan's text cannot end an event early: JSON has no line breaks outside of escapes.
TEST(TraceFeed, KeepsHostileTextInsideItsEvent) {
  TraceFeed feed;
  const auto viewer = feed.watch("ann");
  Trace trace = trace_of("ann", "t");
  trace.asked_model = "x\n\nevent: end\ndata: {}\n\n\xff<script>";
  feed.add_begun(trace);
  const std::string events = viewer->take().events;
  EXPECT_EQ(times(events, "\n"), 3u) << events;
  const std::string data = events.substr(events.find('{'));
  EXPECT_FALSE(nlohmann::json::parse(data, nullptr, false).is_discarded());
}

TEST(TraceFeed, ServesManyThreads) {
  TraceFeed feed;
  std::vector<std::thread> threads;
  std::atomic<std::size_t> seen = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        const auto viewer = feed.watch("ann");
        feed.add_begun(trace_of("ann", "t"));
        if (viewer) seen += times(viewer->take().events, "event: begun");
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(seen, 800u);
}

}  // namespace
}  // namespace plimsoll::engine

#include "contract/traces/traces_contract.hpp"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/clock.hpp"

namespace plimsoll {
namespace {

using Names = std::vector<std::string>;

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::vector<Trace> traces_from(int first, int last) {
  std::vector<Trace> out;
  for (int i = first; i <= last; ++i) out.push_back(sample_trace(fmt::format("t{:06}", i)));
  return out;
}

}  // namespace

Trace sample_trace(const std::string& id, const std::string& session) {
  Trace trace;
  trace.id = id;
  trace.owner = "local";
  trace.session = session;
  trace.route = "/v1/chat/completions";
  trace.at_ms = now_ms();
  trace.model = "llama3.2:3b";
  trace.window = 8'192;
  trace.usage.input = 100;
  trace.drift = 0;
  trace.plan = R"({"messageCount":3})";
  trace.warnings = {"the answer was lowered"};
  return trace;
}

void TracesContract::SetUp() {
  ASSERT_FALSE(folder_.empty());
  reopen();
}

void TracesContract::TearDown() {
  store_.reset();
}

void TracesContract::reopen() {
  store_.reset();
  auto opened = GetParam().open(folder_);
  ASSERT_TRUE(opened) << opened.error().what;
  store_ = *std::move(opened);
}

void TracesContract::keep(const std::vector<Trace>& traces, const TraceLimits& limits) {
  const auto kept = store_->keep(traces, {}, {}, limits);
  ASSERT_TRUE(kept) << kept.error().what;
}

Names TracesContract::ids(const TraceStore::Wanted& wanted, std::string_view owner) {
  const auto traces = store_->traces(owner, wanted);
  EXPECT_TRUE(traces);
  Names out;
  if (traces)
    for (const Trace& trace : *traces) out.push_back(trace.id);
  return out;
}

TEST_P(TracesContract, KeepsATraceOverARestart) {
  const Trace trace = sample_trace("a1", "chat");
  keep({trace});
  reopen();
  const auto found = store_->trace("local", "a1");
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(trace_json(*found), trace_json(trace));
}

TEST_P(TracesContract, ListsTheLatestFirstOrTheOldest) {
  keep(traces_from(1, 9));
  EXPECT_EQ(ids({.limit = 3}), (Names{"t000009", "t000008", "t000007"}));
  EXPECT_EQ(ids({.limit = 2, .oldest_first = true}), (Names{"t000001", "t000002"}));
  EXPECT_EQ(ids({.after = "t000007", .oldest_first = true}), (Names{"t000008", "t000009"}));
  EXPECT_EQ(ids({.after = "t000007", .limit = 1}), (Names{"t000009"}));
  EXPECT_TRUE(ids({.after = "t000009"}).empty());
}

TEST_P(TracesContract, ListsThemAsTheyWereKept) {
  keep({sample_trace("b"), sample_trace("e")});
  keep({sample_trace("a"), sample_trace("d", "s")});
  keep({sample_trace("c")});
  EXPECT_EQ(ids({.oldest_first = true, .as_kept = true}), (Names{"b", "e", "a", "d", "c"}));
  EXPECT_EQ(ids({.limit = 2, .as_kept = true}), (Names{"c", "d"}));
  EXPECT_EQ(ids({.after = "e", .oldest_first = true, .as_kept = true}), (Names{"a", "d", "c"}));
  EXPECT_EQ(ids({.session = "s", .after = "e", .oldest_first = true, .as_kept = true}), Names{"d"});
  EXPECT_TRUE(ids({.after = "c", .as_kept = true}).empty());
}

TEST_P(TracesContract, ListsASession) {
  keep({sample_trace("a", "one"), sample_trace("b", "two"), sample_trace("c"), sample_trace("d", "one")});
  EXPECT_EQ(ids({.session = "one"}), (Names{"d", "a"}));
  EXPECT_EQ(ids({.session = "one", .after = "a"}), (Names{"d"}));
  EXPECT_TRUE(ids({.session = "three"}).empty());
}

TEST_P(TracesContract, ShowsNobodyWhatIsAnothers) {
  Trace other = sample_trace("b");
  other.owner = "somebody";
  keep({sample_trace("a"), other});
  EXPECT_EQ(ids(), Names{"a"});
  EXPECT_EQ(ids({}, "somebody"), Names{"b"});
  EXPECT_FALSE(store_->trace("local", "b"));
}

TEST_P(TracesContract, ShowsAllToWhoRunsTheProgram) {
  Trace other = sample_trace("bb", "s");
  other.owner = "somebody";
  keep({sample_trace("aa"), other});
  EXPECT_EQ(ids({}, ""), (Names{"bb", "aa"}));
  EXPECT_EQ(ids({.oldest_first = true, .as_kept = true}, ""), (Names{"aa", "bb"}));
  EXPECT_EQ(ids({.session = "s"}, ""), Names{"bb"});
  EXPECT_EQ(store_->trace("", "b")->id, "bb");
}

TEST_P(TracesContract, TakesAnIdThatIsShortButClear) {
  keep({sample_trace("0190aa"), sample_trace("0190ab"), sample_trace("0191cd"), sample_trace("0191")});
  EXPECT_EQ(store_->trace("local", "0190aa")->id, "0190aa");
  EXPECT_EQ(store_->trace("local", "0191c")->id, "0191cd");
  EXPECT_EQ(store_->trace("local", "0191")->id, "0191");  // one is called so
  EXPECT_EQ(store_->trace("local", "cd")->id, "0191cd");  // by its end
  const auto unclear = store_->trace("local", "0190");
  ASSERT_FALSE(unclear);
  EXPECT_EQ(unclear.error().code, Errc::bad_input);
  EXPECT_NE(unclear.error().what.find("0190aa, 0190ab"), std::string::npos);
  for (const char* none : {"x", "0190aaa", "%", "_"}) {
    const auto missing = store_->trace("local", none);
    ASSERT_FALSE(missing) << none;
    EXPECT_EQ(missing.error().code, Errc::not_found);
  }
  EXPECT_FALSE(store_->trace("local", ""));
}

TEST_P(TracesContract, DropsTheOldestBeyondACount) {
  keep(traces_from(1, 8), {.most = 5});
  EXPECT_EQ(ids(), (Names{"t000008", "t000007", "t000006", "t000005", "t000004"}));
  reopen();
  keep(traces_from(9, 9), {.most = 5});
  EXPECT_EQ(ids().size(), 5U);
  EXPECT_EQ(ids({.limit = 1, .oldest_first = true}), Names{"t000005"});
  keep({}, {.most = 2});
  EXPECT_EQ(ids(), (Names{"t000009", "t000008"}));
}

TEST_P(TracesContract, DropsTheOldestBeyondASize) {
  std::vector<Trace> traces = traces_from(1, 6);
  for (Trace& trace : traces) trace.prompt.assign(10'000, 'x');
  keep(traces, {.bytes = 35'000});
  EXPECT_EQ(ids(), (Names{"t000006", "t000005", "t000004"}));
  // Kept again with less to it, a trace costs what it has.
  traces.erase(traces.begin(), traces.begin() + 3);
  for (Trace& trace : traces) trace.prompt.clear();
  keep(traces, {.bytes = 35'000});
  keep(traces_from(7, 20), {.bytes = 35'000});
  EXPECT_EQ(ids().size(), 17U);
}

TEST_P(TracesContract, WhoHasMostGivesWay) {
  const TraceLimits limits{.most = 10};
  std::vector<Trace> quiet;
  for (int i = 0; i < 3; ++i) {
    quiet.push_back(sample_trace("a" + std::to_string(i), ""));
    quiet.back().owner = "quiet";
  }
  keep(quiet, limits);
  for (int i = 0; i < 40; ++i) {
    Trace loud = sample_trace("b" + std::to_string(100 + i), "");
    loud.owner = "loud";
    keep({loud}, limits);
  }
  EXPECT_EQ(ids({}, "quiet").size(), 3U) << "another's traffic drove them out";
  EXPECT_EQ(ids({}, "loud").size(), 7U);
  EXPECT_EQ(ids({}, "loud").front(), "b139");
  std::vector<Trace> more;
  for (int i = 0; i < 40; ++i) {
    more.push_back(sample_trace("c" + std::to_string(100 + i), ""));
    more.back().owner = "quiet";
  }
  keep(more, limits);
  EXPECT_EQ(ids({}, "quiet").size() + ids({}, "loud").size(), 10U);
  EXPECT_GE(ids({}, "loud").size(), 4U);
}

TEST_P(TracesContract, DropsWhatIsTooOld) {
  std::vector<Trace> traces = traces_from(1, 4);
  traces[0].at_ms -= 7'200'000;
  traces[1].at_ms -= 3'700'000;
  traces[2].at_ms -= 3'000'000;
  keep(traces, {.oldest_ms = 3'600'000});
  EXPECT_EQ(ids(), (Names{"t000004", "t000003"}));
}

TEST_P(TracesContract, KeepsAllOrNone) {
  std::vector<Trace> traces = traces_from(1, 3);
  traces[2].id.clear();
  const DriftHistory drift{{"u", "m", "f", "o"}, {{1, base::utc_ms()}}, 1};
  const auto kept = store_->keep(traces, std::span(&drift, 1), {}, {});
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, Errc::bad_input);
  EXPECT_TRUE(ids().empty());
  EXPECT_TRUE(store_->drift()->empty());
}

TEST_P(TracesContract, RemembersDriftByOwner) {
  const std::int64_t now = base::utc_ms();
  const DriftKey key{"ollama", "llama3.2:3b", "llama3", "ann"};
  const DriftHistory first{key, {{0, now}, {-4, now}, {120, now}}, 3};
  const DriftHistory other{{"ollama", "llama3.2:3b", "llama3", "bob"}, {{7, now}}, 9};
  ASSERT_TRUE(store_->keep({}, std::vector{first, other}, {}, {}));
  const DriftHistory later{key, {{-4, now}, {120, now}, {0, now + 1}}, 4};
  ASSERT_TRUE(store_->keep({}, std::span(&later, 1), {}, {}));
  reopen();
  const auto drift = store_->drift();
  ASSERT_TRUE(drift);
  ASSERT_EQ(drift->size(), 2U);
  EXPECT_EQ((*drift)[0].key, later.key);
  EXPECT_EQ((*drift)[0].recent, later.recent);
  EXPECT_EQ((*drift)[0].seen, 4);
  EXPECT_EQ((*drift)[1].seen, 9);
}

TEST_P(TracesContract, KeepsTheNewestDriftAndNoMoreThanItMay) {
  const std::int64_t now = base::utc_ms();
  std::vector<DriftHistory> many;
  for (std::int64_t i = 0; i < most_drift_kept + 500; ++i)
    many.push_back({{"u", std::to_string(i), "", "o"}, {{1, now + i}}, 1});
  ASSERT_TRUE(store_->keep({}, many, {}, {}));
  EXPECT_EQ(store_->drift()->size(), static_cast<std::size_t>(most_drift_kept));
  const DriftHistory old{{"old", "m", "", "o"}, {{1, now - drift_kept_ms - 1'000}}, 1};
  ASSERT_TRUE(store_->keep({}, std::span(&old, 1), {}, {}));
  const auto left = store_->drift();
  ASSERT_TRUE(left);
  for (const DriftHistory& kept : *left) {
    EXPECT_NE(kept.key.upstream, "old");
    EXPECT_NE(kept.key.model, "0");
  }
}

TEST_P(TracesContract, ForgetsDriftAndNotesTheOrder) {
  const std::int64_t now = base::utc_ms();
  const std::vector<DriftHistory> both{{{"u", "one", "", "o"}, {{1, now}}, 1},
                                       {{"u", "two", "", "o"}, {{1, now}}, 1}};
  ASSERT_TRUE(store_->keep({}, both, {}, {}));
  EXPECT_TRUE(store_->forget_orders(0)->empty());
  EXPECT_EQ(store_->forget_drift("one"), 1);
  ASSERT_EQ(store_->drift()->size(), 1U);
  EXPECT_EQ(store_->drift()->front().key.model, "two");
  EXPECT_EQ(store_->forget_drift(""), 1);
  const auto orders = store_->forget_orders(0);
  ASSERT_EQ(orders->size(), 2U);
  EXPECT_EQ(orders->front().model, "one");
  EXPECT_EQ(store_->forget_orders(orders->front().number)->size(), 1U);
  ASSERT_TRUE(store_->keep({}, both, {}, {}));
  EXPECT_EQ(store_->delete_drift("one"), 1);
  EXPECT_EQ(store_->delete_drift(""), 1);
  EXPECT_EQ(store_->forget_orders(0)->size(), 2U);  // no order for others
}

TEST_P(TracesContract, TakesAnyBytes) {
  Trace trace = sample_trace("a", "it's; DROP TABLE traces --");
  trace.model = std::string("\xff\0\"\\", 4);
  keep({trace});
  EXPECT_EQ(ids({.session = trace.session}), Names{"a"});
  EXPECT_EQ(store_->trace("local", "a")->model, std::string("\uFFFD\0\"\\", 6));
}

TEST_P(TracesContract, ServesManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const auto traces = traces_from(1'000 * t + 5 * i, 1'000 * t + 5 * i + 4);
        EXPECT_TRUE(store_->keep(traces, {}, {}, {}));
        EXPECT_TRUE(store_->trace("local", traces[0].id));
        EXPECT_FALSE(ids({.limit = 3}).empty());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ids({.limit = 1'000}).size(), 400U);
}

}  // namespace plimsoll

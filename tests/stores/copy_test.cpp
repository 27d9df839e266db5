// Copying a store into another of the same or of another kind. Those with PostgreSQL need a server.
#include <gtest/gtest.h>

#include "adapters/postgres/documents.hpp"
#include "adapters/postgres/facts.hpp"
#include "adapters/postgres/keys.hpp"
#include "adapters/postgres/sessions.hpp"
#include "adapters/postgres/tables.hpp"
#include "adapters/postgres/testing_server.hpp"
#include "adapters/postgres/traces.hpp"
#include "adapters/sqlite/facts.hpp"
#include "adapters/sqlite/keys.hpp"
#include "adapters/sqlite/sessions.hpp"
#include "adapters/sqlite/store.hpp"
#include "adapters/sqlite/tables.hpp"
#include "adapters/sqlite/traces.hpp"
#include "base/clock.hpp"
#include "base/temporary_folder.hpp"
#include "base/try.hpp"
#include "contract/store/store_contract.hpp"

namespace plimsoll {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreContract);

namespace {

// All stores of one kind, in a folder.
struct Kind {
  std::string name;
  std::function<Result<std::unique_ptr<base::TableRows>>(const std::filesystem::path&)> tables;
  std::function<Result<std::unique_ptr<Store>>(const std::filesystem::path&)> documents;
  std::function<Result<std::unique_ptr<KeyStore>>(const std::filesystem::path&)> keys;
  std::function<Result<std::unique_ptr<TraceStore>>(const std::filesystem::path&)> traces;
  std::function<Result<std::unique_ptr<SessionStore>>(const std::filesystem::path&)> sessions;
  std::function<Result<std::unique_ptr<FactStore>>(const std::filesystem::path&)> facts;
};

Kind file_kind() {
  const auto file = [](const std::filesystem::path& folder) { return folder / "store.db"; };
  return {"File",
          [=](const auto& folder) { return sqlite::open_tables(file(folder), {}); },
          [=](const auto& folder) { return sqlite::open_store(file(folder)); },
          [=](const auto& folder) { return sqlite::open_keys(file(folder)); },
          [=](const auto& folder) { return sqlite::open_traces(file(folder)); },
          [=](const auto& folder) { return sqlite::open_sessions(file(folder)); },
          [=](const auto& folder) { return sqlite::open_facts(file(folder)); }};
}

Kind server_kind() {
  using postgres::test_options;
  return {"Server",
          [](const auto& folder) { return postgres::open_tables(test_options(folder)); },
          [](const auto& folder) { return postgres::open_documents(test_options(folder)); },
          [](const auto& folder) { return postgres::open_keys(test_options(folder)); },
          [](const auto& folder) { return postgres::open_traces(test_options(folder)); },
          [](const auto& folder) { return postgres::open_sessions(test_options(folder)); },
          [](const auto& folder) { return postgres::open_facts(test_options(folder)); }};
}

struct Way {
  Kind from, to;
};
std::vector<Way> ways() {
  std::vector<Way> out{{file_kind(), file_kind()}};
  if (postgres::test_server() == nullptr) return out;
  out.push_back({file_kind(), server_kind()});
  out.push_back({server_kind(), file_kind()});
  out.push_back({server_kind(), server_kind()});
  return out;
}

IndexSettings with_vectors() {
  return {.tokenizer = "o200k_base",
          .chunk_tokens = 200,
          .embedders = {{.name = "a", .dimensions = 4, .max_tokens = 256},
                        {.name = "b", .dimensions = 2, .max_tokens = 0}}};
}

Result<void> fill_documents(Store& store) {
  TRY(const IndexInfo plain, store.create_index("local", "plain", {}));
  TRY(const IndexInfo rich, store.create_index("key_1", "rich \xc3\xa4", with_vectors()));
  for (int i = 0; i < 30; ++i) {  // by turns, so that ids of chunks of the two are mixed in a file
    std::vector<std::string> texts(static_cast<std::size_t>(i % 4), "some text " + std::to_string(i));
    DocumentWithVectors one = sample_document("d" + std::to_string(i), texts, {});
    one.document.metadata = {{"n", std::to_string(i % 3)}, {"s", "\"x\""}};
    if (i % 2 == 0) one.document.file = {.path = "/p/" + one.document.key, .root = "/p"};
    TRY_VOID(store.put(plain.id, std::span(&one, 1)));
    DocumentWithVectors two = sample_document("d" + std::to_string(i), texts, {4, 2});
    two.document.origins = {{0, 10, 5}};
    TRY_VOID(store.put(rich.id, std::span(&two, 1)));
  }
  const std::vector<std::string> gone{"d3", "d7", "d29"};
  TRY_VOID(store.remove(rich.id, gone));
  TRY_VOID(store.create_index("local", "empty", with_vectors()));
  return {};
}

Result<void> fill(const Kind& kind, const std::filesystem::path& folder) {
  TRY(const auto documents, kind.documents(folder));
  TRY_VOID(fill_documents(*documents));
  TRY(const auto keys, kind.keys(folder));
  for (const char* name : {"ann", "bob"}) {
    ApiKey key;
    key.id = std::string("key_") + name;
    key.name = name;
    key.hash = std::string("hash of ") + name;
    key.limits.tokens_per_day = 1'000;
    TRY_VOID(keys->add(key));
  }
  TRY_VOID(keys->revoke("bob"));
  TRY(const auto traces, kind.traces(folder));
  std::vector<Trace> some(3);
  for (std::size_t i = 0; i < some.size(); ++i) {
    some[i].id = "trace-" + std::to_string(i);
    some[i].owner = "key_ann";
    some[i].at_ms = base::utc_ms();
  }
  std::vector<DriftHistory> drift(1);
  drift[0].key = {"up", "mod\"el", "openai", ""};
  drift[0].recent = {{5, base::utc_ms() - 10}, {-7, base::utc_ms()}};
  drift[0].seen = 2;
  std::vector<UsedTokens> used(1);
  used[0].day = 20'000;
  used[0].owner = "key_ann";
  used[0].model = "model";
  used[0].section = "input";
  used[0].tokens = 123;
  TRY_VOID(traces->keep(some, drift, used, {}));
  TRY_VOID(traces->forget_drift("another"));
  TRY(const auto sessions, kind.sessions(folder));
  const std::int64_t now = base::utc_ms();
  const std::vector<Turn> turns{{"user", std::string("Ahoy\0!", 6), now, "trace-0", "plain", "m"},
                                {"assistant", "Aye", now, "trace-0", "plain", "m"}};
  TRY_VOID(sessions->append("key_ann", "s", turns, {}));
  KeptSummary summary;
  summary.hash = "h";
  summary.text = "short";
  summary.originals = "[]";
  summary.at_ms = now;
  TRY_VOID(sessions->keep_summary("key_ann", "s", summary, {}));
  const std::vector<TurnVector> vectors{{"h", std::string("\0\xff", 2)}};
  TRY_VOID(sessions->keep_turn_vectors("key_ann", "s", "e", vectors, now, 1'000'000'000));
  TRY_VOID(sessions->append("key_ann", "gone", turns, {}));
  TRY_VOID(sessions->forget("key_ann", "gone"));
  Run run;
  run.id = "run";
  run.owner = "key_ann";
  run.kind = "evaluation";
  run.asked = "{}";
  TRY_VOID(sessions->begin_run(run, 10));
  TRY_VOID(sessions->add_part("key_ann", "run", "{\"a\":1}"));
  TRY(const auto facts, kind.facts(folder));
  Fact fact;
  fact.id = "mem_1";
  fact.owner = "key_ann";
  fact.text = "Ann sails on Friday";
  fact.importance = 0.1;
  TRY_VOID(facts->add(fact, false, {"e", {0.6F, 0.8F}}, 100));
  TRY_VOID(facts->feedback("key_ann", "mem_1", true));
  return {};
}

bool go_on(const base::CopyProgress&) {
  return true;
}

class CopyStores : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    const auto filled = fill(from(), source_.path());
    ASSERT_TRUE(filled) << filled.error().what;
  }
  const Kind& from() const { return GetParam().from; }
  const Kind& to() const { return GetParam().to; }
  Result<base::CopyReport> copy(const base::CopyWatch& watch = go_on) {
    TRY(const auto source, from().tables(source_.path()));
    TRY(const auto target, to().tables(target_.path()));
    return base::copy_tables(*source, *target, watch);
  }

  base::TemporaryFolder source_{"copy"}, target_{"copy"};
};

std::int64_t rows_of(const base::CopyReport& report, std::string_view table) {
  for (const auto& one : report.tables)
    if (one.name == table) return one.rows;
  return -1;
}

TEST_P(CopyStores, EverythingIsThereAndTheSame) {
  const auto report = copy();
  ASSERT_TRUE(report) << report.error().what;
  ASSERT_EQ(report->tables.size(), base::copied_tables().size());
  std::int64_t all = 0;
  for (const auto& table : report->tables) {
    EXPECT_GT(table.rows, 0) << table.name << ": nothing was tested";
    all += table.rows;
  }
  EXPECT_EQ(report->copied, all);
  EXPECT_EQ(rows_of(*report, "indexes"), 3);
  EXPECT_EQ(rows_of(*report, "documents"), 57);

  const auto before = from().documents(source_.path()), after = to().documents(target_.path());
  ASSERT_TRUE(before && after);
  int compared = 0;
  for (const auto& [owner, name] : std::vector<std::pair<std::string, std::string>>{
           {"local", "plain"}, {"key_1", "rich \xc3\xa4"}, {"local", "empty"}}) {
    const auto was = (*before)->find_index(owner, name), is = (*after)->find_index(owner, name);
    ASSERT_TRUE(was && is);
    EXPECT_EQ(was->documents, is->documents);
    EXPECT_EQ(was->chunks, is->chunks);
    EXPECT_EQ(was->tokens, is->tokens);
    EXPECT_EQ(was->created_ms, is->created_ms);
    EXPECT_EQ(was->settings.embedders, is->settings.embedders);
    EXPECT_EQ((*after)->living(is->id)->size(), static_cast<std::size_t>(is->chunks));
    const auto faults = (*after)->verify(is->id);
    ASSERT_TRUE(faults);
    EXPECT_TRUE(faults->empty()) << faults->front();
    const auto heads = (*before)->documents(was->id, {}, 0, 1'000);
    ASSERT_TRUE(heads);
    for (const DocumentHead& head : *heads) {
      const auto copied = (*after)->head(is->id, head.key);
      ASSERT_TRUE(copied && *copied);
      EXPECT_EQ((*copied)->file, head.file);
      EXPECT_EQ((*copied)->added_ms, head.added_ms);
      const auto a = (*before)->document(head.id), b = (*after)->document((*copied)->id);
      ASSERT_TRUE(a && b);
      EXPECT_EQ(a->document.text, b->document.text);
      EXPECT_EQ(a->document.metadata, b->document.metadata);
      EXPECT_EQ(a->document.origins, b->document.origins);
      for (std::size_t e = 0; e < a->vectors.size(); ++e)
        for (std::size_t c = 0; c < a->vectors[e].size(); ++c) {
          EXPECT_EQ(a->vectors[e][c].whole, b->vectors[e][c].whole);
          EXPECT_EQ(a->vectors[e][c].sentences, b->vectors[e][c].sentences);
        }
      ++compared;
    }
  }
  EXPECT_EQ(compared, 57);
  const auto index = (*after)->find_index("local", "plain");
  EXPECT_EQ((*after)->matching(index->id, {{"n", "1"}})->size(), 10U);
}

TEST_P(CopyStores, TheCopyIsReadyForUse) {
  ASSERT_TRUE(copy());
  const auto documents = to().documents(target_.path());
  ASSERT_TRUE(documents);
  const auto index = (*documents)->find_index("key_1", "rich \xc3\xa4");
  ASSERT_TRUE(index);
  const auto living = (*documents)->living(index->id);
  const auto more = sample_document("more", {"1", "2"}, {4, 2});
  const auto put = (*documents)->put(index->id, std::span(&more, 1));
  ASSERT_TRUE(put) << put.error().what;
  EXPECT_GT((*documents)->living(index->id)->back(), living->back());
  EXPECT_TRUE((*documents)->verify(index->id)->empty());
  EXPECT_TRUE((*documents)->create_index("local", "new", {}));
  const auto keys = to().keys(target_.path());
  EXPECT_EQ((*keys)->find("hash of ann")->limits.tokens_per_day, 1'000);
  EXPECT_TRUE((*keys)->find("hash of bob")->revoked);
  ApiKey key;
  key.id = "key_3";
  key.name = "cid";
  key.hash = "hash of cid";
  EXPECT_TRUE((*keys)->add(key));
  const auto sessions = to().sessions(target_.path());
  const std::vector<Turn> turn{{"user", "And?", base::utc_ms(), "", "", ""}};
  EXPECT_TRUE((*sessions)->append("key_ann", "s", turn, {}));
  EXPECT_EQ((*sessions)->turns("key_ann", "s")->size(), 3U);
  EXPECT_EQ((*sessions)->run("key_ann", "evaluation", "run")->parts, std::vector<std::string>{"{\"a\":1}"});
  const auto facts = to().facts(target_.path());
  EXPECT_EQ((*facts)->history("key_ann", "mem_1")->size(), 1U);
  EXPECT_TRUE((*facts)->feedback("key_ann", "mem_1", false));
  const auto traces = to().traces(target_.path());
  EXPECT_EQ((*traces)->traces("key_ann", {})->size(), 3U);
  const auto drift = (*traces)->drift();
  ASSERT_TRUE(drift);
  ASSERT_EQ(drift->size(), 1U);
  EXPECT_EQ(drift->at(0).recent.size(), 2U);
  EXPECT_EQ(drift->at(0).recent[1].difference, -7);
}

TEST_P(CopyStores, GoesOnWhereItWasStopped) {
  int stops = 0;
  std::int64_t copied = 0;
  base::CopyReport none;
  none.stopped = true;
  Result<base::CopyReport> report = none;
  while (report && report->stopped && stops < 100) {
    bool has_copied = false;
    report = copy([&](const base::CopyProgress& progress) {
      EXPECT_LE(progress.done, progress.total);
      if (progress.step != base::CopyStep::copying || has_copied)
        return progress.step != base::CopyStep::copying;
      return !(has_copied = true);
    });
    ASSERT_TRUE(report) << report.error().what;
    copied += report->copied;
    ++stops;
  }
  EXPECT_GT(stops, 10);
  EXPECT_LT(stops, 100);
  std::int64_t all = 0;
  for (const auto& table : report->tables) all += table.rows;
  EXPECT_EQ(copied, all);
  const auto again = copy();  // nothing is left to do
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->copied, 0);
  for (std::size_t t = 0; t < again->tables.size(); ++t)
    EXPECT_EQ(again->tables[t].checksum, report->tables[t].checksum) << again->tables[t].name;
}

TEST_P(CopyStores, RefusesATargetWithSomethingElse) {
  const auto keys = to().keys(target_.path());
  ApiKey key;
  key.id = "key_x";
  key.name = "other";
  key.hash = "hash of other";
  ASSERT_TRUE((*keys)->add(key));
  const auto refused = copy();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::bad_input);
  EXPECT_NE(refused.error().what.find("'keys'"), std::string::npos) << refused.error().what;
  EXPECT_EQ((*to().documents(target_.path()))->indexes("local")->size(), 0U);  // nothing was copied
}

TEST_P(CopyStores, NoticesWhatChangedMeanwhile) {
  bool changed = false;
  const auto report = copy([&](const base::CopyProgress& progress) {
    if (progress.step == base::CopyStep::verifying && !std::exchange(changed, true)) {
      const auto facts = from().facts(source_.path());
      EXPECT_TRUE(facts && (*facts)->feedback("key_ann", "mem_1", true));
    }
    return true;
  });
  ASSERT_TRUE(changed);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Errc::damaged);
  EXPECT_NE(report.error().what.find("'facts' differs"), std::string::npos) << report.error().what;
}

INSTANTIATE_TEST_SUITE_P(Stores, CopyStores, testing::ValuesIn(ways()),
                         [](const auto& made) { return made.param.from.name + "To" + made.param.to.name; });

}  // namespace
}  // namespace plimsoll

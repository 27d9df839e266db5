#include "adapters/sqlite/facts.hpp"

#include <cstring>

#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/fact_scrub.hpp"
#include "adapters/sqlite/rows.hpp"
#include "adapters/sqlite/shared_database.hpp"
#include "base/clock.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

constexpr std::string_view columns =
    "name, owner, session, text, importance, trust, created_ms, updated_ms, source";
constexpr std::int64_t most_feedback = 100;  // kept of one fact
constexpr std::size_t page_bytes = 8'192;    // of a store (make_ready)

Fact fact_in(const Statement& row) {
  return {std::string(row.text(0)),
          std::string(row.text(1)),
          std::string(row.text(2)),
          std::string(row.text(3)),
          row.real(4),
          row.real(5),
          row.integer(6),
          row.integer(7),
          std::string(row.text(8))};
}

// Facts fit into a page, and no two of them do.
std::vector<std::byte> padding_for(std::size_t text_bytes, std::size_t vector_bytes) {
  const std::size_t held = text_bytes + vector_bytes;
  const std::size_t wanted = page_bytes / 2 + 64;
  return std::vector<std::byte>(held < wanted ? wanted - held : 0);
}

std::span<const std::byte> bytes_of(const FactVector& vector) {
  return std::as_bytes(std::span(vector.values));
}

FactVector vector_in(const Statement& row, int embedder, int values) {
  FactVector vector{std::string(row.text(embedder)), {}};
  const auto bytes = row.blob(values);
  vector.values.resize(bytes.size() / sizeof(float));
  if (!vector.values.empty())
    std::memcpy(vector.values.data(), bytes.data(), vector.values.size() * sizeof(float));
  return vector;
}

// What follows WHERE, and its parameters.
std::string_view condition_of(const FactScope& scope) {
  if (!scope.session) return "owner = ? AND ? = ''";
  return scope.shared ? "owner = ? AND session IN ('', ?)" : "owner = ? AND session = ?";
}
void bind_scope(Statement& row, const FactScope& scope) {
  row.bind(std::string_view(scope.owner));
  row.bind(scope.session ? std::string_view(*scope.session) : std::string_view());
}

tl::unexpected<Error> no_fact(std::string_view id) {
  return fail(Errc::not_found, "there is no memory '{}'", id.substr(0, 60));
}

Result<std::int64_t> row_named(Connection& connection, std::string_view owner, std::string_view id) {
  TRY(auto row, connection.prepare("SELECT id FROM facts WHERE name = ? AND owner = ?"));
  TRY(const bool found, row.bind(id).bind(owner).step());
  if (!found) return no_fact(id);
  return row.integer(0);
}

Result<Fact> select_fact(Connection& connection, std::string_view owner, std::string_view id) {
  TRY(auto row,
      connection.prepare(fmt::format("SELECT {} FROM facts WHERE name = ? AND owner = ?", columns)));
  TRY(const bool found, row.bind(id).bind(owner).step());
  if (!found) return no_fact(id);
  return fact_in(row);
}

// The id of the fact that says the same already, or empty.
Result<std::string> same_fact(Connection& connection, const Fact& fact) {
  TRY(auto row,
      connection.prepare("SELECT name FROM facts WHERE owner = ? AND session = ? AND text = ? LIMIT 1"));
  TRY(const bool found, row.bind(fact.owner).bind(fact.session).bind(fact.text).step());
  return found ? std::string(row.text(0)) : std::string();
}

Result<void> check_room(Connection& connection, std::string_view owner, std::int64_t most) {
  TRY(auto row, connection.prepare("SELECT count(*) FROM facts WHERE owner = ?"));
  TRY_VOID(row.bind(owner).step());
  if (row.integer(0) < most) return {};
  return fail(Errc::bad_input, "{} memories are kept already, and no more may be: forget some (max_memories)",
              row.integer(0));
}

Result<void> insert_fact(Connection& connection, const Fact& fact, const FactVector& vector) {
  const auto padding = padding_for(fact.text.size(), bytes_of(vector).size());
  TRY(auto insert, connection.prepare("INSERT INTO facts (name, owner, session, text, importance, trust, "
                                      "created_ms, updated_ms, source, embedder, vector, padding) VALUES (?, "
                                      "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(fact.id).bind(fact.owner).bind(fact.session).bind(fact.text);
  insert.bind(fact.importance).bind(fact.trust).bind(fact.created_ms).bind(fact.updated_ms);
  insert.bind(fact.source).bind(vector.embedder).bind(bytes_of(vector));
  return insert.bind(std::span<const std::byte>(padding)).run();
}

Result<FactStore::Added> add_fact(Connection& connection, const Fact& fact, bool weighed,
                                  const FactVector& vector, std::int64_t most) {
  TRY(const std::string same, same_fact(connection, fact));
  const std::int64_t now = base::utc_ms();
  if (same.empty()) {
    TRY_VOID(check_room(connection, fact.owner, most));
    Fact kept = fact;
    kept.created_ms = kept.created_ms > 0 ? kept.created_ms : now;
    kept.updated_ms = std::max(kept.updated_ms, kept.created_ms);
    TRY_VOID(insert_fact(connection, kept, vector));
    return FactStore::Added{std::move(kept), true};
  }
  {
    TRY(auto update, connection.prepare("UPDATE facts SET importance = iif(?, ?, importance), updated_ms = ? "
                                        "WHERE name = ?"));
    TRY_VOID(update.bind(std::int64_t{weighed}).bind(fact.importance).bind(now).bind(same).run());
  }
  TRY(Fact renewed, select_fact(connection, fact.owner, same));
  return FactStore::Added{std::move(renewed), false};
}

Result<Fact> give_feedback(Connection& connection, std::string_view owner, std::string_view id,
                           bool helpful) {
  TRY(const std::int64_t row, row_named(connection, owner, id));
  TRY(Fact fact, select_fact(connection, owner, id));
  const std::int64_t now = base::utc_ms();
  fact.trust = trust_after(fact.trust, helpful);
  if (helpful) fact.updated_ms = std::max(fact.updated_ms, now);
  TRY(auto update, connection.prepare("UPDATE facts SET trust = ?, updated_ms = ? WHERE id = ?"));
  TRY_VOID(update.bind(fact.trust).bind(fact.updated_ms).bind(row).run());
  TRY(auto insert, connection.prepare("INSERT INTO fact_feedback (fact_id, owner, at_ms, helpful, trust) "
                                      "VALUES (?, ?, ?, ?, ?)"));
  insert.bind(row).bind(owner).bind(now).bind(std::int64_t{helpful ? 1 : 0}).bind(fact.trust);
  TRY_VOID(insert.run());
  TRY(auto prune, connection.prepare("DELETE FROM fact_feedback WHERE fact_id = ?1 AND id <= (SELECT id FROM "
                                     "fact_feedback WHERE fact_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)"));
  TRY_VOID(prune.bind(row).bind(most_feedback).run());
  return fact;
}

Result<std::vector<FactFeedback>> select_feedback(Connection& connection, std::int64_t fact) {
  TRY(auto row, connection.prepare("SELECT helpful, at_ms, trust FROM fact_feedback WHERE fact_id = ? ORDER "
                                   "BY id"));
  row.bind(fact);
  std::vector<FactFeedback> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    out.push_back({row.integer(0) != 0, row.integer(1), row.real(2)});
  }
}

Result<std::vector<Fact>> select_facts(Connection& connection, const FactScope& scope, std::size_t limit) {
  TRY(auto row, connection.prepare(fmt::format("SELECT {} FROM facts WHERE {} ORDER BY id DESC LIMIT ?",
                                               columns, condition_of(scope))));
  bind_scope(row, scope);
  row.bind(static_cast<std::int64_t>(limit));
  std::vector<Fact> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    out.push_back(fact_in(row));
  }
}

Result<std::int64_t> delete_facts(Connection& connection, std::string_view owner,
                                  std::span<const Fact> gone) {
  std::int64_t deleted = 0;
  TRY(auto remove, connection.prepare("DELETE FROM facts WHERE name = ? AND owner = ?"));
  for (const Fact& fact : gone) {
    remove.again();
    TRY_VOID(remove.bind(fact.id).bind(owner).run());
    deleted += connection.changes();
  }
  return deleted;
}

class SqliteFacts final : public FactStore {
 public:
  explicit SqliteFacts(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<Added> add(const Fact& fact, bool weighed, const FactVector& vector, std::int64_t most) override {
    return database_->written(
        [&](Connection& connection) { return add_fact(connection, fact, weighed, vector, most); });
  }
  Result<void> set_vector(std::string_view owner, std::string_view id, const FactVector& vector) override {
    return database_->written([&](Connection& connection) -> Result<void> {
      TRY(const Fact fact, select_fact(connection, owner, id));
      const auto padding = padding_for(fact.text.size(), bytes_of(vector).size());
      TRY(auto update, connection.prepare("UPDATE facts SET embedder = ?, vector = ?, padding = ? WHERE name "
                                          "= ?"));
      update.bind(vector.embedder).bind(bytes_of(vector));
      return update.bind(std::span<const std::byte>(padding)).bind(id).run();
    });
  }
  Result<Fact> fact(std::string_view owner, std::string_view id) override {
    TRY(auto connection, database_->lease());
    return select_fact(*connection, owner, id);
  }
  Result<std::vector<Fact>> facts(const FactScope& scope, std::size_t limit) override {
    TRY(auto connection, database_->lease());
    return select_facts(*connection, scope, limit);
  }
  Result<bool> has_facts(const FactScope& scope) override {
    TRY(auto connection, database_->lease());
    TRY(auto row, connection->prepare(
                      fmt::format("SELECT EXISTS (SELECT 1 FROM facts WHERE {})", condition_of(scope))));
    bind_scope(row, scope);
    TRY_VOID(row.step());
    return row.integer(0) != 0;
  }
  Result<void> each_fact(const FactScope& scope, const Visitor& visit) override {
    TRY(auto connection, database_->lease());
    TRY(auto row, connection->prepare(fmt::format("SELECT {}, embedder, vector FROM facts WHERE {}", columns,
                                                  condition_of(scope))));
    bind_scope(row, scope);
    while (true) {
      TRY(const bool more, row.step());
      if (!more) return {};
      visit(fact_in(row), vector_in(row, 9, 10));
    }
  }
  Result<Fact> feedback(std::string_view owner, std::string_view id, bool helpful) override {
    return database_->written(
        [&](Connection& connection) { return give_feedback(connection, owner, id, helpful); });
  }
  Result<std::vector<FactFeedback>> history(std::string_view owner, std::string_view id) override {
    TRY(auto connection, database_->lease());
    TRY(const std::int64_t row, row_named(*connection, owner, id));
    return select_feedback(*connection, row);
  }
  Result<Forgotten> forget(std::string_view owner, std::string_view id) override {
    TRY(Fact gone, fact(owner, id));
    return forget_all(owner, std::span(&gone, 1));
  }
  Result<Forgotten> forget_session(std::string_view owner, std::string_view session) override {
    if (session.empty()) return fail(Errc::bad_input, "which session's memories are to be forgotten?");
    constexpr std::size_t all = 1'000'000'000;
    TRY(const auto gone, facts({std::string(owner), std::string(session)}, all));
    return forget_all(owner, gone);
  }

 private:
  // The facts and what traces tell of them go in one step. Which traces those are is found out before, while
  // others may write; only what came since is looked at within.
  Result<Forgotten> forget_all(std::string_view owner, std::span<const Fact> gone) {
    if (gone.empty()) return Forgotten{.purged = true};
    TellingTraces telling;
    {
      TRY(auto connection, database_->lease());
      TRY(telling, telling_traces(*connection, owner, gone));
    }
    TRY(Forgotten out, database_->written([&](Connection& connection) -> Result<Forgotten> {
      Forgotten done;
      TRY(done.facts, delete_facts(connection, owner, gone));
      TRY(const bool holds, still_holds(connection, telling));
      if (!holds) telling = {};
      TRY(const auto since, telling_traces(connection, owner, gone, telling.last));
      telling.rows.insert(telling.rows.end(), since.rows.begin(), since.rows.end());
      TRY(done.traces, scrub_traces(connection, owner, telling.rows, gone));
      return done;
    }));
    out.purged = purge();
    return out;
  }

  // The log holds what stood in its pages before.
  bool purge() {
    const auto done = database_->alone(
        [](Connection& connection) -> Result<bool> { return connection.empty_log(std::chrono::seconds(2)); });
    return done && *done;
  }

  const std::shared_ptr<Database> database_;
};

}  // namespace

Result<std::unique_ptr<FactStore>> open_facts(const std::filesystem::path& file, const OpenOptions& options) {
  return open_as_allowed<SqliteFacts>(file, options, "`plimsoll memory add TEXT` makes one",
                                      [](auto& made) { return made.has_facts({"local"}).has_value(); });
}

}  // namespace plimsoll::sqlite

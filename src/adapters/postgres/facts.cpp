#include "adapters/postgres/facts.hpp"

#include <cstring>

#include "adapters/postgres/database.hpp"
#include "base/clock.hpp"
#include "base/json/json_text.hpp"
#include "base/json/scrub_trace.hpp"

namespace plimsoll::postgres {
namespace {

constexpr std::string_view fact_columns =
    "name, owner, session, text, importance, trust, created_ms, updated_ms, source";
constexpr std::int64_t most_feedback = 100;  // kept of one fact

Fact fact_in(const Rows& rows, int row) {
  return {rows.text(row, 0), rows.text(row, 1),    rows.text(row, 2),    rows.text(row, 3), rows.real(row, 4),
          rows.real(row, 5), rows.integer(row, 6), rows.integer(row, 7), rows.text(row, 8)};
}

std::string_view bytes_of(const FactVector& vector) {
  return {reinterpret_cast<const char*>(vector.values.data()), vector.values.size() * sizeof(float)};
}

FactVector vector_in(const Rows& rows, int row, int embedder, int values) {
  FactVector vector{rows.text(row, embedder), {}};
  const std::string_view bytes = rows.bytes(row, values);
  vector.values.resize(bytes.size() / sizeof(float));
  if (!vector.values.empty())
    std::memcpy(vector.values.data(), bytes.data(), vector.values.size() * sizeof(float));
  return vector;
}

// What follows WHERE, and its parameters $1 and $2.
std::string_view condition_of(const FactScope& scope) {
  if (!scope.session) return "owner = $1 AND $2 = ''::bytea";
  return scope.shared ? "owner = $1 AND session IN (''::bytea, $2)" : "owner = $1 AND session = $2";
}
Values& add_scope(Values& values, const FactScope& scope) {
  values.add(std::string_view(scope.owner));
  return values.add(scope.session ? std::string_view(*scope.session) : std::string_view());
}

tl::unexpected<Error> no_fact(std::string_view id) {
  return fail(Errc::not_found, "there is no memory '{}'", id.substr(0, 60));
}

struct FoundFact {
  std::int64_t row = 0;
  Fact fact;
};
Result<FoundFact> select_fact(Connection& connection, std::string_view owner, std::string_view id,
                              std::string_view locking = {}) {
  const std::string sql =
      fmt::format("SELECT {}, id FROM facts WHERE name = $1 AND owner = $2 {}", fact_columns, locking);
  TRY(const Rows rows, connection.run(sql, Values().add(id).add(owner)));
  if (rows.empty()) return no_fact(id);
  return FoundFact{rows.integer(0, 9), fact_in(rows, 0)};
}

Result<FactStore::Added> insert_fact(Connection& connection, Fact fact, const FactVector& vector,
                                     std::int64_t most, std::int64_t now) {
  TRY(const Rows room, connection.run("SELECT count(*) FROM facts WHERE owner = $1",
                                      Values().add(std::string_view(fact.owner))));
  if (room.integer(0, 0) >= most)
    return fail(Errc::bad_input,
                "{} memories are kept already, and no more may be: forget some (max_memories)",
                room.integer(0, 0));
  fact.created_ms = fact.created_ms > 0 ? fact.created_ms : now;
  fact.updated_ms = std::max(fact.updated_ms, fact.created_ms);
  Values values;
  values.add(std::string_view(fact.id)).add(std::string_view(fact.owner)).add(std::string_view(fact.session));
  values.add(std::string_view(fact.text)).add(fact.importance).add(fact.trust).add(fact.created_ms);
  values.add(fact.updated_ms).add(std::string_view(fact.source)).add(std::string_view(vector.embedder));
  values.add(bytes_of(vector));
  TRY_VOID(connection.run(
      "INSERT INTO facts (name, owner, session, text, importance, trust, created_ms, updated_ms, "
      "source, embedder, vector) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
      values));
  return FactStore::Added{std::move(fact), true};
}

Result<FactStore::Added> add_fact(Connection& connection, const Fact& fact, bool weighed,
                                  const FactVector& vector, std::int64_t most) {
  const std::int64_t now = base::utc_ms();
  Values values;
  values.add(std::string_view(fact.owner))
      .add(std::string_view(fact.session))
      .add(std::string_view(fact.text));
  values.add(weighed).add(fact.importance).add(now);
  TRY(const Rows same,
      connection.run(
          fmt::format(
              "UPDATE facts SET importance = CASE WHEN $4::boolean THEN $5 ELSE importance END, "
              "updated_ms = $6 WHERE id = (SELECT id FROM facts WHERE owner = $1 AND session = $2 AND "
              "text = $3 ORDER BY id LIMIT 1) RETURNING {}",
              fact_columns),
          values));
  if (!same.empty()) return FactStore::Added{fact_in(same, 0), false};
  return insert_fact(connection, fact, vector, most, now);
}

Result<Fact> give_feedback(Connection& connection, std::string_view owner, std::string_view id,
                           bool helpful) {
  TRY(FoundFact found, select_fact(connection, owner, id, "FOR UPDATE"));
  Fact& fact = found.fact;
  const std::int64_t now = base::utc_ms();
  fact.trust = trust_after(fact.trust, helpful);
  if (helpful) fact.updated_ms = std::max(fact.updated_ms, now);
  TRY_VOID(connection.run("UPDATE facts SET trust = $2, updated_ms = $3 WHERE id = $1",
                          Values().add(found.row).add(fact.trust).add(fact.updated_ms)));
  TRY_VOID(connection.run(
      "INSERT INTO fact_feedback (fact_id, owner, at_ms, helpful, trust) VALUES ($1, $2, $3, $4, $5)",
      Values().add(found.row).add(owner).add(now).add(helpful).add(fact.trust)));
  TRY_VOID(connection.run(
      "DELETE FROM fact_feedback WHERE fact_id = $1 AND id <= (SELECT id FROM fact_feedback WHERE "
      "fact_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)",
      Values().add(found.row).add(most_feedback)));
  return std::move(fact);
}

std::string as_in_json(std::string_view text) {
  std::string out;
  base::append_json_string(out, text);
  return out.substr(1, out.size() - 2);
}

// The server looks for the traces that have something of the fact; what is taken out of them is decided here.
Result<std::int64_t> scrub_traces(Connection& connection, std::string_view owner, const Fact& fact) {
  const std::string once = as_in_json(fact.text), twice = as_in_json(once);
  Values values;
  values.add(owner).add(std::string_view(once)).add(std::string_view(twice)).add(std::string_view(fact.id));
  TRY(const Rows rows,
      connection.run("SELECT number, json FROM traces WHERE owner = $1 AND (position($2 IN json) > 0 OR "
                     "position($3 IN json) > 0 OR position($4::bytea IN json) > 0)",
                     values));
  std::int64_t changed = 0;
  for (int row = 0; row < rows.count(); ++row) {
    std::string json = rows.text(row, 1);
    if (!base::scrub_trace(json, fact.id, fact.text)) continue;
    TRY_VOID(connection.run("UPDATE traces SET json = $2 WHERE number = $1",
                            Values().add(rows.integer(row, 0)).add(std::string_view(json))));
    ++changed;
  }
  return changed;
}

class PostgresFacts final : public FactStore {
 public:
  explicit PostgresFacts(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<Added> add(const Fact& fact, bool weighed, const FactVector& vector, std::int64_t most) override {
    return database_->written(database_->lock_key("facts", fact.owner), [&](Connection& connection) {
      return add_fact(connection, fact, weighed, vector, most);
    });
  }
  Result<void> set_vector(std::string_view owner, std::string_view id, const FactVector& vector) override {
    return database_->written([&](Connection& connection) -> Result<void> {
      Values values;
      values.add(id).add(owner).add(std::string_view(vector.embedder)).add(bytes_of(vector));
      TRY(const Rows done,
          connection.run("UPDATE facts SET embedder = $3, vector = $4 WHERE name = $1 AND owner = $2",
                         values));
      if (done.changed() == 0) return no_fact(id);
      return {};
    });
  }
  Result<Fact> fact(std::string_view owner, std::string_view id) override {
    return database_->read([&](Connection& connection) -> Result<Fact> {
      TRY(FoundFact found, select_fact(connection, owner, id));
      return std::move(found.fact);
    });
  }
  Result<std::vector<Fact>> facts(const FactScope& scope, std::size_t limit) override {
    return database_->read([&](Connection& connection) -> Result<std::vector<Fact>> {
      Values values;
      add_scope(values, scope).add(static_cast<std::int64_t>(limit));
      const std::string sql = fmt::format("SELECT {} FROM facts WHERE {} ORDER BY id DESC LIMIT $3",
                                          fact_columns, condition_of(scope));
      TRY(const Rows rows, connection.run(sql, values));
      std::vector<Fact> out;
      for (int row = 0; row < rows.count(); ++row) out.push_back(fact_in(rows, row));
      return out;
    });
  }
  Result<bool> has_facts(const FactScope& scope) override {
    return database_->read([&](Connection& connection) -> Result<bool> {
      Values values;
      TRY(const Rows rows,
          connection.run(fmt::format("SELECT EXISTS (SELECT FROM facts WHERE {})", condition_of(scope)),
                         add_scope(values, scope)));
      return rows.boolean(0, 0);
    });
  }
  Result<void> each_fact(const FactScope& scope, const Visitor& visit) override {
    const auto select = [&](Connection& connection) {
      Values values;
      return connection.run(
          fmt::format("SELECT {}, embedder, vector FROM facts WHERE {}", fact_columns, condition_of(scope)),
          add_scope(values, scope));
    };
    TRY(const Rows rows, database_->read(select));
    for (int row = 0; row < rows.count(); ++row) visit(fact_in(rows, row), vector_in(rows, row, 9, 10));
    return {};
  }
  Result<Fact> feedback(std::string_view owner, std::string_view id, bool helpful) override {
    return database_->written(
        [&](Connection& connection) { return give_feedback(connection, owner, id, helpful); });
  }
  Result<std::vector<FactFeedback>> history(std::string_view owner, std::string_view id) override {
    return database_->viewed([&](Connection& connection) -> Result<std::vector<FactFeedback>> {
      TRY(const FoundFact found, select_fact(connection, owner, id));
      TRY(const Rows rows,
          connection.run("SELECT helpful, at_ms, trust FROM fact_feedback WHERE fact_id = $1 ORDER BY id",
                         Values().add(found.row)));
      std::vector<FactFeedback> out;
      for (int row = 0; row < rows.count(); ++row)
        out.push_back({rows.boolean(row, 0), rows.integer(row, 1), rows.real(row, 2)});
      return out;
    });
  }
  Result<Forgotten> forget(std::string_view owner, std::string_view id) override {
    return forget_where("owner = $1 AND name = convert_from($2, 'UTF8')", owner, id,
                        [&](bool none) -> Result<void> {
                          if (none) return no_fact(id);
                          return {};
                        });
  }
  Result<Forgotten> forget_session(std::string_view owner, std::string_view session) override {
    if (session.empty()) return fail(Errc::bad_input, "which session's memories are to be forgotten?");
    return forget_where("owner = $1 AND session = $2", owner, session,
                        [](bool) -> Result<void> { return {}; });
  }

 private:
  // The facts and what traces tell of them go in one step. No gateway stores a trace meanwhile: one that is
  // stored afterwards finds the fact gone.
  template <typename Check>
  Result<Forgotten> forget_where(std::string_view condition, std::string_view owner, std::string_view of,
                                 Check check) {
    return database_->written(
        database_->lock_key("traces"), [&](Connection& connection) -> Result<Forgotten> {
          TRY(const Rows rows,
              connection.run(fmt::format("DELETE FROM facts WHERE {} RETURNING {}", condition, fact_columns),
                             Values().add(owner).add(of)));
          TRY_VOID(check(rows.empty()));
          Forgotten out;
          out.facts = rows.count();
          for (int row = 0; row < rows.count(); ++row) {
            TRY(const std::int64_t traces, scrub_traces(connection, owner, fact_in(rows, row)));
            out.traces += traces;
          }
          return out;
        });
  }

  const std::shared_ptr<Database> database_;
};

}  // namespace

Result<std::unique_ptr<FactStore>> open_facts(const Options& options) {
  TRY(auto database, Database::open(options));
  return std::make_unique<PostgresFacts>(std::move(database));
}

}  // namespace plimsoll::postgres

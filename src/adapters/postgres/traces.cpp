#include "adapters/postgres/traces.hpp"

#include <fmt/ranges.h>

#include "adapters/postgres/database.hpp"
#include "base/clock.hpp"

namespace plimsoll::postgres {
namespace {

using Views = std::vector<std::string_view>;
using Integers = std::vector<std::int64_t>;

// A fact that was forgotten while its request was running is in no trace that is stored afterwards. The lock
// of the traces keeps the two apart: forgetting takes it too.
Result<bool> tells_of_forgotten(Connection& connection, const Trace& trace) {
  if (trace.prompt.empty() || trace.facts.empty()) return false;
  const Views ids(trace.facts.begin(), trace.facts.end());
  TRY(const Rows missing, connection.run("SELECT 1 FROM unnest($1::text[]) AS wanted WHERE NOT EXISTS "
                                         "(SELECT FROM facts WHERE name = wanted AND owner = $2) LIMIT 1",
                                         Values().add_texts(ids).add(std::string_view(trace.owner))));
  return !missing.empty();
}

Result<std::string> json_without_forgotten(Connection& connection, const Trace& trace) {
  TRY(const bool tells, tells_of_forgotten(connection, trace));
  return tells ? trace_json_without_words(trace) : trace_json(trace);
}

Result<void> insert_traces(Connection& connection, std::span<const Trace> traces) {
  if (traces.empty()) return {};
  std::vector<std::string> texts;
  texts.reserve(traces.size());
  Views ids, owners, sessions, jsons;
  Integers times;
  for (const Trace& trace : traces) {
    if (trace.id.empty()) return fail(Errc::bad_input, "a trace without an id cannot be kept");
    TRY(std::string json, json_without_forgotten(connection, trace));
    jsons.push_back(texts.emplace_back(std::move(json)));
    ids.push_back(trace.id);
    owners.push_back(trace.owner);
    sessions.push_back(trace.session);
    times.push_back(trace.at_ms);
  }
  // Of two with the same id the later one counts.
  TRY_VOID(connection.run(
      "INSERT INTO traces (id, owner, session, at_ms, bytes, json) "
      "SELECT id, owner, session, at_ms, octet_length(json), json FROM (SELECT DISTINCT ON (id) * FROM "
      "unnest($1::text[], $2::text[], $3::bytea[], $4::bigint[], $5::bytea[]) WITH ORDINALITY "
      "AS given (id, owner, session, at_ms, json, place) ORDER BY id, place DESC) AS last ORDER BY place "
      "ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, session = excluded.session, "
      "at_ms = excluded.at_ms, bytes = excluded.bytes, json = excluded.json",
      Values().add_texts(ids).add_texts(owners).add_blobs(sessions).add(times).add_blobs(jsons)));
  return {};
}

Result<void> upsert_drift(Connection& connection, std::span<const DriftHistory> drift) {
  if (drift.empty()) return {};
  for (const DriftHistory& history : drift) {
    Integers differences, times;
    for (const SeenDrift& one : history.recent) {
      differences.push_back(one.difference);
      times.push_back(one.at_ms);
    }
    Values values;
    values.add(std::string_view(history.key.upstream)).add(std::string_view(history.key.model));
    values.add(std::string_view(history.key.format))
        .add(std::string_view(history.key.owner))
        .add(history.seen);
    values.add(history.recent.empty() ? std::int64_t{0} : history.recent.back().at_ms)
        .add(differences)
        .add(times);
    TRY_VOID(connection.run(
        "INSERT INTO drift (upstream, model, format, owner, seen, at_ms, differences, times_ms) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (upstream, model, format, owner) DO UPDATE SET "
        "seen = excluded.seen, at_ms = greatest(drift.at_ms, excluded.at_ms), "
        "differences = excluded.differences, times_ms = excluded.times_ms",
        values));
  }
  // Names of models come from clients, so their number is limited.
  TRY_VOID(
      connection.run("DELETE FROM drift WHERE at_ms < $1 OR at_ms <= "
                     "(SELECT at_ms FROM drift ORDER BY at_ms DESC LIMIT 1 OFFSET $2)",
                     Values().add(base::utc_ms() - drift_kept_ms).add(most_drift_kept)));
  return {};
}

// Models are what clients call them where a server answers to any name: above so many, and such long ones, of
// an owner and a day they are counted together.
constexpr std::int64_t most_models = 200, longest_model = 200;

Result<void> add_usage(Connection& connection, std::span<const UsedTokens> used) {
  if (used.empty()) return {};
  Integers days, tokens, requests, costs, priced;
  Views owners, models, sections;
  for (const UsedTokens& one : used) {
    days.push_back(one.day);
    owners.push_back(one.owner);
    models.push_back(one.model);
    sections.push_back(one.section);
    tokens.push_back(add_used(one.tokens, 0));
    requests.push_back(add_used(one.requests, 0));
    costs.push_back(add_cost(one.nano_usd, 0));
    priced.push_back(add_used(one.priced, 0));
  }
  Values values;
  values.add(days).add_texts(owners).add_blobs(models).add_texts(sections).add(tokens).add(requests);
  values.add(most_models).add(longest_model).add(most_used).add(costs).add(priced).add(most_cost);
  TRY_VOID(connection.run(R"sql(
WITH given AS (
  SELECT day, owner, CASE WHEN octet_length(model) > $8::bigint THEN '(others)'::bytea ELSE model END AS model, section,
    tokens, requests, nano_usd, priced, place
  FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::text[], $5::bigint[], $6::bigint[], $10::bigint[], $11::bigint[])
    WITH ORDINALITY AS one (day, owner, model, section, tokens, requests, nano_usd, priced, place)),
known AS (
  SELECT day, owner, count(DISTINCT model) AS count FROM usage
  WHERE (day, owner) IN (SELECT day, owner FROM given) GROUP BY day, owner),
fresh AS (
  SELECT day, owner, model, row_number() OVER (PARTITION BY day, owner ORDER BY min(place)) AS rank FROM given
  WHERE NOT EXISTS (SELECT FROM usage WHERE usage.day = given.day AND usage.owner = given.owner
    AND usage.model = given.model)
  GROUP BY day, owner, model),
placed AS (
  SELECT day, owner, CASE WHEN fresh.rank + coalesce(known.count, 0) > $7::bigint THEN '(others)'::bytea ELSE model END AS model,
    section, least(sum(tokens), $9::bigint)::bigint AS tokens, least(sum(requests), $9::bigint)::bigint AS requests,
    least(sum(nano_usd), $12::bigint)::bigint AS nano_usd, least(sum(priced), $9::bigint)::bigint AS priced
  FROM given LEFT JOIN fresh USING (day, owner, model) LEFT JOIN known USING (day, owner) GROUP BY 1, 2, 3, 4)
INSERT INTO usage (day, owner, model, section, tokens, requests, nano_usd, priced)
SELECT day, owner, model, section, tokens, requests, nano_usd, priced FROM placed ORDER BY 1, 2, 3, 4
ON CONFLICT (day, owner, model, section) DO UPDATE SET tokens = least(usage.tokens + excluded.tokens, $9::bigint),
  requests = least(usage.requests + excluded.requests, $9::bigint),
  nano_usd = least(usage.nano_usd + excluded.nano_usd, $12::bigint), priced = least(usage.priced + excluded.priced, $9::bigint))sql",
                          values));
  return {};
}

Result<Trace> read_row(const Rows& rows, int row) {
  auto trace = read_trace(rows.bytes(row, 1));
  if (!trace) return fail(Errc::damaged, "trace {}: {}", rows.bytes(row, 0), trace.error().what);
  return trace;
}

// Those that `id` may stand for: itself, or else some that begin with it, or else some that end with it. Ids
// that rise with time differ at their ends.
Result<std::vector<std::string>> meant_by(Connection& connection, std::string_view owner,
                                          std::string_view id) {
  constexpr std::int64_t enough = 5;  // to say that it is not clear
  const auto ids_of = [](const Rows& rows) {
    std::vector<std::string> out;
    for (int row = 0; row < rows.count(); ++row) out.push_back(rows.text(row, 0));
    return out;
  };
  const Values values = std::move(Values().add(owner).add(id).add(enough));
  TRY(const Rows begins,
      connection.run("SELECT id FROM traces WHERE ($1 = '' OR owner = $1) AND id >= $2 AND "
                     "starts_with(id, $2) ORDER BY id LIMIT $3",
                     values));
  auto found = ids_of(begins);
  if (!found.empty() && found.front() == id) found.resize(1);
  if (!found.empty()) return found;
  TRY(const Rows ends,
      connection.run("SELECT id FROM traces WHERE ($1 = '' OR owner = $1) AND right(id, length($2)) "
                     "= $2 ORDER BY id DESC LIMIT $3",
                     values));
  return ids_of(ends);
}

Result<Trace> select_trace(Connection& connection, std::string_view owner, std::string_view id) {
  if (id.empty()) return fail(Errc::bad_input, "a trace is asked for by its id, and this one is empty");
  TRY(const auto meant, meant_by(connection, owner, id));
  if (meant.empty())
    return fail(Errc::not_found, "no trace is called '{}'; `plimsoll inspect` lists the latest", id);
  if (meant.size() > 1)
    return fail(Errc::bad_input, "'{}' may be any of {}: write more of it", id, fmt::join(meant, ", "));
  TRY(const Rows rows, connection.run("SELECT id, json FROM traces WHERE id = $1",
                                      Values().add(std::string_view(meant.front()))));
  if (rows.empty()) return fail(Errc::not_found, "trace {} is gone: it was beyond the limits", meant.front());
  return read_row(rows, 0);
}

Result<std::vector<Trace>> select_traces(Connection& connection, std::string_view owner,
                                         const TraceStore::Wanted& wanted) {
  // One that is gone is replaced by the next below it.
  constexpr std::string_view stored_after =
      "number > coalesce((SELECT number FROM traces WHERE id = $2), (SELECT max(number) FROM traces WHERE id "
      "<= $2), 0)";
  std::string sql =
      fmt::format("SELECT id, json FROM traces WHERE {} AND {}", owner.empty() ? "$1 = ''" : "owner = $1",
                  wanted.as_kept ? stored_after : "id > $2");
  if (!wanted.session.empty())
    sql += " AND session <> ''::bytea AND session = $4";  // the first allows the index
  sql += fmt::format(" ORDER BY {}{} LIMIT $3", wanted.as_kept ? "number" : "id",
                     wanted.oldest_first ? "" : " DESC");
  Values values;
  values.add(owner).add(std::string_view(wanted.after)).add(static_cast<std::int64_t>(wanted.limit));
  if (!wanted.session.empty()) values.add(std::string_view(wanted.session));
  TRY(const Rows rows, connection.run(sql, values));
  std::vector<Trace> out;
  for (int row = 0; row < rows.count(); ++row) {
    TRY(auto trace, read_row(rows, row));
    out.push_back(std::move(trace));
  }
  return out;
}

Result<std::vector<DriftHistory>> select_drift(Connection& connection) {
  TRY(const Rows rows,
      connection.run(
          "SELECT upstream, model, format, owner, seen, coalesce(difference, 0), time_ms FROM drift "
          "LEFT JOIN LATERAL unnest(differences, times_ms) WITH ORDINALITY "
          "AS recent (difference, time_ms, place) ON true ORDER BY 1, 2, 3, 4, recent.place"));
  std::vector<DriftHistory> out;
  for (int row = 0; row < rows.count(); ++row) {
    const DriftKey key{rows.text(row, 0), rows.text(row, 1), rows.text(row, 2), rows.text(row, 3)};
    if (out.empty() || out.back().key != key) out.push_back({key, {}, rows.integer(row, 4)});
    if (!rows.is_null(row, 6)) out.back().recent.push_back({rows.integer(row, 5), rows.integer(row, 6)});
  }
  return out;
}

Result<std::int64_t> remove_drift(Connection& connection, std::string_view model) {
  TRY(const Rows removed,
      connection.run("DELETE FROM drift WHERE $1 = ''::bytea OR model = $1", Values().add(model)));
  return removed.changed();
}

Result<void> add_forget_order(Connection& connection, std::string_view model) {
  const std::int64_t now = base::utc_ms();
  TRY_VOID(connection.run("INSERT INTO forget_orders (at_ms, model) VALUES ($1, $2)",
                          Values().add(now).add(model)));
  // Who has not looked for a day has started again since.
  TRY_VOID(connection.run("DELETE FROM forget_orders WHERE at_ms < $1", Values().add(now - drift_kept_ms)));
  return {};
}

class PostgresTraces final : public TraceStore {
 public:
  explicit PostgresTraces(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<void> keep(std::span<const Trace> traces, std::span<const DriftHistory> drift,
                    std::span<const UsedTokens> used, const TraceLimits& limits) override {
    return database_->written(database_->lock_key("traces"), [&](Connection& connection) -> Result<void> {
      TRY_VOID(insert_traces(connection, traces));
      TRY_VOID(upsert_drift(connection, drift));
      TRY_VOID(add_usage(connection, used));
      Values values;
      values.add(base::utc_ms() - limits.oldest_ms).add(limits.most).add(limits.bytes).add(most_removed);
      TRY_VOID(connection.run("SELECT traces_prune($1, $2, $3, $4)", values));
      return {};
    });
  }
  Result<Trace> trace(std::string_view owner, std::string_view id) override {
    return database_->read([&](Connection& connection) { return select_trace(connection, owner, id); });
  }
  Result<std::vector<Trace>> traces(std::string_view owner, const Wanted& wanted) override {
    return database_->read([&](Connection& connection) { return select_traces(connection, owner, wanted); });
  }
  Result<std::vector<DriftHistory>> drift() override { return database_->read(select_drift); }
  Result<std::int64_t> forget_drift(std::string_view model) override {
    // Numbers of orders rise in the order in which they are committed.
    return database_->written(database_->lock_key("drift"),
                              [&](Connection& connection) -> Result<std::int64_t> {
                                TRY_VOID(add_forget_order(connection, model));
                                return remove_drift(connection, model);
                              });
  }
  Result<std::int64_t> delete_drift(std::string_view model) override {
    return database_->written(database_->lock_key("drift"),
                              [&](Connection& connection) { return remove_drift(connection, model); });
  }
  Result<std::vector<ForgetOrder>> forget_orders(std::int64_t after) override {
    return database_->read([&](Connection& connection) -> Result<std::vector<ForgetOrder>> {
      TRY(const Rows rows,
          connection.run("SELECT number, model FROM forget_orders WHERE number > $1 ORDER BY number",
                         Values().add(after)));
      std::vector<ForgetOrder> out;
      for (int row = 0; row < rows.count(); ++row) out.push_back({rows.integer(row, 0), rows.text(row, 1)});
      return out;
    });
  }

 private:
  const std::shared_ptr<Database> database_;
};

}  // namespace

Result<std::unique_ptr<TraceStore>> open_traces(const Options& options) {
  TRY(auto database, Database::open(options));
  return std::make_unique<PostgresTraces>(std::move(database));
}

}  // namespace plimsoll::postgres

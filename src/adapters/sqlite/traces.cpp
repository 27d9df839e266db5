#include "adapters/sqlite/traces.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/rows.hpp"
#include "adapters/sqlite/shared_database.hpp"
#include "base/clock.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

// A fact that was forgotten while its request was under way is in no trace that is kept afterwards. Within
// the transaction that keeps it: forgetting is one as well, and takes care of those before.
Result<bool> tells_of_forgotten(Connection& connection, const Trace& trace) {
  if (trace.prompt.empty() || trace.facts.empty()) return false;
  TRY(auto row, connection.prepare("SELECT 1 FROM facts WHERE name = ? AND owner = ?"));
  for (const std::string& id : trace.facts) {
    row.again();
    TRY(const bool found, row.bind(id).bind(trace.owner).step());
    if (!found) return true;
  }
  return false;
}

Result<std::string> json_without_forgotten(Connection& connection, const Trace& trace) {
  TRY(const bool tells, tells_of_forgotten(connection, trace));
  return tells ? trace_json_without_words(trace) : trace_json(trace);
}

Result<void> insert_traces(Connection& connection, std::span<const Trace> traces) {
  TRY(auto insert,
      connection.prepare("INSERT INTO traces (id, owner, session, at_ms, bytes, json) "
                         "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                         "owner = excluded.owner, session = excluded.session, "
                         "at_ms = excluded.at_ms, bytes = excluded.bytes, json = excluded.json"));
  for (const Trace& trace : traces) {
    if (trace.id.empty()) return fail(Errc::bad_input, "a trace without an id cannot be kept");
    TRY(const std::string json, json_without_forgotten(connection, trace));
    insert.again();
    insert.bind(trace.id).bind(trace.owner).bind(trace.session).bind(trace.at_ms);
    insert.bind(static_cast<std::int64_t>(json.size())).bind(json);
    TRY_VOID(insert.run());
  }
  return {};
}

Result<void> upsert_drift(Connection& connection, std::span<const DriftHistory> drift) {
  if (drift.empty()) return {};
  TRY(auto upsert, connection.prepare(
                       "INSERT INTO drift (upstream, model, format, owner, seen, at_ms, recent) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                       "seen = excluded.seen, at_ms = max(at_ms, excluded.at_ms), recent = excluded.recent"));
  for (const DriftHistory& history : drift) {
    nlohmann::json list = nlohmann::json::array();
    for (const SeenDrift& one : history.recent) list.push_back({one.difference, one.at_ms});
    const std::string recent = list.dump();
    upsert.again();
    upsert.bind(history.key.upstream).bind(history.key.model).bind(history.key.format);
    upsert.bind(history.key.owner).bind(history.seen);
    upsert.bind(history.recent.empty() ? 0 : history.recent.back().at_ms).bind(recent);
    TRY_VOID(upsert.run());
  }
  return {};
}

// Names of models come from clients: what is kept of them has an end.
Result<void> prune_drift(Connection& connection) {
  TRY(auto remove, connection.prepare("DELETE FROM drift WHERE at_ms < ? OR at_ms <= "
                                      "(SELECT at_ms FROM drift ORDER BY at_ms DESC LIMIT 1 OFFSET ?)"));
  return remove.bind(base::utc_ms() - drift_kept_ms).bind(most_drift_kept).run();
}

// Models are what clients call them where a server answers to any name: beyond so many, and so long ones, of
// an owner and a day they are counted together.
constexpr std::int64_t most_models = 200;
constexpr std::size_t longest_model = 200;

Result<void> add_usage(Connection& connection, std::span<const UsedTokens> used) {
  TRY(auto fits, connection.prepare(
                     "SELECT EXISTS (SELECT 1 FROM usage WHERE day = ?1 AND owner = ?2 AND model = ?3) OR "
                     "(SELECT count(DISTINCT model) FROM usage WHERE day = ?1 AND owner = ?2) < ?4"));
  // Rows that were written before numbers were bounded may hold anything.
  TRY(auto add,
      connection.prepare("INSERT INTO usage (day, owner, model, section, tokens, requests, nano_usd, priced) "
                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET "
                         "tokens = min(max(tokens, 0), ?9 - excluded.tokens) + excluded.tokens, "
                         "requests = min(max(requests, 0), ?9 - excluded.requests) + excluded.requests, "
                         "nano_usd = min(max(nano_usd, 0), ?10 - excluded.nano_usd) + excluded.nano_usd, "
                         "priced = min(max(priced, 0), ?9 - excluded.priced) + excluded.priced"));
  for (const UsedTokens& one : used) {
    std::string_view model = one.model;
    fits.again();
    TRY_VOID(fits.bind(one.day).bind(one.owner).bind(model).bind(most_models).step());
    if (model.size() > longest_model || fits.integer(0) == 0) model = "(others)";
    add.again();
    add.bind(one.day).bind(one.owner).bind(model).bind(one.section);
    add.bind(add_used(one.tokens, 0)).bind(add_used(one.requests, 0));
    add.bind(add_cost(one.nano_usd, 0)).bind(add_used(one.priced, 0)).bind(most_used).bind(most_cost);
    TRY_VOID(add.run());
  }
  return {};
}

Result<void> remove_rows(Connection& connection, const std::vector<std::int64_t>& rows) {
  TRY(auto remove, connection.prepare("DELETE FROM traces WHERE rowid = ?"));
  for (const std::int64_t row : rows) {
    remove.again();
    TRY_VOID(remove.bind(row).run());
  }
  return {};
}

Result<void> remove_old(Connection& connection, std::int64_t oldest_ms) {
  std::vector<std::int64_t> gone;
  {
    TRY(auto row, connection.prepare("SELECT rowid, at_ms FROM traces ORDER BY id"));
    while (std::ssize(gone) < most_removed) {
      TRY(const bool more, row.step());
      if (!more || row.integer(1) >= oldest_ms) break;
      gone.push_back(row.integer(0));
    }
  }
  return remove_rows(connection, gone);
}

struct Excess {
  std::int64_t count = 0, bytes = 0;  // above the limits
  bool none() const { return count <= 0 && bytes <= 0; }
};

Result<Excess> excess_of(Connection& connection, const TraceLimits& limits) {
  TRY(auto totals, connection.prepare("SELECT count, bytes FROM trace_totals"));
  TRY_VOID(totals.step());
  return Excess{totals.integer(0) - limits.most, totals.integer(1) - limits.bytes};
}

// The oldest of the owner who has most, down to what the next one has: nobody's traffic drives out the traces
// of those who have less.
Result<std::int64_t> remove_of_largest(Connection& connection, Excess excess) {
  std::string owner;
  std::int64_t above_next = 0;
  {
    TRY(auto shares,
        connection.prepare(excess.bytes > 0
                               ? "SELECT owner, bytes FROM trace_shares ORDER BY bytes DESC LIMIT 2"
                               : "SELECT owner, count FROM trace_shares ORDER BY count DESC LIMIT 2"));
    TRY(const bool found, shares.step());
    if (!found) return 0;
    owner = shares.text(0);
    above_next = shares.integer(1);
    TRY(const bool second, shares.step());
    if (second) above_next -= shares.integer(1);
  }
  std::vector<std::int64_t> gone;
  {
    TRY(auto row, connection.prepare("SELECT rowid, bytes FROM traces WHERE owner = ? ORDER BY id"));
    row.bind(owner);
    const bool by_bytes = excess.bytes > 0;
    do {
      TRY(const bool more, row.step());
      if (!more) break;
      gone.push_back(row.integer(0));
      --excess.count;
      excess.bytes -= row.integer(1);
      above_next -= by_bytes ? row.integer(1) : 1;
    } while (!excess.none() && above_next >= 0 && std::ssize(gone) < most_removed);
  }
  TRY_VOID(remove_rows(connection, gone));
  return std::ssize(gone);
}

// Until all limits are kept. Costs what is removed, not what is there.
Result<void> prune(Connection& connection, const TraceLimits& limits) {
  TRY_VOID(remove_old(connection, base::utc_ms() - limits.oldest_ms));
  for (std::int64_t removed = 0; removed < most_removed;) {
    TRY(const Excess excess, excess_of(connection, limits));
    if (excess.none()) return {};
    TRY(const std::int64_t more, remove_of_largest(connection, excess));
    if (more == 0) return {};
    removed += more;
  }
  return {};
}

Result<Trace> read_row(std::string_view id, std::string_view json) {
  auto trace = read_trace(json);
  if (!trace) return fail(Errc::damaged, "trace {}: {}", id, trace.error().what);
  return trace;
}

Result<std::vector<std::string>> ids_of(Statement& row) {
  std::vector<std::string> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    out.emplace_back(row.text(0));
  }
}

// Those that `id` may stand for: itself, or else some that begin with it, or else some that end with it. Ids
// that rise with time differ at their ends.
Result<std::vector<std::string>> meant_by(Connection& connection, std::string_view owner,
                                          std::string_view id) {
  constexpr std::int64_t enough = 5;  // to say that it is not clear
  const std::string after_all = std::string(id) + "\U0010FFFF";
  const std::string_view whose = owner.empty() ? "? = ''" : "owner = ?";
  TRY(auto begins, connection.prepare(fmt::format(
                       "SELECT id FROM traces WHERE {} AND id >= ? AND id < ? ORDER BY id LIMIT ?", whose)));
  begins.bind(owner).bind(id).bind(after_all).bind(enough);
  TRY(auto found, ids_of(begins));
  if (!found.empty() && found.front() == id) found.resize(1);
  if (!found.empty()) return found;
  TRY(auto ends,
      connection.prepare(fmt::format(
          "SELECT id FROM traces WHERE {} AND substr(id, -length(?)) = ? ORDER BY id DESC LIMIT ?", whose)));
  ends.bind(owner).bind(id).bind(id).bind(enough);
  return ids_of(ends);
}

Result<Trace> select_trace(Connection& connection, std::string_view owner, std::string_view id) {
  if (id.empty()) return fail(Errc::bad_input, "a trace is asked for by its id, and this one is empty");
  TRY(const auto meant, meant_by(connection, owner, id));
  if (meant.empty())
    return fail(Errc::not_found, "no trace is called '{}'; `plimsoll inspect` lists the latest", id);
  if (meant.size() > 1)
    return fail(Errc::bad_input, "'{}' may be any of {}: write more of it", id, fmt::join(meant, ", "));
  TRY(auto row, connection.prepare("SELECT json FROM traces WHERE id = ?"));
  TRY(const bool found, row.bind(meant.front()).step());
  if (!found) return fail(Errc::not_found, "trace {} is gone: it was beyond the limits", meant.front());
  return read_row(meant.front(), row.text(0));
}

Result<std::vector<Trace>> select_traces(Connection& connection, std::string_view owner,
                                         const TraceStore::Wanted& wanted) {
  // Rows are numbered as they are kept. One that is gone stands where the next below it does.
  constexpr std::string_view kept_after =
      "rowid > coalesce((SELECT rowid FROM traces WHERE id = ?), (SELECT max(rowid) FROM traces WHERE id <= "
      "?), 0)";
  std::string sql =
      fmt::format("SELECT id, json FROM traces WHERE {} AND {}", owner.empty() ? "? = ''" : "owner = ?",
                  wanted.as_kept ? kept_after : "id > ?");
  if (!wanted.session.empty())
    sql += " AND session <> '' AND session = ?";  // the first lets the index be used
  sql += fmt::format(" ORDER BY {}{} LIMIT ?", wanted.as_kept ? "rowid" : "id",
                     wanted.oldest_first ? "" : " DESC");
  TRY(auto row, connection.prepare(sql));
  row.bind(owner).bind(wanted.after);
  if (wanted.as_kept) row.bind(wanted.after);
  if (!wanted.session.empty()) row.bind(wanted.session);
  row.bind(static_cast<std::int64_t>(wanted.limit));
  std::vector<Trace> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    TRY(auto trace, read_row(row.text(0), row.text(1)));
    out.push_back(std::move(trace));
  }
}

Result<std::vector<DriftHistory>> select_drift(Connection& connection) {
  TRY(auto row, connection.prepare("SELECT upstream, model, format, owner, seen, recent FROM drift"));
  std::vector<DriftHistory> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    DriftHistory history;
    history.key = {std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2)),
                   std::string(row.text(3))};
    history.seen = row.integer(4);
    const auto recent = nlohmann::json::parse(row.text(5), nullptr, false);
    bool sound = recent.is_array();
    for (const auto& one : recent) {
      sound = sound && one.is_array() && one.size() == 2 && one[0].is_number_integer() &&
              one[1].is_number_integer();
      if (sound) history.recent.push_back({one[0].get<Tokens>(), one[1].get<std::int64_t>()});
    }
    if (sound) out.push_back(std::move(history));  // what is not is learned anew
  }
}

Result<std::int64_t> remove_drift(Connection& connection, std::string_view model) {
  TRY(auto count, connection.prepare("SELECT count(*) FROM drift WHERE ?1 = '' OR model = ?1"));
  TRY_VOID(count.bind(model).step());
  const std::int64_t found = count.integer(0);
  TRY(auto remove, connection.prepare("DELETE FROM drift WHERE ?1 = '' OR model = ?1"));
  TRY_VOID(remove.bind(model).run());
  return found;
}

Result<void> add_forget_order(Connection& connection, std::string_view model) {
  TRY(auto note, connection.prepare("INSERT INTO forget_orders (at_ms, model) VALUES (?, ?)"));
  TRY_VOID(note.bind(base::utc_ms()).bind(model).run());
  // Whoever has not looked for a day has started anew since, or will.
  TRY(auto old, connection.prepare("DELETE FROM forget_orders WHERE at_ms < ?"));
  TRY_VOID(old.bind(base::utc_ms() - drift_kept_ms).run());
  return {};
}

Result<std::vector<ForgetOrder>> select_orders(Connection& connection, std::int64_t after) {
  TRY(auto row,
      connection.prepare("SELECT number, model FROM forget_orders WHERE number > ? ORDER BY number"));
  row.bind(after);
  std::vector<ForgetOrder> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    out.push_back({row.integer(0), std::string(row.text(1))});
  }
}

class SqliteTraces final : public TraceStore {
 public:
  explicit SqliteTraces(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<void> keep(std::span<const Trace> traces, std::span<const DriftHistory> drift,
                    std::span<const UsedTokens> used, const TraceLimits& limits) override {
    return database_->logged([&](Connection& connection) -> Result<void> {
      TRY_VOID(insert_traces(connection, traces));
      TRY_VOID(upsert_drift(connection, drift));
      if (!drift.empty()) TRY_VOID(prune_drift(connection));
      TRY_VOID(add_usage(connection, used));
      return prune(connection, limits);
    });
  }

  Result<Trace> trace(std::string_view owner, std::string_view id) override {
    TRY(auto connection, database_->lease());
    return select_trace(*connection, owner, id);
  }

  Result<std::vector<Trace>> traces(std::string_view owner, const Wanted& wanted) override {
    TRY(auto connection, database_->lease());
    return select_traces(*connection, owner, wanted);
  }

  Result<std::vector<DriftHistory>> drift() override {
    TRY(auto connection, database_->lease());
    return select_drift(*connection);
  }

  Result<std::int64_t> forget_drift(std::string_view model) override {
    return database_->written([&](Connection& connection) -> Result<std::int64_t> {
      TRY_VOID(add_forget_order(connection, model));
      return remove_drift(connection, model);
    });
  }
  Result<std::int64_t> delete_drift(std::string_view model) override {
    return database_->written([&](Connection& connection) { return remove_drift(connection, model); });
  }

  Result<std::vector<ForgetOrder>> forget_orders(std::int64_t after) override {
    TRY(auto connection, database_->lease());
    return select_orders(*connection, after);
  }

 private:
  const std::shared_ptr<Database> database_;
};

}  // namespace

Result<std::unique_ptr<TraceStore>> open_traces(const std::filesystem::path& file,
                                                const OpenOptions& options) {
  return open_as_allowed<SqliteTraces>(
      file, options, "`plimsoll serve` makes one and keeps traces in it",
      [](auto& store) { return store.traces("", {.limit = 1}).has_value(); });
}

}  // namespace plimsoll::sqlite

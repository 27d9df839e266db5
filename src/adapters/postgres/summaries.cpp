#include "adapters/postgres/rows_of_sessions.hpp"
#include "base/clock.hpp"

namespace plimsoll::postgres {
namespace {

KeptSummary summary_in(const Rows& rows, int row) {
  KeptSummary out;
  out.hash = rows.text(row, 0);
  out.ends_with = rows.text(row, 1);
  out.parent = rows.text(row, 2);
  out.how = rows.text(row, 3);
  out.model = rows.text(row, 4);
  out.turns = rows.integer(row, 5);
  out.messages = rows.integer(row, 6);
  out.at_ms = rows.integer(row, 7);
  out.text = rows.text(row, 8);
  out.originals = rows.text(row, 9);
  return out;
}

}  // namespace

Result<void> insert_summary(Connection& connection, std::string_view owner, std::string_view session,
                            const KeptSummary& summary, const SummaryLimits& limits) {
  Values values;
  values.add(owner).add(session);
  for (const std::string* text :
       {&summary.hash, &summary.ends_with, &summary.parent, &summary.how, &summary.model})
    values.add(std::string_view(*text));
  values.add(summary.turns).add(summary.messages).add(summary.at_ms);
  values.add(std::int64_t{std::ssize(summary.text) + std::ssize(summary.originals)});
  values.add(std::string_view(summary.text)).add(std::string_view(summary.originals));
  // One that is replaced becomes the newest.
  TRY_VOID(connection.run(
      "INSERT INTO summaries (owner, session, hash, ends_with, parent, how, model, turns, messages, at_ms, "
      "bytes, "
      "text, originals) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) "
      "ON CONFLICT (owner, session, hash) DO UPDATE SET id = DEFAULT, ends_with = excluded.ends_with, "
      "parent = excluded.parent, how = excluded.how, model = excluded.model, turns = excluded.turns, "
      "messages = excluded.messages, at_ms = excluded.at_ms, bytes = excluded.bytes, text = excluded.text, "
      "originals = excluded.originals",
      values));
  TRY_VOID(connection.run(
      "DELETE FROM summaries WHERE id IN (SELECT id FROM (SELECT id, at_ms, sum(bytes) OVER newest AS total, "
      "row_number() OVER newest AS place FROM summaries WHERE owner = $1 WINDOW newest AS (ORDER BY id "
      "DESC)) "
      "AS sums WHERE at_ms < $2 OR total > $3::bigint OR place > $4)",
      Values().add(owner).add(base::utc_ms() - limits.age_ms).add(limits.bytes).add(limits.count)));
  return {};
}

Result<std::vector<KeptSummary>> select_summaries(Connection& connection, std::string_view owner,
                                                  std::string_view session, bool whole) {
  TRY(const Rows rows,
      connection.run(fmt::format("SELECT hash, ends_with, parent, how, model, turns, messages, at_ms, {} "
                                 "FROM summaries WHERE owner = $1 AND session = $2 ORDER BY id",
                                 whole ? "text, originals" : "''::bytea, ''::bytea"),
                     Values().add(owner).add(session)));
  std::vector<KeptSummary> out;
  for (int row = 0; row < rows.count(); ++row) out.push_back(summary_in(rows, row));
  return out;
}

Result<KeptSummary> select_summary(Connection& connection, std::string_view owner, std::string_view session,
                                   std::string_view hash) {
  TRY(const Rows rows,
      connection.run("SELECT hash, ends_with, parent, how, model, turns, messages, at_ms, text, "
                     "''::bytea FROM summaries WHERE owner = $1 AND session = $2 AND hash = $3",
                     Values().add(owner).add(session).add(hash)));
  if (rows.empty())
    return fail(Errc::not_found, "no summary of the session '{}' has the hash {}", session, hash);
  return summary_in(rows, 0);
}

Result<void> insert_turn_vectors(Connection& connection, std::string_view owner, std::string_view session,
                                 std::string_view embedder, std::span<const TurnVector> vectors,
                                 std::int64_t age_ms) {
  const std::int64_t now = base::utc_ms();
  TRY_VOID(connection.run("DELETE FROM turn_vectors WHERE owner = $1 AND at_ms < $2",
                          Values().add(owner).add(now - age_ms)));
  std::vector<std::string_view> hashes, blobs;
  for (const TurnVector& one : vectors) {
    hashes.push_back(one.hash);
    blobs.push_back(one.bytes);
  }
  Values values;
  values.add(owner).add(session).add(embedder).add(now).add_blobs(hashes).add_blobs(blobs);
  // Of two with the same hash the later one counts.
  TRY_VOID(
      connection.run("INSERT INTO turn_vectors (owner, session, embedder, at_ms, hash, vectors) "
                     "SELECT DISTINCT ON (hash) $1::text, $2::bytea, $3::bytea, $4::bigint, hash, vectors "
                     "FROM unnest($5::bytea[], $6::bytea[]) WITH ORDINALITY AS given (hash, vectors, place) "
                     "ORDER BY hash, place DESC ON CONFLICT (owner, session, embedder, hash) DO UPDATE SET "
                     "at_ms = excluded.at_ms, vectors = excluded.vectors",
                     values));
  return {};
}

Result<std::vector<TurnVector>> select_turn_vectors(Connection& connection, std::string_view owner,
                                                    std::string_view session, std::string_view embedder) {
  TRY(const Rows rows,
      connection.run("SELECT hash, vectors FROM turn_vectors WHERE owner = $1 AND session = $2 AND "
                     "embedder = $3 ORDER BY hash",
                     Values().add(owner).add(session).add(embedder)));
  std::vector<TurnVector> out;
  for (int row = 0; row < rows.count(); ++row) out.push_back({rows.text(row, 0), rows.text(row, 1)});
  return out;
}

}  // namespace plimsoll::postgres

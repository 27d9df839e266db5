#include "adapters/sqlite/summaries.hpp"

#include "adapters/sqlite/rows.hpp"
#include "base/clock.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

KeptSummary summary_in(const Statement& row) {
  KeptSummary out;
  out.hash = row.text(0);
  out.ends_with = row.text(1);
  out.parent = row.text(2);
  out.how = row.text(3);
  out.model = row.text(4);
  out.turns = row.integer(5);
  out.messages = row.integer(6);
  out.at_ms = row.integer(7);
  out.text = row.text(8);
  out.originals = row.text(9);
  return out;
}

Result<void> prune(Connection& connection, std::string_view owner, const SummaryLimits& limits) {
  {
    TRY(auto old, connection.prepare("DELETE FROM summaries WHERE owner = ? AND at_ms < ?"));
    TRY_VOID(old.bind(owner).bind(base::utc_ms() - limits.age_ms).run());
  }
  {
    TRY(auto large, connection.prepare("DELETE FROM summaries WHERE id IN (SELECT id FROM (SELECT id, "
                                       "sum(bytes) OVER (ORDER BY id DESC) AS total FROM summaries WHERE "
                                       "owner = ?) WHERE total > ?)"));
    TRY_VOID(large.bind(owner).bind(limits.bytes).run());
  }
  TRY(auto most, connection.prepare("DELETE FROM summaries WHERE id IN (SELECT id FROM summaries WHERE owner "
                                    "= ? ORDER BY id LIMIT max(0, (SELECT count(*) FROM summaries WHERE "
                                    "owner = ?) - ?))"));
  return most.bind(owner).bind(owner).bind(limits.count).run();
}

}  // namespace

Result<void> insert_summary(Connection& connection, std::string_view owner, std::string_view session,
                            const KeptSummary& summary, const SummaryLimits& limits) {
  {
    TRY(auto insert,
        connection.prepare("INSERT OR REPLACE INTO summaries (owner, session, hash, ends_with, parent, how, "
                           "model, turns, messages, at_ms, text, originals, bytes) VALUES (?, ?, ?, ?, ?, "
                           "?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.bind(owner).bind(session).bind(summary.hash).bind(summary.ends_with).bind(summary.parent);
    insert.bind(summary.how).bind(summary.model).bind(summary.turns).bind(summary.messages);
    insert.bind(summary.at_ms).bind(summary.text).bind(summary.originals);
    TRY_VOID(insert.bind(std::ssize(summary.text) + std::ssize(summary.originals)).run());
  }
  return prune(connection, owner, limits);
}

Result<std::vector<KeptSummary>> select_summaries(Connection& connection, std::string_view owner,
                                                  std::string_view session, bool whole) {
  TRY(auto row,
      connection.prepare(whole ? "SELECT hash, ends_with, parent, how, model, turns, messages, at_ms, text, "
                                 "originals FROM summaries WHERE owner = ? AND session = ? ORDER BY id"
                               : "SELECT hash, ends_with, parent, how, model, turns, messages, at_ms, '', '' "
                                 "FROM summaries WHERE owner = ? AND session = ? ORDER BY id"));
  row.bind(owner).bind(session);
  std::vector<KeptSummary> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    out.push_back(summary_in(row));
  }
}

Result<KeptSummary> select_summary(Connection& connection, std::string_view owner, std::string_view session,
                                   std::string_view hash) {
  TRY(auto row, connection.prepare("SELECT hash, ends_with, parent, how, model, turns, messages, at_ms, "
                                   "text, '' FROM summaries WHERE owner = ? AND session = ? AND hash = ?"));
  TRY(const bool found, row.bind(owner).bind(session).bind(hash).step());
  if (!found) return fail(Errc::not_found, "no summary of the session '{}' has the hash {}", session, hash);
  return summary_in(row);
}

Result<bool> forget_summaries(Connection& connection, std::string_view owner, std::string_view session) {
  TRY(auto remove, connection.prepare("DELETE FROM summaries WHERE owner = ? AND session = ?"));
  TRY_VOID(remove.bind(owner).bind(session).run());
  return connection.changes() > 0;
}

}  // namespace plimsoll::sqlite

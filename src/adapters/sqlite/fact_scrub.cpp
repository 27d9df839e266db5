#include "adapters/sqlite/fact_scrub.hpp"

#include <algorithm>
#include <vector>

#include "base/json/scrub_trace.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

bool scrub_all(std::string& json, std::span<const Fact> gone) {
  bool found = false;
  for (const Fact& fact : gone) found = base::scrub_trace(json, fact.id, fact.text) || found;
  return found;
}

}  // namespace

Result<TellingTraces> telling_traces(Connection& connection, std::string_view owner,
                                     std::span<const Fact> gone, std::int64_t after) {
  TellingTraces out{{}, after, {}};
  TRY(auto row, connection.prepare("SELECT rowid, json, id FROM traces WHERE owner = ? AND rowid > ? ORDER "
                                   "BY rowid"));
  row.bind(owner).bind(after);
  std::string json;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    json = row.text(1);
    if (scrub_all(json, gone)) out.rows.push_back(row.integer(0));
    out.last = row.integer(0);
    out.last_id = row.text(2);
  }
}

Result<bool> still_holds(Connection& connection, const TellingTraces& telling) {
  if (telling.last_id.empty()) return true;
  TRY(auto row, connection.prepare("SELECT 1 FROM traces WHERE rowid = ? AND id = ?"));
  return row.bind(telling.last).bind(telling.last_id).step();
}

Result<std::int64_t> scrub_traces(Connection& connection, std::string_view owner,
                                  std::span<const std::int64_t> rows, std::span<const Fact> gone) {
  TRY(auto select, connection.prepare("SELECT json FROM traces WHERE rowid = ? AND owner = ?"));
  TRY(auto update, connection.prepare("UPDATE traces SET json = ? WHERE rowid = ?"));
  std::int64_t changed = 0;
  for (const std::int64_t row : rows) {
    select.again();
    TRY(const bool found, select.bind(row).bind(owner).step());
    if (!found) continue;
    std::string json(select.text(0));
    select.again();
    if (!scrub_all(json, gone)) continue;
    update.again();
    TRY_VOID(update.bind(json).bind(row).run());
    ++changed;
  }
  return changed;
}

}  // namespace plimsoll::sqlite

#include "adapters/sqlite/turn_vectors.hpp"

#include "base/clock.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {

Result<void> insert_turn_vectors(Connection& connection, std::string_view owner, std::string_view session,
                                 std::string_view embedder, std::span<const TurnVector> vectors,
                                 std::int64_t age_ms) {
  const std::int64_t now = base::utc_ms();
  {
    TRY(auto old, connection.prepare("DELETE FROM turn_vectors WHERE owner = ? AND at_ms < ?"));
    TRY_VOID(old.bind(owner).bind(now - age_ms).run());
  }
  for (const TurnVector& one : vectors) {
    TRY(auto insert,
        connection.prepare("INSERT OR REPLACE INTO turn_vectors (owner, session, embedder, hash, "
                           "at_ms, vectors) VALUES (?, ?, ?, ?, ?, ?)"));
    insert.bind(owner).bind(session).bind(embedder).bind(one.hash).bind(now);
    TRY_VOID(insert.bind(std::as_bytes(std::span(one.bytes))).run());
  }
  return {};
}

Result<std::vector<TurnVector>> select_turn_vectors(Connection& connection, std::string_view owner,
                                                    std::string_view session, std::string_view embedder) {
  TRY(auto row,
      connection.prepare("SELECT hash, vectors FROM turn_vectors WHERE owner = ? AND session = ? AND "
                         "embedder = ?"));
  row.bind(owner).bind(session).bind(embedder);
  std::vector<TurnVector> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    const std::span<const std::byte> bytes = row.blob(1);
    out.push_back({std::string(row.text(0)), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
  }
}

Result<bool> forget_turn_vectors(Connection& connection, std::string_view owner, std::string_view session) {
  TRY(auto remove, connection.prepare("DELETE FROM turn_vectors WHERE owner = ? AND session = ?"));
  TRY_VOID(remove.bind(owner).bind(session).run());
  return connection.changes() > 0;
}

}  // namespace plimsoll::sqlite

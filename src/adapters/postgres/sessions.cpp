#include "adapters/postgres/sessions.hpp"

#include "adapters/postgres/rows_of_sessions.hpp"

namespace plimsoll::postgres {
namespace {

class PostgresSessions final : public SessionStore {
 public:
  explicit PostgresSessions(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<void> append(std::string_view owner, std::string_view session, std::span<const Turn> turns,
                      const SessionLimits& limits) override {
    return changed(owner, session, [&](Connection& connection) {
      return append_turns(connection, owner, session, turns, limits);
    });
  }
  Result<std::vector<Turn>> turns(std::string_view owner, std::string_view session) override {
    return database_->read([&](Connection& connection) { return select_turns(connection, owner, session); });
  }
  Result<std::vector<SessionInfo>> sessions(std::string_view owner, std::size_t limit) override {
    return database_->read([&](Connection& connection) { return select_sessions(connection, owner, limit); });
  }
  Result<bool> forget(std::string_view owner, std::string_view session) override {
    return changed(owner, session,
                   [&](Connection& connection) { return delete_session(connection, owner, session); });
  }

  Result<void> keep_summary(std::string_view owner, std::string_view session, const KeptSummary& summary,
                            const SummaryLimits& limits) override {
    return changed(owner, session, [&](Connection& connection) -> Result<void> {
      TRY(const bool gone, was_forgotten_since(connection, owner, session, summary.at_ms));
      return gone ? Result<void>() : insert_summary(connection, owner, session, summary, limits);
    });
  }
  Result<std::vector<KeptSummary>> summaries(std::string_view owner, std::string_view session,
                                             bool whole) override {
    return database_->read(
        [&](Connection& connection) { return select_summaries(connection, owner, session, whole); });
  }
  Result<KeptSummary> summary(std::string_view owner, std::string_view session,
                              std::string_view hash) override {
    return database_->read(
        [&](Connection& connection) { return select_summary(connection, owner, session, hash); });
  }

  Result<void> keep_turn_vectors(std::string_view owner, std::string_view session, std::string_view embedder,
                                 std::span<const TurnVector> vectors, std::int64_t at_ms,
                                 std::int64_t age_ms) override {
    return changed(owner, session, [&](Connection& connection) -> Result<void> {
      TRY(const bool gone, was_forgotten_since(connection, owner, session, at_ms));
      if (gone) return {};
      return insert_turn_vectors(connection, owner, session, embedder, vectors, age_ms);
    });
  }
  Result<std::vector<TurnVector>> turn_vectors(std::string_view owner, std::string_view session,
                                               std::string_view embedder) override {
    return database_->read(
        [&](Connection& connection) { return select_turn_vectors(connection, owner, session, embedder); });
  }

  Result<void> begin_run(const Run& run, std::int64_t most) override {
    return database_->written([&](Connection& connection) { return insert_run(connection, run, most); });
  }
  Result<void> add_part(std::string_view owner, std::string_view run, std::string_view json) override {
    return database_->written(
        [&](Connection& connection) { return insert_part(connection, owner, run, json); });
  }
  Result<void> end_run(std::string_view owner, std::string_view run, RunState state,
                       std::string_view outcome) override {
    return database_->written(
        [&](Connection& connection) { return close_run(connection, owner, run, state, outcome); });
  }
  Result<Run> run(std::string_view owner, std::string_view kind, std::string_view id) override {
    return database_->viewed([&](Connection& connection) { return select_run(connection, owner, kind, id); });
  }
  Result<std::vector<RunInfo>> runs(std::string_view owner, std::string_view kind,
                                    std::size_t limit) override {
    return database_->read(
        [&](Connection& connection) { return select_runs(connection, owner, kind, limit); });
  }
  Result<bool> forget_run(std::string_view owner, std::string_view kind, std::string_view id) override {
    return database_->written(
        [&](Connection& connection) { return delete_run(connection, owner, kind, id); });
  }
  Result<void> interrupt_runs() override { return database_->written(interrupt_all); }

 private:
  // Changes a session while nobody else does: a request that was running when the session was deleted must
  // see that, in whatever gateway.
  template <typename Work>
  auto changed(std::string_view owner, std::string_view session, Work work)
      -> decltype(work(std::declval<Connection&>())) {
    return database_->written(database_->lock_key("session", owner, session), std::move(work));
  }

  const std::shared_ptr<Database> database_;
};

}  // namespace

Result<std::unique_ptr<SessionStore>> open_sessions(const Options& options) {
  TRY(auto database, Database::open(options));
  return std::make_unique<PostgresSessions>(std::move(database));
}

}  // namespace plimsoll::postgres

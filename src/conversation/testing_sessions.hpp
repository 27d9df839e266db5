// For tests: a store of sessions in memory that keeps summaries and vectors of turns, and nothing else.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "plimsoll/sessions.hpp"

namespace plimsoll::conversation {

class MemorySessions final : public SessionStore {
 public:
  Result<void> append(std::string_view, std::string_view, std::span<const Turn>,
                      const SessionLimits&) override {
    return {};
  }
  Result<std::vector<Turn>> turns(std::string_view, std::string_view) override { return std::vector<Turn>(); }
  Result<std::vector<SessionInfo>> sessions(std::string_view, std::size_t) override {
    return std::vector<SessionInfo>();
  }
  Result<bool> forget(std::string_view, std::string_view) override { return false; }
  Result<void> keep_summary(std::string_view owner, std::string_view session, const KeptSummary& summary,
                            const SummaryLimits&) override {
    summaries_[key(owner, session)].push_back(summary);
    return {};
  }
  Result<std::vector<KeptSummary>> summaries(std::string_view owner, std::string_view session,
                                             bool) override {
    return summaries_[key(owner, session)];
  }
  Result<KeptSummary> summary(std::string_view, std::string_view, std::string_view) override {
    return fail(Errc::not_found, "none");
  }
  Result<void> keep_turn_vectors(std::string_view owner, std::string_view session, std::string_view,
                                 std::span<const TurnVector> vectors, std::int64_t, std::int64_t) override {
    for (const TurnVector& one : vectors) kept[key(owner, session)].push_back(one);
    return {};
  }
  Result<std::vector<TurnVector>> turn_vectors(std::string_view owner, std::string_view session,
                                               std::string_view) override {
    return kept[key(owner, session)];
  }
  Result<void> begin_run(const Run&, std::int64_t) override { return {}; }
  Result<void> add_part(std::string_view, std::string_view, std::string_view) override { return {}; }
  Result<void> end_run(std::string_view, std::string_view, RunState, std::string_view) override { return {}; }
  Result<Run> run(std::string_view, std::string_view, std::string_view) override {
    return fail(Errc::not_found, "none");
  }
  Result<std::vector<RunInfo>> runs(std::string_view, std::string_view, std::size_t) override {
    return std::vector<RunInfo>();
  }
  Result<bool> forget_run(std::string_view, std::string_view, std::string_view) override { return false; }
  Result<void> interrupt_runs() override { return {}; }

  static std::string key(std::string_view owner, std::string_view session) {
    return fmt::format("{}/{}", owner, session);
  }
  std::map<std::string, std::vector<TurnVector>> kept;  // vectors, by owner and session

 private:
  std::map<std::string, std::vector<KeptSummary>> summaries_;
};

}  // namespace plimsoll::conversation

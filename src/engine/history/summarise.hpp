// Turns made into a summary: by a model, or by choosing among their sentences (F5).
#pragma once

#include <string>
#include <vector>

#include "engine/request_state.hpp"

namespace plimsoll::engine {

// What is to be summarised, without what models thought before they spoke.
struct SummarySource {
  struct Said {
    bool by_user = false;
    std::string text;
  };
  std::string earlier;  // the summary that this one continues; empty: none
  std::vector<Said> said;
};

// What a message says, as such a source takes it.
SummarySource::Said said_in(const nlohmann::ordered_json& message);

// The sentences that carry the most of it, in their order, a line for each speaker in turn. Empty where the
// limit holds none.
std::string extracted(const SummarySource& source, const PlanModel& model, Tokens limit);

// Who may be asked for a summary, in order: the model that `summary_model` names, or the one that the request
// goes to; then one that is built in.
std::vector<models::ModelLocation> summary_writers(const Engine& engine, const RequestState& state);

// A chat of ours that is not streamed, as it goes to that model. `needed`: tokens of its window.
UpstreamRequest own_request(const Engine& engine, const models::ModelLocation& writer,
                            const nlohmann::ordered_json& body, Tokens needed);

// The request to such a model; a source too long for it comes as an extract. over_budget where its window
// holds none. May block.
Result<UpstreamRequest> summary_request(Engine& engine, const models::ModelLocation& writer,
                                        const SummarySource& source, Tokens limit, Deadline deadline);

struct WrittenSummary {
  std::string text;  // without the model's thoughts, not empty
  Tokens used = 0;   // read and written, as the server tells
};
Awaitable<Result<WrittenSummary>> written_summary(WorkerContext& worker, std::size_t member,
                                                  UpstreamRequest request, Deadline deadline);

}  // namespace plimsoll::engine

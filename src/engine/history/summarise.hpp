// Makes a summary of turns: with a model, or by choosing sentences (F5).
#pragma once

#include <string>
#include <vector>

#include "engine/stages.hpp"

namespace plimsoll::engine {

// Text to summarise, without the thinking of models.
struct SummarySource {
  struct Said {
    bool by_user = false;
    std::string text;
  };
  std::string earlier;  // the summary that this one continues; empty: none
  std::vector<Said> said;
};

// Returns the text of a message for such a source.
SummarySource::Said said_in(const nlohmann::ordered_json& message);

// Returns the most informative sentences in their order, one line per speaker. Empty if none fits the
// limit.
std::string extracted(const SummarySource& source, const PlanModel& model, Tokens limit);

// Returns the models to ask for a summary, in order: `summary_model`, or the model of the request (`asked`);
// then the embedded model.
std::vector<models::ModelLocation> summary_writers(const Engine& engine, const models::ModelLocation& asked);

// Our own chat request to a model, not streamed.
struct OwnRequest {
  UpstreamRequest upstream;
  std::shared_ptr<HeldShare> held{};  // its share of the owner's limits; null: there are none
  Tokens input = 0;                   // of its prompt
};
struct OwnTokens {
  Tokens input = 0;
  Tokens answer = 0;
  Tokens margin = 0;
  Tokens kept_for_request = 0;  // of the owner's limits: what the client's own request takes, about
};
// over_budget: the owner's limits have no room for it. May block.
Result<OwnRequest> own_request(const Engine& engine, const Received& received,
                               const models::ModelLocation& writer, const nlohmann::ordered_json& body,
                               const OwnTokens& tokens);

// Returns the request for a summary; a source that is too long is replaced by an extract. over_budget: its
// window is too small, or the owner's limits have no room. May block.
Result<OwnRequest> summary_request(const Engine& engine, const Received& received,
                                   const models::ModelLocation& writer, const SummarySource& source,
                                   Tokens limit, Tokens kept_for_request, Deadline deadline);

struct WrittenSummary {
  std::string text;    // without thinking, not empty
  Tokens used = 0;     // input and output, as the server reports
  Tokens settled = 0;  // of that, already charged to the owner's limits
  Usage usage;         // what it reports, for the cost
};
// The embedded model costs nothing.
Cost cost_of(const Engine& engine, const models::ModelLocation& writer, const WrittenSummary& written);
// Sends the request and charges what was used to its share.
Awaitable<Result<WrittenSummary>> written_summary(WorkerContext& worker, std::size_t member,
                                                  OwnRequest request, Deadline deadline);

}  // namespace plimsoll::engine

// Talks to a model from the terminal through the same engine as the gateway, with the same counting,
// planning, documents and traces, but without a server.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/settings.hpp"
#include "engine/evidence/memories.hpp"
#include "plimsoll/grounding.hpp"
#include "plimsoll/plan.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll {

struct Source {
  std::size_t number = 0;  // as in the prompt
  std::string document;
  std::string path;  // of the section, or empty
  std::string text;
  std::uint64_t page = 0, last_page = 0, first_line = 0, last_line = 0;  // from 1; 0: not known
};

struct Spoken {
  std::string text;
  std::string finish_reason;
  std::vector<Source> sources;    // of the passages in the prompt, in their order
  std::string without_documents;  // reason, if an index was named but no passage of it was sent
  std::string nothing_near;       // warning, if the passages are not near the question
  std::string rewritten;          // the question as a model rewrote it for the search; empty: not rewritten
  bool is_compressed = false;     // a summary replaced older turns
  bool is_quoted = false;         // the text is quoted from the sources; no model was asked
  Trace trace;
};

class Conversation {
 public:
  // `upstreams`: as for `plimsoll serve`; none: a local Ollama, else the embedded model.
  // The settings must outlive it.
  static Result<std::unique_ptr<Conversation>> open(const config::Settings& settings,
                                                    const std::vector<std::string>& upstreams);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation();

  // Sends a chat request; sets `stream` itself. `words` gets each piece of the answer as it arrives, `step`
  // the steps before it that take time. Ctrl-C ends the call with an error.
  Result<Spoken> say(nlohmann::ordered_json request, const std::function<void(std::string_view)>& words,
                     std::function<void(std::string_view)> step = {});
  // Like say(), but no model answers: the answer is made of the best sentences of the passages.
  Result<Spoken> quote(nlohmann::ordered_json request, const std::string& question,
                       std::function<void(std::string_view)> step = {});
  // Returns a function that compares meanings with the index's embedder; none if it has no embedder.
  Similarity similarity(const std::string& index);
  // Fails with not_found if there is no such index; the error lists the known ones.
  Result<void> check_index(const std::string& name);
  // Fails with unknown_model if no upstream accepts the model; the error lists the known ones.
  Result<void> check_model(const std::string& name) const;
  // Returns whether the embedded model is the only upstream.
  bool is_embedded() const;
  // Returns whether the model for a request with this name is embedded and small: it has less than a billion
  // parameters.
  bool is_small(const std::string& name) const;
  // Returns the server's name of the model for a request with this name; empty: no server accepts it.
  std::string model_named(const std::string& name) const;
  // Stores a fact for all conversations.
  Result<engine::AddedFact> remember(const std::string& text);
  // Returns the plan for a request without sending it.
  Result<Plan> plan(const nlohmann::ordered_json& request);

 private:
  struct State;
  explicit Conversation(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll

// Talking to a model from the terminal, through the same engine as the gateway: the same counting, planning,
// documents and traces, with no server between.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/settings/settings.hpp"
#include "engine/evidence/memories.hpp"
#include "plimsoll/plan.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll {

struct Source {
  std::size_t number = 0;  // as the prompt has it
  std::string document;
  std::string path;  // of the section, or empty
  std::string text;
  std::uint64_t page = 0, first_line = 0, last_line = 0;  // from 1; 0: not known
};

struct Spoken {
  std::string text;
  std::string finish_reason;
  std::vector<Source> sources;    // of the passages that went along, in their order
  std::string without_documents;  // why, where an index was named and no passage of it went along
  std::string nothing_near;       // a sentence, where passages went along that are not near the question
  Trace trace;
};

class Conversation {
 public:
  // `upstreams`: as `plimsoll serve` takes them; none: an Ollama on this machine, else the embedded model.
  // The settings outlive it.
  static Result<std::unique_ptr<Conversation>> open(const base::Settings& settings,
                                                    const std::vector<std::string>& upstreams);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation();

  // A chat request without `stream`, which is set. `words` is told each piece of the answer as it comes.
  // Ctrl-C ends it as an error. `step` is told what else takes time before it.
  Result<Spoken> say(nlohmann::ordered_json request, const std::function<void(std::string_view)>& words,
                     std::function<void(std::string_view)> step = {});
  // not_found where there is no such index; the error names those that there are.
  Result<void> check_index(const std::string& name);
  // unknown_model where no upstream would take a request for it; the error names those that there are.
  Result<void> check_model(const std::string& name) const;
  // Whether the embedded model is all there is.
  bool is_embedded() const;
  // The model that a request with this name goes to, as its server calls it; empty: none would take it.
  std::string model_named(const std::string& name) const;
  // Remembers a fact, for all conversations.
  Result<engine::AddedFact> remember(const std::string& text);
  // The plan that it would go by.
  Result<Plan> plan(const nlohmann::ordered_json& request);

 private:
  struct State;
  explicit Conversation(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll

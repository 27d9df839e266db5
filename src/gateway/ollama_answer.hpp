// An answer in OpenAI's form, as Ollama's clients read it: lines of JSON, or one object.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/ollama_ask.hpp"

namespace plimsoll::gateway {

class OllamaAnswer {
 public:
  OllamaAnswer(OllamaRoute route, std::string model) : route_(route), model_(std::move(model)) {}

  // Said in the last line, under plimsoll.warnings.
  void add_note(std::string note) { notes_.push_back(std::move(note)); }

  // The data of one event; what becomes of it is added to `lines`. Calls of tools are kept until they are
  // whole; what comes behind the answer, as usage, until the end.
  void take(std::string_view data, std::string& lines);
  // The end of the stream: the last line, or that it broke off.
  void finish(std::string& lines);

  // A whole completion as one object. upstream_failed: it is none.
  Result<std::string> whole(std::string_view completion);

  // Where a model was to be loaded and nothing was asked.
  std::string loaded(bool unloads) const;

 private:
  using Json = nlohmann::ordered_json;
  using Clock = std::chrono::steady_clock;
  struct Call {
    std::string id, name, arguments;
  };

  void take_choice(const Json& choice, std::string& lines);
  void take_calls(const Json& calls);
  void take_extras(const Json& chunk);
  Json opening() const;
  void put_text(Json& line, const std::string& text, const std::string& thought) const;
  Json calls_json();
  void put_calls(std::string& lines);
  void put_end(Json& line);

  OllamaRoute route_;
  std::string model_;
  std::vector<std::string> notes_;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point first_{};  // when the first of the answer came
  bool ended_ = false;
  std::string reason_;
  std::map<std::size_t, Call> calls_;  // by index
  Json usage_, timings_, plimsoll_, source_nodes_;
};

// {"error": "..."}
std::string ollama_error(std::string_view what);

}  // namespace plimsoll::gateway

// Translates an answer from OpenAI's format to Ollama's: lines of JSON, or one object.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/http/translating_sink.hpp"
#include "gateway/ollama/ollama_ask.hpp"

namespace plimsoll::gateway {

class OllamaAnswer final : public AnswerTranslator {
 public:
  // `num_ctx`: the window requested by the client.
  OllamaAnswer(OllamaRoute route, std::string model, std::optional<Tokens> num_ctx = {})
      : route_(route), model_(std::move(model)), num_ctx_(num_ctx) {}

  // Adds a note to plimsoll.warnings in the last line.
  void add_note(std::string note) { notes_.push_back(std::move(note)); }

  std::string_view stream_type() const override { return "application/x-ndjson"; }
  void planned(const Trace& trace) override;
  // Tool calls are held until they are complete; data after the answer, such as usage, until the end.
  void take(std::string_view data, std::string& lines) override;
  // Adds the last line, or an error if the answer was cut off.
  void finish(bool complete, std::string& lines) override;
  void break_off(std::string what, std::string& lines) override;
  Result<std::string> whole(std::string_view completion, bool streams) override;
  std::string error(int status, std::string body, std::string_view said) const override;

  // Returns the answer to a request that only loads or unloads a model.
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
  std::optional<Tokens> num_ctx_;
  std::vector<std::string> notes_;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point first_{};  // arrival of the first piece
  bool ended_ = false;
  std::string reason_;
  std::map<std::size_t, Call> calls_;  // by index
  Json usage_, timings_;
};

// {"error": "..."}
std::string ollama_error(std::string_view what);

}  // namespace plimsoll::gateway

// A chat's answer as clients of Anthropic's Messages API read it: one message, or a stream of events.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "gateway/http/event_answer.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::gateway {

class MessagesAnswer final : public EventAnswer {
 public:
  MessagesAnswer(std::string id, std::string model) : id_(std::move(id)), model_(std::move(model)) {}

  void planned(const Trace& trace) override { planned_input_ = trace.input; }
  std::string error(int status, std::string body, std::string_view said) const override;

 private:
  enum class Kind : std::uint8_t { thought, redacted, text, call };
  struct Call {
    std::string id, name, arguments;
  };

  void begin_stream(std::string& out);
  void take_chunk(const Json& chunk, std::string& out) override;
  void say(Kind kind, const std::string& words, std::string& out);
  void take_thought(const Json& block, std::string& out);
  void take_call(const Json& piece, std::string& out);
  void open(Kind kind, Json block, std::string& out);
  void close(std::string& out);
  void add_to_open(const Json& delta, std::string& out);
  void end(std::string& out) override;
  void fail_with(std::string message, std::string& out) override;
  std::string as_one() const override;
  Json usage_json() const;
  std::string_view stop_reason() const;
  void emit(std::string& out, std::string_view type, const Json& fields);

  std::string id_, model_;
  Tokens planned_input_ = 0;
  Json content_ = Json::array();       // of the whole message; the last one may be open
  std::optional<Kind> open_;           // what the last block is, while more of it may come
  std::size_t streamed_call_ = 0;      // which call goes out as it comes: blocks cannot come by turns
  std::map<std::size_t, Call> calls_;  // by their index in the chat
  std::vector<std::pair<Kind, std::string>> said_in_call_;  // while a call was open; follows it
  Json stop_sequence_;                                      // that ended the answer, or null
  Json usage_;
  bool begun_ = false;
};

// {"type": "error", "error": {"type", "message"}}, and `detail`, which RAGEngine's clients look for.
std::string messages_error(int status, std::string_view what);

}  // namespace plimsoll::gateway

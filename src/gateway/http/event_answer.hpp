// What the translations into streams of server-sent events have in common: when a chat's answer has ended,
// was broken off, or came as one piece.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "gateway/http/translating_sink.hpp"

namespace plimsoll::gateway {

class EventAnswer : public AnswerTranslator {
 public:
  std::string_view stream_type() const final { return "text/event-stream; charset=utf-8"; }
  void take(std::string_view data, std::string& out) final;
  void finish(std::string& out) final;
  Result<std::string> whole(std::string_view completion, bool streams) final;

 protected:
  using Json = nlohmann::ordered_json;

  // An event of the chat, or all of it: `message` stands in the place of `delta` then.
  virtual void take_chunk(const Json& chunk, std::string& out) = 0;
  virtual void end(std::string& out) = 0;
  virtual void fail_with(std::string message, std::string& out) = 0;
  virtual std::string as_one() const = 0;  // the answer that has ended, as one object

  std::string reason_;   // why the chat has ended, as it says it
  bool silent_ = false;  // nobody wants events

 private:
  bool done_ = false, ended_ = false;
};

}  // namespace plimsoll::gateway

// Translates a chat's answer to OpenAI's Responses API: one object, or a stream of typed events.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "gateway/http/event_answer.hpp"
#include "gateway/openai/openai_answer.hpp"

namespace plimsoll::gateway {

class ResponsesAnswer final : public EventAnswer {
 public:
  using Json = nlohmann::ordered_json;
  // Stores the whole response before the client gets it; an error is added to its warnings. Null: not stored.
  using Keep = std::function<Result<void>(const Json& response)>;

  // `opening`: the fields that a response repeats from its request.
  ResponsesAnswer(Json opening, Keep keep) : response_(std::move(opening)), keep_(std::move(keep)) {}
  static Json opening(const Json& request, const std::string& id);

  // The Responses API has OpenAI's errors.
  std::string error(int /*status*/, std::string body, std::string_view said) const override {
    return with_detail(body, said);
  }
  bool is_kept() const override { return keep_ != nullptr; }

 private:
  enum class Kind : std::uint8_t { thought, text, refusal, call };
  struct Item {
    Kind kind;
    std::string id;
    std::string said;           // text, or arguments of a call
    std::string call_id, name;  // of a call
    bool closed = false;
    bool cut = false;  // still open when the answer reached its limit
  };

  void begin_stream(std::string& out);
  void take_chunk(const Json& chunk, std::string& out) override;
  void take_delta(const Json& delta, std::string& out);
  void say(Kind kind, const std::string& words, std::string& out);
  void take_call(const Json& piece, std::string& out);
  std::size_t open(Item item, std::string& out);
  void close(std::size_t index, std::string& out);
  void close_text(std::string& out);
  void end(std::string& out) override;
  void fail_with(std::string message, std::string& out) override;
  std::string as_one() const override;
  void settle();  // sets status, output and usage of the response
  Json item_json(const Item& item, bool whole) const;
  static Json part_json(const Item& item, std::string_view said);
  void emit(std::string& out, std::string_view type, const Json& fields);

  Json response_;
  Keep keep_;
  std::vector<Item> items_;
  std::optional<std::size_t> open_text_;      // the item for text
  std::map<std::size_t, std::size_t> calls_;  // item of a call, by its index in the chat
  Json usage_;
  std::int64_t number_ = 0;  // of the next event
  bool begun_ = false;
};

}  // namespace plimsoll::gateway

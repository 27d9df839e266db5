// A chat's answer as clients of OpenAI's Responses API read it: one object, or a stream of typed events.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "gateway/http/event_answer.hpp"

namespace plimsoll::gateway {

class ResponsesAnswer final : public EventAnswer {
 public:
  using Json = nlohmann::ordered_json;
  // Told the whole response before the client is; an error goes into its warnings. Null: it is not kept.
  using Keep = std::function<Result<void>(const Json& response)>;

  // `opening`: what the response repeats of its request.
  ResponsesAnswer(Json opening, Keep keep) : response_(std::move(opening)), keep_(std::move(keep)) {}
  static Json opening(const Json& request, const std::string& id);

  std::string error(std::string body) const override { return body; }
  bool is_kept() const override { return keep_ != nullptr; }

 private:
  enum class Kind : std::uint8_t { thought, text, refusal, call };
  struct Item {
    Kind kind;
    std::string id;
    std::string said;           // the text, or the arguments of a call
    std::string call_id, name;  // of a call
    bool closed = false;
    bool cut = false;  // it was still open when the limit of the answer came
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
  void settle();  // status, output and usage of the response
  Json item_json(const Item& item, bool whole) const;
  static Json part_json(const Item& item, std::string_view said);
  void emit(std::string& out, std::string_view type, Json fields);

  Json response_;
  Keep keep_;
  std::vector<Item> items_;
  std::optional<std::size_t> open_text_;      // the item that text is added to
  std::map<std::size_t, std::size_t> calls_;  // which item a call is, by the index it has in the chat
  Json usage_;
  std::int64_t number_ = 0;  // of the next event
  bool begun_ = false;
};

}  // namespace plimsoll::gateway

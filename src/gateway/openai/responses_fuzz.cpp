// Any requests to the Responses API and answers of chats: they are translated or left out,
// and a whole answer has the same content as its stream.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "chat/response_chat.hpp"
#include "gateway/openai/responses_answer.hpp"

namespace {

nlohmann::ordered_json opened(const nlohmann::ordered_json& request) {
  return plimsoll::gateway::ResponsesAnswer::opening(request, "resp_1");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Json = nlohmann::ordered_json;
  namespace chat = plimsoll::chat;
  namespace gateway = plimsoll::gateway;
  if (size > 20'000) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Json request = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (request.is_object()) {
    const auto input = request.find("input");
    const Json items = chat::items_of_input(input == request.end() ? Json() : *input);
    (void)chat::beyond_a_chat(request, items);
    if (!chat::chat_of_response(request, items)["messages"].is_array()) std::abort();
  }
  gateway::ResponsesAnswer stream(opened(request.is_object() ? request : Json::object()), nullptr);
  std::string events;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    stream.take(text.substr(at, end - at), events);
    at = end + 1;
  }
  stream.finish(/*complete=*/false, events);
  gateway::ResponsesAnswer one(opened(Json::object()), nullptr), other(opened(Json::object()), nullptr);
  if (one.whole(text, true).has_value() != other.whole(text, false).has_value()) std::abort();
  return 0;
}

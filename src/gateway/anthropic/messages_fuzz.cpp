// Requests to the Messages API and answers of chats, whatever they hold: they are translated or refused.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "gateway/anthropic/messages_answer.hpp"
#include "gateway/anthropic/messages_chat.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Json = nlohmann::ordered_json;
  namespace gateway = plimsoll::gateway;
  if (size > 20'000) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Json request = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (request.is_object())
    for (const bool for_anthropic : {false, true}) {
      const auto read =
          gateway::chat_of_messages(request, {.limited = false, .for_anthropic = for_anthropic});
      if (read && !read->chat.at("messages").is_array()) std::abort();
      if (read && !for_anthropic && !read->beyond_a_chat.empty()) std::abort();
    }
  gateway::MessagesAnswer stream("msg_1", "m");
  std::string events;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    stream.take(text.substr(at, end - at), events);
    at = end + 1;
  }
  stream.finish(/*complete=*/false, events);
  gateway::MessagesAnswer one("msg_1", "m"), other("msg_1", "m");
  if (one.whole(text, true).has_value() != other.whole(text, false).has_value()) std::abort();
  return 0;
}

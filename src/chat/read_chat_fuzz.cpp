// Any body: an error, or parts that have every message exactly once and never separate a tool result from its
// call.
#include <cstdlib>
#include <vector>

#include "chat/chat_request.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parts = plimsoll::chat::read_chat({reinterpret_cast<const char*>(data), size});
  if (!parts) return 0;
  const auto& messages = parts->messages();
  std::vector<int> seen(messages.size(), 0);
  const auto see = [&](const plimsoll::chat::Messages& some) {
    for (const std::size_t i : some) ++seen[i];
  };
  see(parts->system);
  see(parts->question);
  for (const auto& turn : parts->turns) {
    see(turn);
    // A turn does not start with a tool result, unless the conversation does.
    if (!turn.empty() && messages[turn.front()]["role"] == "tool" &&
        turn.front() != parts->turns.front().front())
      std::abort();
  }
  for (const int times : seen)
    if (times != 1) std::abort();
  if (parts->asked_at >= messages.size()) std::abort();
  return 0;
}

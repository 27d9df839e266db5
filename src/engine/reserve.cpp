// Reserves a plan's tokens from its owner's limits before it is sent.
#include <algorithm>

#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "chat/forwarded.hpp"
#include "chat/write_chat.hpp"
#include "engine/stages.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

bool names_limit(const Received& received, const chat::ChatRequest& chat) {
  if (received.is_chat()) return chat.max_tokens.has_value();
  if (received.ask.kind != RequestKind::response && received.ask.kind != RequestKind::completion) return true;
  const auto limit = chat::answer_limit(chat);
  return limit && limit->wanted && !limit->is_unlimited;
}

Need need_of(const Received& received, const chat::ChatRequest& chat, const Figures& figures) {
  // Embedding input is not counted, and of several prompts only the longest is. They have no pictures.
  const bool counted = received.is_chat() || received.ask.kind == RequestKind::response;
  const Tokens estimate = counted ? 0 : estimated_text_tokens(received.ask.body.size());
  return {std::max(figures.input, estimate), (figures.thinking + figures.answer) * chat::answers_wanted(chat),
          !names_limit(received, chat)};
}

// Returns the plan with a lower limit in the body, so that the server enforces it. None: the body has none.
std::optional<Planned> limited_to(const Received& received, Planned planned, Tokens answer) {
  Json body = base::parse_json(planned.outgoing(received));
  if (!body.is_object()) return std::nullopt;
  planned.body = chat::with_limit(std::move(body), received.ask.kind, answer);
  planned.figures.answer = answer;
  planned.changed = true;
  return planned;
}

}  // namespace

tl::expected<Reserved, Refusal> reserve(const Engine& engine, const Received& received,
                                        const Request& request, const Planned& planned) {
  Reserved reserved;
  if (!engine.reserve || !received.ask.caller.metered) return reserved;
  const Need need = need_of(received, request.chat, planned.figures);
  auto share = engine.reserve(received.ask.caller, need);
  if (!share) return tl::unexpected(std::move(share).error());
  reserved.allowed_answer = need.answer;
  reserved.held = std::move(share->held);
  // Servers differ in where a completion without a limit ends, and only what is sent can be relied on.
  const bool must_say = received.ask.kind == RequestKind::completion && need.answer_may_shrink;
  if (share->answer >= need.answer) {
    if (must_say) reserved.limited = limited_to(received, planned, planned.figures.answer);
    return reserved;
  }
  const Tokens each = share->answer / chat::answers_wanted(request.chat) - planned.figures.thinking;
  if (each < 1)
    return tl::unexpected(Refusal{Refusal::Kind::limit, "insufficient_quota",
                                  fmt::format("what is left of the key's limits, {} tokens for answers, is "
                                              "less than one for each of the {} answers; "
                                              "ask for fewer at once",
                                              base::with_thousands(share->answer),
                                              base::with_thousands(chat::answers_wanted(request.chat))),
                                  0});
  const Tokens answer = each;
  reserved.limited = limited_to(received, planned, answer);
  if (reserved.limited)
    reserved.warning =
        fmt::format("the answer is limited to {} tokens by what is left of the key's daily budget",
                    base::with_thousands(answer));
  return reserved;
}

}  // namespace plimsoll::engine

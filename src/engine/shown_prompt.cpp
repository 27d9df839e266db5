#include "engine/shown_prompt.hpp"

#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "count/chat/chat_body.hpp"

namespace plimsoll::engine {
namespace {

constexpr std::size_t most_on_each_side = std::size_t{128} << 10;

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

ShownPrompt shown_prompt(const Engine& engine, const Received& received, const Planned& planned,
                         Deadline deadline) {
  ShownPrompt shown;
  const auto without = [&](std::string why) {
    shown.why = std::move(why);
    return shown;
  };
  if (planned.refusal) return without("the request does not fit, so nothing would be sent");
  const auto model = engine.models.open(planned.location, deadline);
  if (!model) return without(model.error().what);
  ChatOptions options = model->chat;
  options.keep_rendered = true;
  const auto body = base::parse_json(planned.outgoing(received));
  auto counted = count::count_chat_body(model->tokenizer, body, options);
  if (!counted) return without(counted.error().what);
  // Its format is a guess of ours, good enough for counting.
  if (counted->rendered.empty() || counted->template_used == "anthropic")
    return without("the chat template of this model is not known: its maker does not publish it");
  shown.format = counted->template_used;
  if (counted->exactness != Exactness::exact) shown.why = counted->why;
  shown.exactness = counted->exactness;
  shown.bytes = counted->rendered.size();
  std::string& text = shown.text = std::move(counted->rendered);
  if (text.size() <= 2 * most_on_each_side) return shown;
  std::size_t last = text.size() - most_on_each_side;
  while (last < text.size() && continues_character(text[last])) ++last;
  shown.end = text.substr(last);
  text.resize(base::prefix_of(text, most_on_each_side).size());
  return shown;
}

}  // namespace plimsoll::engine

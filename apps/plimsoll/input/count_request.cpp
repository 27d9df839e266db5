#include "input/count_request.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;
using base::with_thousands;

// One part of a request and its tokens.
struct ChatPart {
  std::string name, text;
  Tokens tokens;
};

std::vector<ChatPart> parts_of(const Json& request, const ChatCount& counted) {
  constexpr std::size_t shown_bytes = 48;
  std::vector<ChatPart> parts{{"format", counted.template_used, counted.template_tokens}};
  const Json& messages = request.is_array() ? request : request["messages"];
  for (std::size_t i = 0; i < counted.messages.size(); ++i) {
    const Json& message = messages[i];
    std::string text = message.contains("content") && message["content"].is_string()
                           ? message["content"].get<std::string>()
                           : "";
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    if (text.size() > shown_bytes) {
      text.resize(shown_bytes);
      while (!base::is_valid_utf8(text)) text.pop_back();
      text += "…";
    }
    parts.push_back({fmt::format("{} {}", i + 1, message.value("role", "?")), text, counted.messages[i]});
  }
  if (counted.tools > 0) parts.push_back({"tools", "", counted.tools});
  if (counted.images > 0) parts.push_back({"images", "", counted.images});
  return parts;
}

}  // namespace

Result<void> count_request(const CountChoice& chosen, const CountOptions& options) {
  TRY(const std::string body,
      base::read_file(options.chat == "-" ? "/dev/stdin" : options.chat, std::uint64_t{256} << 20));
  ChatOptions chat = chosen.chat;
  if (!options.chat_template.empty()) chat.chat_template = options.chat_template;
  if (!options.specials.empty()) chat.specials = chosen.specials;
  chat.date = options.date;
  TRY(const ChatCount counted, count_chat(chosen.tokenizer, body, chat));
  const Exactness exactness = worse(counted.exactness, chosen.exactness);
  const std::string& why = chosen.exactness > counted.exactness ? chosen.why : counted.why;
  const auto parts = parts_of(base::parse_json(body), counted);

  if (options.json) {
    Json all{{"tokenizer", chosen.tokenizer.info().name},
             {"exactness", name_of(exactness)},
             {"why", why},
             {"template", counted.template_used},
             {"tokens", counted.total},
             {"template_tokens", counted.template_tokens},
             {"messages", counted.messages},
             {"tools", counted.tools},
             {"images", counted.images}};
    if (!chosen.model.empty()) all["model"] = chosen.model;
    if (chosen.window > 0) all["window"] = chosen.window;
    return print_out(base::readable_json(all));
  }
  Table table{{"PART", "TOKENS", ""}, {false, true, false}, {}, true};
  for (const ChatPart& part : parts)
    table.rows.push_back({part.name, with_thousands(part.tokens), part.text});
  table.rows.push_back({"total", with_thousands(counted.total),
                        chosen.window > 0 ? fmt::format("{} of {}", share_cell(counted.total, chosen.window),
                                                        with_thousands(chosen.window))
                                          : ""});
  return print_out(draw(table, terminal_of_stdout()) + counted_with(chosen, exactness, why));
}

}  // namespace plimsoll

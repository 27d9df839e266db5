// Renders a chat template as Hugging Face's apply_chat_template does: Jinja with trim_blocks and
// lstrip_blocks, tojson without ASCII escapes, raise_exception and strftime_now.
//
// Pure: no clock (the date is given), no files. Never throws. Bounded: a template that would not end, or
// would make more text than memory holds, ends in an error (count/jinja_hooks.hpp has the numbers).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::count {

struct TemplateInput {
  const nlohmann::ordered_json* messages = nullptr;  // an array of objects
  const nlohmann::ordered_json* tools = nullptr;     // an array, or null where there are none
  nlohmann::ordered_json variables;                  // bos_token, eos_token, add_generation_prompt, ...
  std::string date;  // "2026-11-15": what strftime_now formats; empty: 2025-01-01
};

// A stretch of the rendered text: the template's own, or of one message or of the tools.
struct RenderedPart {
  static constexpr int of_template = -1;
  std::size_t end = 0;       // in bytes of the text
  int origin = of_template;  // index of the message; messages.size(): the tools
};

struct Rendered {
  std::string text;
  std::vector<RenderedPart> parts;  // in order, together the whole text
  bool used_date = false;
};

// A role is the template's text; everything else in a message, and all of the tools, is the request's.
// Text that a template changes beyond recognition (upper, title, ...) may count as the template's own.
Result<Rendered> render_template(std::string_view template_text, const TemplateInput& input);

}  // namespace plimsoll::count

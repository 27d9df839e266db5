// Renders a chat template as Hugging Face's apply_chat_template does: Jinja with trim_blocks and
// lstrip_blocks, tojson without ASCII escapes, raise_exception and strftime_now.
//
// Pure: no clock (the date is given), no files. Never throws. Bounded: a template that does not terminate, or
// produces too much text, ends with an error (count/jinja_hooks.hpp has the limits).
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
  const nlohmann::ordered_json* tools = nullptr;     // an array, or null
  nlohmann::ordered_json variables;                  // bos_token, eos_token, add_generation_prompt, ...
  std::string date;                                  // "2026-11-15", for strftime_now; empty: 2025-01-01
};

// A range of the rendered text: from the template, from one message or from the tools.
struct RenderedPart {
  static constexpr int of_template = -1;
  std::size_t end = 0;       // in bytes of the text
  int origin = of_template;  // index of the message; messages.size(): the tools
};

struct Rendered {
  std::string text;
  std::vector<RenderedPart> parts;  // in order; together they are the whole text
  bool used_date = false;
};

// A role counts as template text; everything else in a message, and all tools, as the request's.
// Text that a template transforms (upper, title, ...) may count as template text.
Result<Rendered> render_template(std::string_view template_text, const TemplateInput& input);

}  // namespace plimsoll::count

// Named chat templates, for tokenizers without a template.
#pragma once

#include <span>
#include <string_view>

namespace plimsoll::count {

struct NamedTemplate {
  std::string_view name;
  std::string_view text;      // Jinja; empty for OpenAI's format, which is a rule
  std::string_view images;    // usual image rule, or empty
  std::string_view bos, eos;  // if the tokenizer has none
  // Whether it was compared with the vendor's template and gave the same text for chats without tools.
  bool compared = false;
};

std::span<const NamedTemplate> named_templates();
const NamedTemplate* find_template(std::string_view name);

// Returns the template for models with this tokenizer, or null.
const NamedTemplate* template_for_tokenizer(std::string_view tokenizer);

}  // namespace plimsoll::count

// The chat formats that Plimsoll knows by name, for tokenizers that carry no template.
#pragma once

#include <span>
#include <string_view>

namespace plimsoll::count {

struct NamedTemplate {
  std::string_view name;
  std::string_view text;      // Jinja; empty for OpenAI's, which is a rule
  std::string_view images;    // the image rule that usually goes with it, or empty
  std::string_view bos, eos;  // where a tokenizer names none itself
  // Whether it was compared with the makers' own template, and gave the same text for chats without tools.
  bool compared = false;
};

std::span<const NamedTemplate> named_templates();
const NamedTemplate* find_template(std::string_view name);

// The format of the models that a tokenizer of this name serves, or null.
const NamedTemplate* template_for_tokenizer(std::string_view tokenizer);

}  // namespace plimsoll::count

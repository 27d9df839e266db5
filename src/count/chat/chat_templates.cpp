#include "count/chat/chat_templates.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "data/template_anthropic.hpp"
#include "data/template_chatml.hpp"
#include "data/template_command_r.hpp"
#include "data/template_deepseek.hpp"
#include "data/template_gemma.hpp"
#include "data/template_harmony.hpp"
#include "data/template_llama3.hpp"
#include "data/template_llama3_1.hpp"
#include "data/template_mistral_tekken.hpp"
#include "data/template_mistral_v3.hpp"

namespace plimsoll::count {

std::span<const NamedTemplate> named_templates() {
  static const std::array templates = {
      NamedTemplate{"chatml", data::template_chatml, "qwen2-vl", "", "", false},
      NamedTemplate{"llama3", data::template_llama3, "", "", "", true},
      NamedTemplate{"llama3.1", data::template_llama3_1, "", "", "", true},
      NamedTemplate{"gemma", data::template_gemma, "gemma3", "", "", true},
      NamedTemplate{"mistral-v3", data::template_mistral_v3, "pixtral", "<s>", "</s>", false},
      NamedTemplate{"mistral-tekken", data::template_mistral_tekken, "pixtral", "<s>", "</s>", true},
      NamedTemplate{"deepseek", data::template_deepseek, "", "", "", true},
      NamedTemplate{"command-r", data::template_command_r, "", "", "", true},
      NamedTemplate{"harmony", data::template_harmony, "", "", "", true},
      NamedTemplate{"anthropic", data::template_anthropic, "anthropic", "", "", false},
      NamedTemplate{"openai", "", "openai-gpt-4o", "", "", false},
      NamedTemplate{"openai-0301", "", "", "", "", false},
  };
  return templates;
}

const NamedTemplate* find_template(std::string_view name) {
  if (name == "mistral") name = "mistral-tekken";
  const auto found = std::ranges::find(named_templates(), name, &NamedTemplate::name);
  return found == named_templates().end() ? nullptr : &*found;
}

const NamedTemplate* template_for_tokenizer(std::string_view tokenizer) {
  static constexpr std::pair<std::string_view, std::string_view> families[] = {
      {"o200k_harmony", "harmony"}, {"cl100k", "openai"},         {"o200k", "openai"},
      {"p50k", "openai"},           {"r50k", "openai"},           {"llama3.1", "llama3.1"},
      {"llama3", "llama3"},         {"qwen", "chatml"},           {"smollm", "chatml"},
      {"gemma", "gemma"},           {"mistral-v3", "mistral-v3"}, {"mistral", "mistral-tekken"},
      {"deepseek", "deepseek"},     {"command", "command-r"},     {"claude", "anthropic"},
  };
  for (const auto& [family, name] : families)
    if (tokenizer.starts_with(family)) return find_template(name);
  return nullptr;
}

}  // namespace plimsoll::count

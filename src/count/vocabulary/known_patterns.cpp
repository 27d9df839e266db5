#include "count/vocabulary/known_patterns.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace plimsoll::count {
namespace {

constexpr std::string_view gpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view cl100k =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view cl100k_possessive =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s)";
constexpr std::string_view qwen =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view o200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view tekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view numbers = R"(\p{N}{1,3})";
constexpr std::string_view han_and_kana = "[一-龥぀-ゟ゠-ヿ]+";
constexpr std::string_view deepseek_words =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view default_signs = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view digit = R"(\p{N})";

// Some files have real line ends instead of \r\n, and some have unnecessary escapes.
std::string canonical(std::string_view pattern) {
  std::string out;
  for (const char c : pattern) {
    if (c == '\r')
      out += "\\r";
    else if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

struct Known {
  std::vector<std::string_view> patterns;
  Splitter splitter;
};
const std::vector<Known>& all_known() {
  static const std::vector<Known> known{
      {{gpt2}, Splitter::gpt2},         {{digit, gpt2}, Splitter::gpt2_digits},
      {{cl100k}, Splitter::cl100k},     {{cl100k_possessive}, Splitter::cl100k},
      {{qwen}, Splitter::cl100k_digit}, {{o200k}, Splitter::o200k},
      {{tekken}, Splitter::tekken},     {{numbers, han_and_kana, deepseek_words}, Splitter::deepseek},
  };
  return known;
}

struct GgufName {
  std::string_view name;
  std::vector<std::string_view> patterns;
};

}  // namespace

std::string_view gpt2_pattern() {
  return gpt2;
}

std::optional<Splitter> known_splitter(const std::vector<SplitStep>& steps) {
  for (const Known& known : all_known()) {
    const bool same =
        std::ranges::equal(steps, known.patterns, [](const SplitStep& step, std::string_view pattern) {
          return step.behaviour == SplitStep::Behaviour::isolated && !step.invert &&
                 canonical(step.pattern) == canonical(pattern);
        });
    if (same) return known.splitter;
  }
  return std::nullopt;
}

std::optional<std::vector<SplitStep>> steps_of_gguf(std::string_view pre) {
  // llama.cpp's names; several models share one pre-tokeniser.
  static const std::vector<GgufName> names{
      {"llama-bpe", {cl100k}},
      {"llama3", {cl100k}},
      {"llama-v3", {cl100k}},
      {"falcon3", {cl100k}},
      {"falcon-h1", {cl100k}},
      {"pixtral", {cl100k}},
      {"dbrx", {cl100k}},
      {"smaug-bpe", {cl100k}},
      {"chatglm-bpe", {cl100k}},
      {"glm4", {cl100k}},
      {"lfm2", {cl100k}},
      {"granite-docling", {gpt2}},
      {"qwen2", {qwen}},
      {"deepseek-r1-qwen", {qwen}},
      {"stablelm2", {qwen}},
      {"hunyuan", {cl100k}},
      {"megrez", {qwen}},
      {"kormo", {qwen}},
      {"gpt-4o", {o200k}},
      {"llama4", {o200k}},
      {"tekken", {tekken}},
      {"gpt-2", {gpt2}},
      {"gpt2", {gpt2}},
      {"phi-2", {gpt2}},
      {"jina-es", {gpt2}},
      {"jina-de", {gpt2}},
      {"mpt", {gpt2}},
      {"olmo", {gpt2}},
      {"roberta-bpe", {gpt2}},
      {"exaone4", {gpt2}},
      {"trillion", {gpt2}},
      {"gigachat", {gpt2}},
      {"smollm", {digit, gpt2}},
      {"command-r", {digit, gpt2}},
      {"starcoder", {digit, gpt2}},
      {"refact", {digit, gpt2}},
      {"codeshell", {digit, gpt2}},
      {"exaone", {digit, gpt2}},
      {"minerva-7b", {digit, gpt2}},
      {"granite", {digit, gpt2}},
      {"deepseek-v3", {numbers, han_and_kana, deepseek_words}},
      {"default", {default_signs, gpt2, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
  };
  const auto found = std::ranges::find(names, pre, &GgufName::name);
  if (found == names.end()) return std::nullopt;
  std::vector<SplitStep> steps;
  for (const std::string_view pattern : found->patterns)
    steps.push_back({std::string(pattern), SplitStep::Behaviour::isolated, false});
  return steps;
}

}  // namespace plimsoll::count

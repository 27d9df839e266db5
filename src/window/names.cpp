#include "window/names.hpp"

#include <algorithm>

#include "base/text/text.hpp"

namespace plimsoll::window {
namespace {

constexpr std::size_t longest_name = 512;

using base::is_digit;
using base::is_lower;

bool all_digits(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, is_digit);
}

// Words for packaging or tuning, which do not identify a model.
constexpr std::string_view packing[] = {
    "instruct",     "it",   "chat", "hf",    "gguf",    "ggml",   "awq",    "gptq",     "exl2",
    "mlx",          "bnb",  "qat",  "fp8",   "fp16",    "bf16",   "f16",    "f32",      "int8",
    "int4",         "4bit", "8bit", "nvfp4", "fp4",     "text",   "latest", "preview",  "exp",
    "experimental", "beta", "free", "maas",  "default", "online", "cloud",  "versatile"};

constexpr std::string_view vendors[] = {"us",         "eu",       "apac",   "global",  "jp",     "us-gov",
                                        "anthropic",  "meta",     "amazon", "mistral", "cohere", "openai",
                                        "qwen",       "deepseek", "google", "ai21",    "zai",    "moonshot",
                                        "moonshotai", "minimax",  "nvidia"};

// "q4_K_M", "iq2_xs", "q8_0"
bool is_quantization(std::string_view word) {
  if (word.starts_with('i')) word.remove_prefix(1);
  return word.size() >= 2 && word[0] == 'q' && is_digit(word[1]);
}

// "v1", "v0.3", "v01"
bool is_version(std::string_view word) {
  return word.size() >= 2 && word[0] == 'v' &&
         std::ranges::all_of(word.substr(1), [](char c) { return is_digit(c) || c == '.'; });
}

// 20240229, 2407, 0613; the month and day of 2024-07-18 follow a year.
bool is_date(std::string_view word) {
  return all_digits(word) && (word.size() == 4 || word.size() == 6 || word.size() == 8);
}

// Splits at separators other than '_', so that a quantization stays one word.
std::vector<std::string> rough_words(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : base::to_lower_ascii(name.substr(0, longest_name))) {
    if (c == '-' || c == ':' || c == '@' || c == '/' || c == ' ') {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// Returns the number of words at the end that do not identify the model: 0, 1, or 3 for a date in parts.
std::size_t noise_at_end(const std::vector<std::string>& words) {
  const std::size_t n = words.size();
  if (n < 2) return 0;
  const std::string& last = words[n - 1];
  if (n > 3 && last.size() == 2 && all_digits(last) && words[n - 2].size() == 2 && all_digits(words[n - 2]) &&
      is_date(words[n - 3]))
    return 3;
  if (n > 2 && last == "0" && is_version(words[n - 2])) return 2;  // Bedrock's v1:0
  const bool noise = std::ranges::find(packing, last) != std::end(packing) || is_quantization(last) ||
                     is_version(last) || is_date(last);
  return noise ? 1 : 0;
}

}  // namespace

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  char before = 0;
  for (const char c : base::to_lower_ascii(name.substr(0, longest_name))) {
    const bool separator = c == '-' || c == ':' || c == '@' || c == '/' || c == ' ' || c == '_';
    if ((separator || (is_lower(before) && is_digit(c) && !is_digit(words.back().front()))) &&
        !words.back().empty())
      words.emplace_back();
    if (!separator) words.back() += c;
    before = separator ? '\0' : c;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string key_of(const std::vector<std::string>& words) {
  std::string key;
  for (const std::string& word : words) key += (key.empty() ? "" : " ") + word;
  return key;
}

std::string_view without_provider(std::string_view name) {
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  if (name.starts_with("ft:")) {
    name.remove_prefix(3);
    name = name.substr(0, name.find(':'));
  }
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    const std::string before = base::to_lower_ascii(name.substr(0, dot));
    if (std::ranges::find(vendors, before) == std::end(vendors)) break;
    name.remove_prefix(dot + 1);
  }
  return name;
}

std::vector<std::vector<std::string>> barer_and_barer(std::string_view name) {
  std::vector<std::string> rough = rough_words(name);
  std::vector<std::vector<std::string>> spellings;
  while (!rough.empty()) {
    std::string joined;
    for (const std::string& word : rough) joined += (joined.empty() ? "" : "-") + word;
    spellings.push_back(words_of(joined));
    const std::size_t noise = noise_at_end(rough);
    if (noise == 0) break;
    rough.resize(rough.size() - noise);
  }
  return spellings;
}

}  // namespace plimsoll::window

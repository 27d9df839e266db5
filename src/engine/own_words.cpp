#include "engine/own_words.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"

namespace plimsoll::engine {
namespace {

// Returns whether the request has 16 bytes of the text that begin at a multiple of 16: 31 in a row are always
// found.
bool repeats(std::string_view text, std::string_view request) {
  constexpr std::size_t piece = 16;
  for (std::size_t at = 0; at + piece <= text.size(); at += piece)
    if (request.find(text.substr(at, piece)) != std::string_view::npos) return true;
  return false;
}

// Appends all texts in a value, without JSON's escapes.
void append_texts(std::string& out, const nlohmann::ordered_json& value) {
  if (value.is_string()) out.append(value.get_ref<const std::string&>()) += '\n';
  if (!value.is_structured()) return;
  for (const auto& [key, one] : value.items()) {
    if (value.is_object()) out.append(key) += '\n';
    append_texts(out, one);
  }
}

std::string texts_in(std::string_view request) {
  std::string texts;
  append_texts(texts, base::parse_json(request));
  return texts;
}

constexpr std::size_t longest_compared = std::size_t{1} << 20;

// Compares with the request as it is and without JSON's escapes.
bool repeats_texts(std::string_view said, std::string_view request) {
  return request.size() > longest_compared || repeats(said, request) || repeats(said, texts_in(request));
}

// Letters and digits in lower case: servers that repeat a text may change blanks, punctuation or escapes.
std::string bare(std::string_view text) {
  std::string out;
  for (const char c : base::to_lower_ascii(text))
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out += c;
  return out;
}

}  // namespace

bool repeats_request(const OwnWords& own, std::string_view said) {
  std::string without_model(said);
  const std::string_view model = own.model;
  for (std::size_t at = 0; !model.empty() && (at = without_model.find(model, at)) != std::string::npos;)
    without_model.replace(at, model.size(), 1, '\1');
  return std::ranges::any_of(
      own.texts, [&](std::string_view text) { return !text.empty() && repeats_texts(without_model, text); });
}

bool holds_words(const OwnWords& own, const std::vector<std::string>& words) {
  return std::ranges::any_of(own.texts, [&](std::string_view request) {
    if (request.empty()) return false;
    if (request.size() > longest_compared) return true;
    const std::string as_sent = bare(request), texts = bare(texts_in(request));
    return std::ranges::any_of(words, [&](const std::string& one) {
      const std::string wanted = bare(one);
      return as_sent.find(wanted) != std::string::npos || texts.find(wanted) != std::string::npos;
    });
  });
}

std::string for_the_record(bool keep_prompts, const OwnWords& own, std::string said) {
  if (keep_prompts || !repeats_request(own, said)) return said;
  return fmt::format("an error of {} bytes that may repeat the request, which is not kept (keep_prompts)",
                     said.size());
}

}  // namespace plimsoll::engine

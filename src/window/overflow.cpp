#include "window/overflow.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/json/json_shape.hpp"
#include "base/text/text.hpp"
#include "plimsoll/window.hpp"
#include "window/reply_json.hpp"

namespace plimsoll::window {
namespace {

using base::is_digit;

constexpr std::size_t longest_body = 1'000'000;
constexpr std::size_t longest_message = 20'000;  // that is searched
constexpr std::size_t longest_said = 400;
constexpr Tokens largest_wanted = 1'000'000'000'000;

// In lower case. Each phrase means that the request exceeds the window.
constexpr auto wordings = std::to_array<std::string_view>({
    "context_length_exceeded",                            // OpenAI, Groq
    "maximum context length",                             // OpenAI, vLLM, SGLang, Mistral, OpenRouter, Ollama
    "exceeds the context window",                         // OpenAI's responses
    "exceed context window",                              // llama-cpp-python
    "exceed_context_size",                                // llama.cpp
    "exceeds the available context size",                 // llama.cpp
    "exceeds the context length",                         // Ollama
    "longer than the model's context length",             // SGLang
    "longer than the maximum model length",               // vLLM
    "too long to fit into the model",                     // vLLM
    "context length is only",                             // vLLM
    "context length of only",                             // LM Studio
    "contextwindowexceedederror",                         // LiteLLM
    "prompt is too long",                                 // Anthropic
    "exceed context limit",                               // Anthropic
    "input is too long for requested model",              // Bedrock
    "`inputs` tokens + `max_new_tokens` must be",         // TGI
    "`inputs` must have less than",                       // TGI
    "exceeds the maximum number of tokens allowed",       // Gemini
    "maximum prompt length is",                           // xAI
    "reduce the length of the messages",                  // Groq
    "total number of tokens in the prompt cannot exceed"  // Cohere
});

// Phrases of rate limits, which also mention tokens.
constexpr auto of_rates = std::to_array<std::string_view>(
    {"tokens per min", "tokens per day", "tokens_per_", "rate limit", "rate_limit", "(tpm)", "quota"});

// Positions of numbers, marked by #.
constexpr auto window_places =
    std::to_array<std::string_view>({"context length is #",         "context length is only #",
                                     "context length of #",         "context length of only #",
                                     "context length (#",           "(context length #",
                                     "model length of #",           "available context size (#",
                                     "context window of #",         "context window (#",
                                     "tokens > # maximum",          "`max_new_tokens` must be <= #",
                                     "must have less than # token", "of tokens allowed (#",
                                     "prompt length is #",          "with # maximum context",
                                     "the prompt cannot exceed #",  "context limit of #",
                                     "context size of #",           "(n_ctx = #"});

// The whole request.
constexpr auto whole_places = std::to_array<std::string_view>(
    {"for a total of at least # tokens", "for a total of # tokens", "you requested a total of # tokens",
     "you requested # tokens", "you requested about # tokens", "resulted in # tokens",
     "the request contains # tokens", "requested tokens (#"});
// Only the input; the requested answer is added if it is given too.
constexpr auto input_places = std::to_array<std::string_view>(
    {"your request has # input tokens", "you passed # input tokens",
     "prompt contains at least # input tokens", "the input (# tokens", "input length (#", "request (# tokens",
     "prompt is too long: # tokens", "(total length #", "(length #", "input token count (#",
     "prompt contains # tokens", "given: # `inputs` tokens", "tokens. given: #", "keep the first # tokens",
     "context limit: # +"});
constexpr auto answer_places = std::to_array<std::string_view>(
    {"is too large: #", "requested # output tokens", "`inputs` tokens and # `max_new_tokens`"});

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](auto word) { return text.find(word) != std::string_view::npos; });
}

// Reads a whole number, possibly with thousands separators, and removes it from `text`.
std::optional<Tokens> take_number(std::string_view& text) {
  Tokens number = 0;
  std::size_t at = 0;
  for (; at < text.size() && number <= largest_wanted; ++at) {
    const bool parts_thousands = text[at] == ',' && at > 0 && at + 1 < text.size() && is_digit(text[at + 1]);
    if (parts_thousands) continue;
    if (!is_digit(text[at])) break;
    number = number * 10 + (text[at] - '0');
  }
  text.remove_prefix(at);
  if (at == 0 || number < 1 || number > largest_wanted) return std::nullopt;
  return number;
}

struct ReadNumber {
  Tokens number = 0;
  std::string_view phrase;  // with the words before it
};

// Finds the words of the place anywhere in the text and returns the number at #.
std::optional<ReadNumber> number_at(std::string_view text, std::string_view place) {
  const std::size_t mark = place.find('#');
  const std::string_view before = place.substr(0, mark);
  const std::string_view after = place.substr(mark + 1);
  for (std::size_t at = text.find(before); at != std::string_view::npos; at = text.find(before, at + 1)) {
    std::string_view rest = text.substr(at + before.size());
    if (const auto number = take_number(rest); number && rest.starts_with(after))
      return ReadNumber{*number, text.substr(at, text.size() - rest.size() - at)};
  }
  return std::nullopt;
}

std::optional<ReadNumber> first_read(std::string_view text, std::span<const std::string_view> places) {
  for (const std::string_view place : places)
    if (const auto read = number_at(text, place)) return read;
  return std::nullopt;
}

std::optional<Tokens> first_number(std::string_view text, std::span<const std::string_view> places) {
  const auto read = first_read(text, places);
  return read ? std::optional(read->number) : std::nullopt;
}

// "a + b > c", Anthropic's format.
bool read_sum(std::string_view text, Overflow& overflow) {
  constexpr std::string_view lead = "context limit: ";
  const std::size_t at = text.find(lead);
  if (at == std::string_view::npos) return false;
  std::string_view rest = text.substr(at + lead.size());
  const auto input = take_number(rest);
  if (!input || !rest.starts_with(" + ")) return false;
  rest.remove_prefix(3);
  const auto answer = take_number(rest);
  if (!answer || !rest.starts_with(" > ")) return false;
  rest.remove_prefix(3);
  overflow.window = take_number(rest);
  overflow.words.emplace_back(text.substr(at, text.size() - rest.size() - at));
  overflow.wanted = *input + *answer;
  return true;
}

void read_numbers(std::string_view text, Overflow& overflow) {
  if (!read_sum(text, overflow)) {
    if (const auto window = first_read(text, window_places)) {
      overflow.window = window->number;
      overflow.words.emplace_back(window->phrase);
    }
    overflow.wanted = first_number(text, whole_places);
    if (!overflow.wanted) {
      overflow.wanted = first_number(text, input_places);
      if (overflow.wanted) *overflow.wanted += first_number(text, answer_places).value_or(0);
    }
  }
  if (overflow.window && *overflow.window > largest_served_window) overflow.window.reset();
}

// Without a number only the phrase identifies it.
void note_wording(std::string_view text, Overflow& overflow) {
  if (!overflow.words.empty()) return;
  for (const std::string_view wording : wordings)
    if (text.find(wording) != std::string_view::npos) overflow.words.emplace_back(wording);
}

// Truncates at a character boundary.
std::string shortened(std::string_view text, std::size_t most) {
  const std::string_view prefix = base::prefix_of(text, most);
  return std::string(prefix) + (prefix.size() < text.size() ? "..." : "");
}

// The error message of a server, and its code and type.
struct Complaint {
  std::string message;
  std::string marks;  // code and type
  const Json* details = nullptr;
};

std::string whole_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

Complaint complaint_of(const Json& error) {
  if (error.is_string()) return {error.get<std::string>(), {}, nullptr};
  Complaint complaint{whole_text(member(error, "message")), {}, &error};
  if (complaint.message.empty()) complaint.message = whole_text(member(error, "detail"));
  complaint.marks = whole_text(member(error, "code")) + " " + whole_text(member(error, "type"));
  return complaint;
}

std::optional<Overflow> judge(const Complaint& complaint) {
  const std::string marks = base::to_lower_ascii(complaint.marks);
  const std::string text =
      base::to_lower_ascii(std::string_view(complaint.message).substr(0, longest_message));
  const bool marked = has_any(marks, wordings);
  if (!marked && (has_any(text, of_rates) || has_any(marks, of_rates) || !has_any(text, wordings)))
    return std::nullopt;
  Overflow overflow;
  overflow.said = shortened(base::trim(complaint.message), longest_said);
  read_numbers(text, overflow);
  if (!marked) note_wording(text, overflow);
  if (complaint.details != nullptr) {
    std::string ignored;
    if (const Tokens window = tokens_in(*complaint.details, "n_ctx", ignored)) overflow.window = window;
    if (const Tokens wanted = tokens_in(*complaint.details, "n_prompt_tokens", ignored))
      overflow.wanted = wanted;
  }
  return overflow;
}

// Returns the member with the error, or null.
const Json& error_in(const Json& reply) {
  if (const Json& error = member(reply, "error"); !error.is_null()) return error;
  return member(member(reply, "response"), "error");  // an event of OpenAI's responses
}

Json parsed(std::string_view body) {
  if (!base::check_json_shape(body, "the reply")) return {};
  Json reply = Json::parse(body, nullptr, false);
  if (reply.is_array() && !reply.empty()) reply = Json(reply.front());  // Gemini
  return reply;
}

bool has_usual_size(std::string_view body) {
  return !body.empty() && body.size() <= longest_body;
}

}  // namespace

std::optional<Overflow> read_overflow(std::string_view body) {
  if (!has_usual_size(body)) return std::nullopt;
  const Json reply = parsed(body);
  if (!reply.is_object())
    return judge({reply.is_string() ? reply.get<std::string>() : std::string(body), {}, nullptr});
  const Json& error = error_in(reply);
  return judge(complaint_of(error.is_null() ? reply : error));
}

std::optional<Overflow> read_overflow_event(std::string_view json) {
  // The usual case: no parsing needed.
  if (!has_usual_size(json) || json.find("\"error\"") == std::string_view::npos) return std::nullopt;
  const Json reply = parsed(json);
  if (!reply.is_object()) return std::nullopt;
  if (const Json& error = error_in(reply); !error.is_null()) return judge(complaint_of(error));
  const bool is_event_of_error = whole_text(member(reply, "type")) == "error";  // OpenAI's responses
  return is_event_of_error ? judge(complaint_of(reply)) : std::nullopt;
}

}  // namespace plimsoll::window

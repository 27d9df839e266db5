#include "engine/reply.hpp"

#include <simdjson.h>

namespace plimsoll::engine {
namespace {

namespace dom = simdjson::dom;

std::optional<Tokens> tokens_in(const dom::object& object, std::string_view key) {
  std::int64_t tokens = 0;
  if (object[key].get(tokens) != simdjson::SUCCESS || tokens < 0 || tokens > most_reported)
    return std::nullopt;  // impossible numbers are ignored
  return tokens;
}

std::optional<dom::object> part_of(const dom::object& object, std::string_view key) {
  dom::object part;
  return object[key].get(part) == simdjson::SUCCESS ? std::optional(part) : std::nullopt;
}

// Field names differ between (chat) completions and responses.
void read_usage(const std::optional<dom::object>& usage, Usage& out) {
  if (!usage) return;
  for (const char* key : {"prompt_tokens", "input_tokens"})
    if (const auto tokens = tokens_in(*usage, key)) out.input = tokens;
  for (const char* key : {"completion_tokens", "output_tokens"})
    if (const auto tokens = tokens_in(*usage, key)) out.answer = tokens;
  for (const char* key : {"prompt_tokens_details", "input_tokens_details"})
    if (const auto details = part_of(*usage, key))
      if (const auto tokens = tokens_in(*details, "cached_tokens")) out.cached = tokens;
  for (const char* key : {"completion_tokens_details", "output_tokens_details"})
    if (const auto details = part_of(*usage, key))
      if (const auto tokens = tokens_in(*details, "reasoning_tokens")) out.thinking = tokens;
}

void read_choices(const dom::object& reply, ReplyFacts& facts) {
  dom::array choices;
  if (reply["choices"].get(choices) != simdjson::SUCCESS) return;
  facts.no_choices = choices.size() == 0;
  for (const dom::element& choice : choices) {
    std::string_view reason;
    if (choice["finish_reason"].get(reason) == simdjson::SUCCESS) facts.finish_reason = reason;
  }
}

bool has_text(std::string_view text, std::string_view needle) {
  return text.find(needle) != std::string_view::npos;
}

}  // namespace

ReplyFacts read_reply(std::string_view text) {
  constexpr std::size_t largest_kept = std::size_t{1} << 20;
  thread_local dom::parser kept;  // keeps its memory, except after a huge reply
  dom::parser single;
  ReplyFacts facts;
  dom::object reply;
  dom::parser& parser = text.size() > largest_kept ? single : kept;
  if (parser.parse(text.data(), text.size(), true).get(reply) != simdjson::SUCCESS) return facts;
  read_usage(part_of(reply, "usage"), facts.usage);
  if (const auto response = part_of(reply, "response"))  // in a stream of /v1/responses
    read_usage(part_of(*response, "usage"), facts.usage);
  read_choices(reply, facts);
  dom::element error;
  facts.is_error = reply["error"].get(error) == simdjson::SUCCESS && !error.is_null();
  return facts;
}

std::string with_fields(std::string_view text, std::string_view fields) {
  const std::size_t open = text.find('{'), close = text.rfind('}');
  if (fields.empty() || open == std::string_view::npos || close == std::string_view::npos || close <= open)
    return std::string(text);
  const bool empty = text.find_first_not_of(" \t\r\n", open + 1) == close;
  std::string out;
  out.reserve(text.size() + fields.size() + 1);
  out.append(text.substr(0, close)).append(empty ? "" : ",").append(fields).append(text.substr(close));
  return out;
}

std::size_t first_event_end(std::string_view bytes, std::size_t from) {
  for (std::size_t at = bytes.find('\n', from); at != std::string_view::npos; at = bytes.find('\n', at + 1)) {
    if (at + 1 < bytes.size() && bytes[at + 1] == '\n') return at + 2;
    if (at + 2 < bytes.size() && bytes[at + 1] == '\r' && bytes[at + 2] == '\n') return at + 3;
  }
  return 0;
}

std::string_view data_of(std::string_view event) {
  std::size_t at = event.starts_with("data:") ? 0 : event.find("\ndata:");
  if (at == std::string_view::npos) return {};
  at += event[at] == '\n' ? 6 : 5;
  const std::size_t end = event.find_first_of("\r\n", at);
  std::string_view data = event.substr(at, end == std::string_view::npos ? end : end - at);
  while (data.starts_with(' ')) data.remove_prefix(1);
  return data;
}

// Passes on the held chunk, with the fields if given.
void EventRelay::let_go(const Fields* fields) {
  if (held_.empty()) return;
  out_ += fields != nullptr ? with_fields(held_, (*fields)()) : held_;
  said_ = said_ || fields != nullptr;
  held_.clear();
}

void EventRelay::tell_late(const std::string& fields) {
  said_ = true;
  if (fields.empty()) return;
  out_ += "data: {\"object\":\"chat.completion.chunk\",\"choices\":[]," + fields + "}\n\n";
  added_ = true;
}

void EventRelay::take_event(std::string_view event, const Fields& fields) {
  const std::string_view data = data_of(event);
  if (data == "[DONE]") {
    done_ = true;
    if (wishes_.annotated && !said_) {
      if (held_.empty()) held_ = "data: {\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\n";
      let_go(&fields);
    }
    let_go(nullptr);
    if (wishes_.told_late && !said_) tell_late(fields());
    out_ += event;
    return;
  }
  const bool has_usage = has_text(data, "\"usage\"") && !has_text(data, "\"usage\":null");
  const bool finishes = has_text(data, "\"finish_reason\":\"") || has_text(data, "\"finish_reason\": \"");
  const bool errs = has_text(data, "\"error\"");
  ReplyFacts facts;
  if (has_usage || finishes || errs) facts = read_reply(data);
  if (facts.usage.input) facts_.usage = facts.usage;
  if (!facts.finish_reason.empty()) facts_.finish_reason = facts.finish_reason;
  facts_.is_error = facts_.is_error || facts.is_error;

  const bool usage_alone = facts.usage.input && facts.no_choices;
  if (!data.empty() && !usage_alone) ++chunks_;
  if (wishes_.hides_usage && usage_alone) return;
  const bool may_be_last = wishes_.annotated && (!facts.finish_reason.empty() || usage_alone);
  if (may_be_last) {
    let_go(nullptr);  // an earlier one, of another choice
    held_ = event;
  } else {
    if (!held_.empty() && !data.empty()) let_go(nullptr);
    out_ += event;
  }
}

std::string_view EventRelay::pass(std::string_view bytes, const Fields& fields) {
  out_.clear();
  constexpr std::size_t of_an_end = 2;  // bytes of an incomplete event end
  std::size_t looked = rest_.size() > of_an_end ? rest_.size() - of_an_end : 0;
  if (!rest_.empty()) {
    rest_.append(bytes);
    bytes = rest_;
  }
  const bool as_is = !wishes_.annotated && !wishes_.hides_usage;
  std::size_t whole = 0;
  while (const std::size_t size = first_event_end(bytes.substr(whole), looked)) {
    take_event(bytes.substr(whole, size), fields);
    whole += size;
    looked = 0;
  }
  const bool in_rest = bytes.data() == rest_.data();
  if (as_is && !in_rest && !added_) {  // without a copy
    rest_.assign(bytes.substr(whole));
    return bytes.substr(0, whole);
  }
  if (in_rest)
    rest_.erase(0, whole);
  else
    rest_.assign(bytes.substr(whole));
  return out_;
}

std::string_view EventRelay::finish(const Fields& fields) {
  out_.clear();
  if (!rest_.empty()) {
    take_event(rest_, fields);
    rest_.clear();
  }
  if (wishes_.annotated && !said_ && !held_.empty()) let_go(&fields);
  let_go(nullptr);
  return out_;
}

}  // namespace plimsoll::engine

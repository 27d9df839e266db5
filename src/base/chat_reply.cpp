#include "base/chat_reply.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <simdjson.h>

#include "base/json/here_or_elsewhere.hpp"
#include "base/text/text.hpp"
#include "base/translated_reply.hpp"
#include "base/try.hpp"

namespace plimsoll::base {
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

// The tier that served the request: OpenAI names it beside the usage, Anthropic in it. A server that names
// none, or one of these, takes the usual price.
void read_tier(const dom::object& object, Usage& out) {
  std::string_view tier;
  if (object["service_tier"].get(tier) != simdjson::SUCCESS) return;
  out.has_other_price |= tier != "default" && tier != "standard" && tier != "auto";
}

// Field names differ between (chat) completions and responses.
void read_usage(const dom::object& reply, Usage& out) {
  const auto usage = part_of(reply, "usage");
  if (!usage) return;
  read_tier(reply, out);
  read_tier(*usage, out);
  for (const char* key : {"prompt_tokens", "input_tokens"})
    if (const auto tokens = tokens_in(*usage, key)) out.input = tokens;
  for (const char* key : {"completion_tokens", "output_tokens"})
    if (const auto tokens = tokens_in(*usage, key)) out.answer = tokens;
  for (const char* key : {"prompt_tokens_details", "input_tokens_details"})
    if (const auto details = part_of(*usage, key)) {
      if (const auto tokens = tokens_in(*details, "cached_tokens")) out.cached = tokens;
      for (const char* name : {"cache_write_tokens", "cache_creation_tokens"})
        if (const auto tokens = tokens_in(*details, name)) out.written = tokens;
      if (const auto tokens = tokens_in(*details, "cache_creation_hour_tokens")) out.written_hour = tokens;
      out.has_other_price |= tokens_in(*details, "audio_tokens").value_or(0) > 0;
    }
  // DeepSeek's own name.
  if (const auto tokens = tokens_in(*usage, "prompt_cache_hit_tokens"); tokens && !out.cached)
    out.cached = tokens;
  for (const char* key : {"completion_tokens_details", "output_tokens_details"})
    if (const auto details = part_of(*usage, key)) {
      if (const auto tokens = tokens_in(*details, "reasoning_tokens")) out.thinking = tokens;
      out.has_other_price |= tokens_in(*details, "audio_tokens").value_or(0) > 0;
    }
  out.total = tokens_in(*usage, "total_tokens");
}

void read_choices(const dom::object& reply, ReplyFacts& facts) {
  dom::array choices;
  if (reply["choices"].get(choices) != simdjson::SUCCESS) return;
  facts.has_answer = true;
  facts.no_choices = choices.size() == 0;
  for (const dom::element& choice : choices) {
    std::string_view reason;
    if (choice["finish_reason"].get(reason) == simdjson::SUCCESS) facts.finish_reason = reason;
  }
}

// Parses with a parser of the thread, which keeps its memory, except for a huge text.
template <typename Use>
simdjson::error_code with_object(std::string_view text, Use use) {
  constexpr std::size_t largest_kept = std::size_t{1} << 20;
  thread_local dom::parser kept;
  dom::parser single;
  dom::object object;
  dom::parser& parser = text.size() > largest_kept ? single : kept;
  const simdjson::error_code error = parser.parse(text.data(), text.size(), true).get(object);
  if (error == simdjson::SUCCESS) use(object);
  return error;
}

// Returns the end of the first event; 0: incomplete. The end is not before `from`.
std::size_t first_event_end(std::string_view bytes, std::size_t from) {
  for (std::size_t at = bytes.find('\n', from); at != std::string_view::npos; at = bytes.find('\n', at + 1)) {
    if (at + 1 < bytes.size() && bytes[at + 1] == '\n') return at + 2;
    if (at + 2 < bytes.size() && bytes[at + 1] == '\r' && bytes[at + 2] == '\n') return at + 3;
  }
  return 0;
}

// Returns the data of an event: the text after "data: " without the newline; empty for a comment.
std::string_view data_of(std::string_view event) {
  std::size_t at = event.starts_with("data:") ? 0 : event.find("\ndata:");
  if (at == std::string_view::npos) return {};
  at += event[at] == '\n' ? 6 : 5;
  const std::size_t end = event.find_first_of("\r\n", at);
  std::string_view data = event.substr(at, end == std::string_view::npos ? end : end - at);
  while (data.starts_with(' ')) data.remove_prefix(1);
  return data;
}

// Returns the lines of an event's data, which a client joins.
std::string joined_data(std::string_view event) {
  std::string joined;
  for (std::string_view data = data_of(event); !data.empty(); data = data_of(event)) {
    joined.append(data).append("\n");
    event.remove_prefix(static_cast<std::size_t>(data.data() + data.size() - event.data()));
  }
  return joined;
}

// A success or a redirection, but without a body, with a part of one, or with another place to look.
bool is_no_answer(int status) {
  return status >= 204 && status < 400;
}

Took took_of(int status) {
  constexpr int overloaded = 529;  // Anthropic's
  if (status < 204) return Took::answers;
  if (is_no_answer(status)) return Took::failed;
  if (status == 429) return Took::limited;
  if (status == 502 || status == 503 || status == 504 || status == overloaded) return Took::out_of_service;
  return status >= 500 ? Took::failed : Took::refused;
}

// Servers use many codes for a request that does not fit, but not these.
bool may_be_too_long(int status) {
  constexpr std::array others{401, 402, 403, 404, 405, 408, 502, 503, 504};
  return status >= 400 && std::ranges::find(others, status) == others.end();
}

std::optional<std::chrono::milliseconds> seconds_in(std::string_view text) {
  constexpr double most = 1e6;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || error != std::errc() || !(seconds >= 0)) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(seconds, most) * 1000));
}

class ChatReply final : public UpstreamReply {
 public:
  ChatReply(std::unique_ptr<HttpStream> stream, std::size_t longest, ReplyForm form,
            RequestResources* resources)
      : stream_(std::move(stream)),
        info_(info_of(stream_->head())),
        longest_(longest),
        resources_(resources),
        read_body_(std::move(form.read_body)),
        splitter_(std::move(form.read_event)) {
    info_.is_native = read_body_ != nullptr;
  }

  const ReplyInfo& info() const override { return info_; }

  Awaitable<Result<AnswerEvents>> next(std::chrono::milliseconds patience, Deadline deadline) override {
    while (!is_over_) {
      splitter_.settle();
      CO_TRY(const std::string_view bytes,
             co_await stream_->read(sooner(deadline, Deadline::after(patience))));
      is_over_ = bytes.empty();
      const AnswerEvents events = is_over_ ? splitter_.rest() : splitter_.add(bytes);
      if (!events.each.empty()) co_return events;
      if (splitter_.waiting() > longest_) co_return too_long();
      CO_TRY_VOID(hold_answer(resources_, splitter_.waiting()));
    }
    co_return AnswerEvents();
  }

  Awaitable<Result<ReplyBody>> body(std::chrono::milliseconds patience, Deadline deadline) override {
    ReplyBody body;
    while (true) {
      CO_TRY(const std::string_view bytes,
             co_await stream_->read(sooner(deadline, Deadline::after(patience))));
      if (bytes.empty()) break;
      if (body.text.size() + bytes.size() > longest_) co_return too_long();
      CO_TRY_VOID(hold_answer(resources_, body.text.size() + bytes.size()));
      body.text += bytes;
    }
    const std::size_t size = body.text.size();
    co_return co_await off_thread_if_long(resources_, size, [&] { return read_body(std::move(body)); });
  }

 private:
  ReplyBody read_body(ReplyBody body) const {
    if (info_.took == Took::answers) body.facts = read_body_ ? read_body_(body.text) : read_facts(body.text);
    if (info_.took != Took::answers || body.facts.is_error) body.said = said_in_error(body.text);
    return body;
  }
  tl::unexpected<Error> too_long() const {
    return fail(Errc::upstream_failed, "the answer of the upstream is longer than {} (max_answer_bytes)",
                human_bytes(longest_));
  }

  std::unique_ptr<HttpStream> stream_;
  ReplyInfo info_;
  std::size_t longest_;
  RequestResources* resources_;
  std::function<ReplyFacts(std::string_view)> read_body_;
  EventSplitter splitter_;
  bool is_over_ = false;
};

}  // namespace

ReplyFacts read_facts(std::string_view json) {
  ReplyFacts facts;
  with_object(json, [&](const dom::object& reply) {
    facts.is_object = true;
    read_usage(reply, facts.usage);
    if (const auto response = part_of(reply, "response"))  // in a stream of /v1/responses
      read_usage(*response, facts.usage);
    read_choices(reply, facts);
    dom::element error;
    facts.is_error = reply["error"].get(error) == simdjson::SUCCESS && !error.is_null();
  });
  return facts;
}

bool is_whole_object(std::string_view data) {
  const simdjson::error_code error = with_object(data, [](const dom::object&) {});
  return error == simdjson::SUCCESS || (error == simdjson::UTF8_ERROR && trim(data).ends_with('}'));
}

std::string said_in_error(std::string_view body) {
  constexpr std::size_t longest = 2'000;  // a server may echo the whole prompt
  std::string said;
  bool found = false;
  const auto take = [&](const auto& value) {
    std::string_view text;
    if (found || value.get(text) != simdjson::SUCCESS) return;
    said = text.substr(0, longest);
    found = true;
  };
  with_object(body, [&](const dom::object& object) {
    take(object["error"]);
    if (const auto error = part_of(object, "error")) take((*error)["message"]);
    take(object["detail"]);
    take(object["message"]);
  });
  return found ? said : std::string(body.substr(0, longest));
}

std::string words_in(std::string_view json) {
  std::string words;
  with_object(json, [&](const dom::object& reply) {
    const auto choice = reply["choices"].at(0);
    std::string_view text;
    if (choice["delta"]["content"].get(text) == simdjson::SUCCESS ||
        choice["message"]["content"].get(text) == simdjson::SUCCESS ||
        choice["text"].get(text) == simdjson::SUCCESS)
      words = text;
  });
  return words;
}

ReplyInfo info_of(ReplyHead head) {
  ReplyInfo info;
  info.took = took_of(head.status);
  info.code = ReplyCode{head.status};
  info.outcome = info.took == Took::answers ? "answered" : fmt::format("status {}", head.status);
  info.may_be_too_long = may_be_too_long(head.status);
  info.streams = info.took == Took::answers && head.header("content-type").starts_with("text/event-stream");
  info.retry_after = seconds_in(head.header("retry-after"));
  info.left_out = head.header("x-plimsoll-left-out");
  info.head = std::move(head);
  if (is_no_answer(info.head.status)) {  // to a client it is a failure of the server
    info.head.status = 502;
    info.code = ReplyCode{502};
  }
  return info;
}

AnswerEvent EventSplitter::event_of(std::string_view bytes) const {
  AnswerEvent event{bytes, data_of(bytes)};
  if (read_event_) {
    read_event_(event);
    return event;
  }
  event.is_done = trim(event.data) == "[DONE]";
  if (event.is_done || event.data.empty()) return event;
  event.facts = read_facts(event.data);
  event.is_broken =
      !event.facts.is_object && !is_whole_object(event.data) && !is_whole_object(joined_data(bytes));
  return event;
}

AnswerEvents EventSplitter::split(std::string_view bytes, std::size_t looked) {
  events_.clear();
  std::size_t whole = 0;
  while (const std::size_t size = first_event_end(bytes.substr(whole), looked)) {
    events_.push_back(event_of(bytes.substr(whole, size)));
    whole += size;
    looked = 0;
  }
  return {bytes.substr(0, whole), events_};
}

AnswerEvents EventSplitter::add(std::string_view bytes) {
  constexpr std::size_t of_an_end = 2;  // bytes of an incomplete event end
  settle();
  if (begun_.empty()) {
    const AnswerEvents events = split(bytes, 0);
    left_ = bytes.substr(events.bytes.size());
    return events;
  }
  const std::size_t looked = begun_.size() > of_an_end ? begun_.size() - of_an_end : 0;
  begun_.append(bytes);
  const AnswerEvents events = split(begun_, looked);
  used_ = events.bytes.size();
  return events;
}

void EventSplitter::settle() {
  begun_.erase(0, std::exchange(used_, 0));
  begun_.append(std::exchange(left_, {}));
}

AnswerEvents EventSplitter::rest() {
  settle();
  events_.clear();
  if (begun_.empty()) return {};
  events_.push_back(event_of(begun_));
  used_ = begun_.size();
  return {begun_, events_};
}

std::unique_ptr<UpstreamReply> chat_reply(std::unique_ptr<HttpStream> stream, std::size_t longest,
                                          RequestResources* resources) {
  return std::make_unique<ChatReply>(std::move(stream), longest, ReplyForm(), resources);
}

std::unique_ptr<UpstreamReply> native_reply(std::unique_ptr<HttpStream> stream, std::size_t longest,
                                            ReplyForm form, RequestResources* resources) {
  return std::make_unique<ChatReply>(std::move(stream), longest, std::move(form), resources);
}

}  // namespace plimsoll::base

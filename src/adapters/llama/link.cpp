#include <algorithm>
#include <limits>
#include <random>

#include <fmt/ranges.h>

#include "adapters/llama/embedded_model.hpp"
#include "base/chat_reply.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/translated_reply.hpp"
#include "base/try.hpp"

namespace plimsoll::llama {
namespace {

using Json = nlohmann::ordered_json;

// What a reply is told by: a chat's, or that of a completion.
struct Identity {
  std::string id;
  std::int64_t created = 0;
  std::string model;
  bool chat = true;
};

Identity new_identity(std::string model, bool chat) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {fmt::format("{}-{:016x}", chat ? "chatcmpl" : "cmpl", random()),
          std::chrono::duration_cast<std::chrono::seconds>(now).count(), std::move(model), chat};
}

Json usage_of(const Spent& spent) {
  return {{"prompt_tokens", spent.prompt},
          {"completion_tokens", spent.answer},
          {"total_tokens", spent.prompt + spent.answer},
          {"prompt_tokens_details", {{"cached_tokens", spent.cached}}}};
}

// How long it took, as llama.cpp's server tells it.
Json timings_of(const Spent& spent) {
  return {{"cache_n", spent.cached},
          {"prompt_n", spent.prompt - spent.cached},
          {"prompt_ms", static_cast<double>(spent.prompt_us) / 1e3},
          {"predicted_n", spent.answer},
          {"predicted_ms", static_cast<double>(spent.answer_us) / 1e3}};
}

Json envelope(const Identity& identity, bool stream) {
  const char* object = !identity.chat ? "text_completion"
                       : stream       ? "chat.completion.chunk"
                                      : "chat.completion";
  return {{"id", identity.id}, {"object", object}, {"created", identity.created}, {"model", identity.model}};
}

std::string whole_reply(const Identity& identity, const Job::News& all) {
  Json reply = envelope(identity, false);
  Json choice{{"index", 0}};
  if (identity.chat)
    choice["message"] = {{"role", "assistant"}, {"content", all.text}};
  else
    choice["text"] = all.text;
  choice["finish_reason"] = all.finish_reason;
  reply["choices"] = Json::array({std::move(choice)});
  reply["usage"] = usage_of(all.spent);
  reply["timings"] = timings_of(all.spent);
  return base::json_text(reply);
}

std::string event(const Json& json) {
  return "data: " + base::json_text(json) + "\n\n";
}

// One piece of an answer. The first one says whose words they are.
std::string piece_event(const Identity& identity, const std::string& text, bool first,
                        const std::string& finish_reason) {
  Json chunk = envelope(identity, true);
  Json choice{{"index", 0}};
  if (identity.chat) {
    choice["delta"] = Json::object();
    if (first) choice["delta"]["role"] = "assistant";
    if (first || !text.empty()) choice["delta"]["content"] = text;
  } else {
    choice["text"] = text;
  }
  choice["finish_reason"] = finish_reason.empty() ? Json() : Json(finish_reason);
  chunk["choices"] = Json::array({std::move(choice)});
  return event(chunk);
}

std::string usage_event(const Identity& identity, const Spent& spent) {
  Json chunk = envelope(identity, true);
  chunk["choices"] = Json::array();
  chunk["usage"] = usage_of(spent);
  chunk["timings"] = timings_of(spent);
  return event(chunk);
}

// An error's status and code, as OpenAI has them.
std::pair<int, const char*> status_of(Errc code) {
  switch (code) {
    case Errc::bad_input: return {400, "invalid_value"};
    case Errc::over_budget: return {400, "context_length_exceeded"};
    case Errc::not_found: return {404, "not_found"};
    case Errc::unsupported: return {500, "embedded_model_failed"};  // it will not load the next time either
    default: return {503, "embedded_model_failed"};
  }
}

// Cancels the job when the client disconnects.
class Wish {
 public:
  explicit Wish(std::shared_ptr<Job> job) : job_(std::move(job)) {}
  Wish(Wish&&) noexcept = default;
  Wish& operator=(Wish&&) noexcept = default;
  ~Wish() {
    if (job_) job_->give_up();
  }
  Job& operator*() const { return *job_; }

 private:
  std::shared_ptr<Job> job_;
};

// The embedded model bounds its answers itself.
std::unique_ptr<UpstreamReply> reply_of(std::unique_ptr<HttpStream> stream) {
  return base::chat_reply(std::move(stream), std::numeric_limits<std::size_t>::max());
}

std::unique_ptr<UpstreamReply> error_reply(int status, const char* code, std::string_view what) {
  const Json body{{"error",
                   {{"message", what},
                    {"type", status < 500 ? "invalid_request_error" : "server_error"},
                    {"code", code}}}};
  ReplyHead head{status, {{"content-type", "application/json"}}};
  if (status == 429) head.headers.push_back({"retry-after", "10"});  // for the client: longer than we wait
  return reply_of(std::make_unique<base::WholeReply>(std::move(head), base::json_text(body)));
}

std::unique_ptr<UpstreamReply> error_reply(const Error& error) {
  const auto [status, code] = status_of(error.code);
  return error_reply(status, code, error.what);
}

class Events final : public HttpStream {
 public:
  Events(ReplyHead head, Identity identity, Wish wish, const Job::News& first)
      : head_(std::move(head)), identity_(std::move(identity)), wish_(std::move(wish)) {
    write(first);
  }
  const ReplyHead& head() const override { return head_; }

  Awaitable<Result<std::string_view>> read(Deadline deadline) override {
    if (!std::exchange(unread_, false)) {
      events_.clear();
      if (is_over_) co_return std::string_view();
      CO_TRY(const Job::News news, co_await (*wish_).news(deadline));
      write(news);
      unread_ = false;
    }
    co_return std::string_view(events_);
  }

 private:
  // The usage is always told, as an Ollama does; the engine hides it from who did not ask.
  void write(const Job::News& news) {
    events_ = piece_event(identity_, news.text, std::exchange(first_, false), news.finish_reason);
    if (!news.finish_reason.empty()) {
      events_ += usage_event(identity_, news.spent) + "data: [DONE]\n\n";
      is_over_ = true;
    }
    unread_ = true;
  }

  ReplyHead head_;
  Identity identity_;
  Wish wish_;
  std::string events_;
  bool first_ = true, unread_ = false, is_over_ = false;
};

class Link final : public UpstreamLink {
 public:
  explicit Link(EmbeddedModel& model) : model_(model) {}

  Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest request,
                                                         Deadline deadline) override {
    auto read = read_request(request);
    if (!read) co_return error_reply(read.error());
    ReplyHead head{200, {{"content-type", request.stream ? "text/event-stream" : "application/json"}}};
    if (!read->left_out.empty())
      head.headers.push_back({"x-plimsoll-left-out", fmt::format("{}", fmt::join(read->left_out, ","))});
    Identity identity = new_identity(std::move(request.model), request.kind == RequestKind::chat);
    auto job = model_.submit(std::move(read->generation));
    if (!job)
      co_return error_reply(429, "too_many_requests",
                            fmt::format("{} requests wait for the embedded model already; ask again later",
                                        model_.options().most_waiting));
    Wish wish(std::move(job));
    auto news = co_await (*wish).news(deadline, /*all=*/!request.stream);
    if (!news && news.error().code == Errc::timed_out) co_return tl::unexpected(news.error());
    if (!news) co_return error_reply(news.error());
    if (!request.stream)
      co_return reply_of(std::make_unique<base::WholeReply>(std::move(head), whole_reply(identity, *news)));
    co_return reply_of(
        std::make_unique<Events>(std::move(head), std::move(identity), std::move(wish), *news));
  }

 private:
  Result<ReadGeneration> read_request(const UpstreamRequest& request) const {
    if (request.kind != RequestKind::chat && request.kind != RequestKind::completion)
      return fail(Errc::not_found, "the embedded model answers {} and {}, not {}",
                  route_of(RequestKind::chat), route_of(RequestKind::completion), route_of(request.kind));
    TRY_VOID(base::check_json_shape(request.body, "the request"));
    const Json body = base::parse_json(request.body);
    if (!body.is_object()) return fail(Errc::bad_input, "the request is not a JSON object");
    TRY_VOID(check_is_text(body));
    TRY(ReadGeneration read, read_generation(body, request.refuse_inexpressible));
    TRY(const std::vector<TokenId> prompt, model_.options().prompt(request.kind, request.body));
    read.generation.prompt.assign(prompt.begin(), prompt.end());
    read.generation.owner = request.owner;
    return read;
  }

  // This model reads words alone.
  static Result<void> check_is_text(const Json& body) {
    const auto messages = body.find("messages");
    if (messages == body.end() || !messages->is_array()) return {};
    for (const Json& message : *messages) {
      const auto content = message.is_object() ? message.find("content") : message.end();
      if (!message.is_object() || content == message.end() || !content->is_array()) continue;
      for (const Json& part : *content)
        if (part.is_object() && part.value("type", Json("text")) != "text")
          return fail(Errc::bad_input,
                      "the embedded model reads text alone, and a message holds something of another kind");
    }
    return {};
  }

  EmbeddedModel& model_;
};

}  // namespace

std::unique_ptr<UpstreamLink> make_link(EmbeddedModel& model) {
  return std::make_unique<Link>(model);
}

}  // namespace plimsoll::llama

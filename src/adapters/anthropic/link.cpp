#include "adapters/anthropic/link.hpp"

#include <algorithm>
#include <iterator>

#include "adapters/anthropic/event_reader.hpp"
#include "adapters/anthropic/from_anthropic.hpp"
#include "adapters/anthropic/to_anthropic.hpp"
#include "base/chat_reply.hpp"
#include "base/json/here_or_elsewhere.hpp"
#include "base/text/trace_context.hpp"
#include "base/translated_reply.hpp"
#include "base/try.hpp"

namespace plimsoll::anthropic {
namespace {

using Opened = Result<std::unique_ptr<HttpStream>>;

constexpr const char* api_version = "2023-06-01";

std::string root_of(std::string root) {
  while (root.ends_with('/')) root.pop_back();
  constexpr std::string_view version = "/v1";
  if (root.ends_with(version)) root.resize(root.size() - version.size());
  return root;
}

ReplyHead head_of(const ReplyHead& from, std::string type, const std::vector<std::string>& left_out) {
  ReplyHead head{from.status, {{"content-type", std::move(type)}}};
  for (const HttpHeader& header : from.headers)
    if (header.name == "retry-after" || header.name.starts_with("anthropic-ratelimit-"))
      head.headers.push_back(header);
  if (const std::string_view id = from.header("request-id"); !id.empty())
    head.headers.push_back({"x-request-id", std::string(id)});
  if (!left_out.empty())
    head.headers.push_back({"x-plimsoll-left-out", fmt::format("{}", fmt::join(left_out, ","))});
  return head;
}

// Anthropic's events as OpenAI's.
using Events = base::TranslatedStream<EventReader, EventWriter>;

tl::unexpected<Error> no_such_route(RequestKind kind) {
  if (kind == RequestKind::embedding || kind == RequestKind::ollama_embedding)
    return fail(Errc::bad_input,
                "Anthropic's servers compute no embeddings: name the model of another upstream, or "
                "all-minilm-l6-v2, which this program computes itself");
  return fail(Errc::bad_input,
              "Anthropic's servers have no {}: send the prompt as a message to /v1/chat/completions or "
              "/v1/messages",
              route_of(kind));
}

class Link final : public UpstreamLink {
 public:
  Link(HttpStreams& streams, AnthropicConfig config)
      : streams_(streams), root_(root_of(std::move(config.root))) {
    if (!config.key.empty()) headers_.push_back({"x-api-key", config.key.reveal()});
    headers_.push_back({"Content-Type", "application/json"});
  }

  Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest request,
                                                         Deadline deadline) override {
    if (request.kind != RequestKind::chat) co_return no_such_route(request.kind);
    if (request.native) {
      base::add_trace_headers(request.native->headers, request.context);
      CO_TRY(std::unique_ptr<HttpStream> reply,
             co_await ask(*std::move(request.native), request.stream, deadline));
      co_return base::native_reply(std::move(reply), request.longest_answer, native_form(),
                                   request.resources);
    }
    const auto translate = [&request] { return to_anthropic(request); };
    CO_TRY(Translated translated,
           co_await base::off_thread_if_long(request.resources, request.body.size(), translate));
    NativeRequest ours;
    ours.body = std::move(translated.body);
    base::add_trace_headers(ours.headers, request.context);
    CO_TRY(std::unique_ptr<HttpStream> reply, co_await ask(std::move(ours), request.stream, deadline));
    const bool is_good = reply->head().status < 400;
    if (is_good && reply->head().header("content-type").starts_with("text/event-stream")) {
      ReplyHead head = head_of(reply->head(), "text/event-stream", translated.left_out);
      auto events = std::make_unique<Events>(std::move(reply), std::move(head),
                                             EventWriter(base::new_identity(request.model)),
                                             "the reply of the server broke off before its end");
      co_return base::chat_reply(std::move(events), request.longest_answer, request.resources);
    }
    ReplyHead head = head_of(reply->head(), "application/json", translated.left_out);
    CO_TRY(std::string body, co_await base::read_whole(*reply, longest_event, "the reply of the server",
                                                       deadline, request.resources));
    const auto read = [&]() -> Result<std::string> {
      if (is_good) return to_completion(body, base::new_identity(request.model));
      return to_error(head.status, body);
    };
    CO_TRY(body, co_await base::off_thread_if_long(request.resources, body.size(), read));
    auto whole = std::make_unique<base::WholeReply>(std::move(head), std::move(body));
    co_return base::chat_reply(std::move(whole), request.longest_answer, request.resources);
  }

 private:
  Awaitable<Opened> ask(NativeRequest asked, bool stream, Deadline deadline) {
    HttpRequest request{"POST", root_ + "/v1/messages", headers_, std::move(asked.body)};
    request.headers.push_back({"Accept", stream ? "text/event-stream" : "application/json"});
    const bool names_version = std::ranges::any_of(
        asked.headers, [](const HttpHeader& one) { return one.name == "anthropic-version"; });
    if (!names_version) request.headers.push_back({"anthropic-version", api_version});
    std::ranges::move(asked.headers, std::back_inserter(request.headers));
    auto reply = co_await streams_.open(std::move(request), deadline);
    co_return reply;
  }

  HttpStreams& streams_;
  std::string root_;
  std::vector<HttpHeader> headers_;
};

}  // namespace

std::unique_ptr<UpstreamLink> make_anthropic(HttpStreams& streams, AnthropicConfig config) {
  return std::make_unique<Link>(streams, std::move(config));
}

}  // namespace plimsoll::anthropic

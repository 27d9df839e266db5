#include "adapters/ollama/link.hpp"

#include "adapters/ollama/from_ollama.hpp"
#include "adapters/ollama/to_ollama.hpp"
#include "base/chat_reply.hpp"
#include "base/json/here_or_elsewhere.hpp"
#include "base/text/text.hpp"
#include "base/text/trace_context.hpp"
#include "base/translated_reply.hpp"
#include "base/try.hpp"

namespace plimsoll::ollama {
namespace {

using Opened = Result<std::unique_ptr<HttpStream>>;

std::string root_of(std::string root) {
  while (root.ends_with('/')) root.pop_back();
  for (const std::string_view end : {"/v1", "/api"})
    if (root.ends_with(end)) root.resize(root.size() - end.size());
  return root;
}

ReplyHead head_of(const ReplyHead& from, std::string type, const std::vector<std::string>& left_out) {
  ReplyHead head{from.status, {{"content-type", std::move(type)}}};
  for (const char* name : {"retry-after", "x-request-id"})
    if (const std::string_view value = from.header(name); !value.empty())
      head.headers.push_back({name, std::string(value)});
  if (!left_out.empty())
    head.headers.push_back({"x-plimsoll-left-out", fmt::format("{}", fmt::join(left_out, ","))});
  return head;
}

// Ollama's lines as OpenAI's events.
using Events = base::TranslatedStream<LineReader, EventWriter>;

class Link final : public UpstreamLink {
 public:
  Link(HttpStreams& streams, OllamaConfig config)
      : streams_(streams), root_(root_of(std::move(config.root))) {
    if (!config.key.empty()) headers_.push_back({"Authorization", "Bearer " + config.key.reveal()});
    headers_.push_back({"Content-Type", "application/json"});
  }

  Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest request,
                                                         Deadline deadline) override {
    if (request.kind != RequestKind::chat) co_return co_await pass(std::move(request), deadline);
    CO_TRY(Translated translated, co_await translated_on_worker(request, Purpose::answer));
    CO_TRY(std::unique_ptr<HttpStream> reply,
           co_await ask("/api/chat", std::move(translated.body), request.context, deadline));
    const bool is_good = reply->head().status < 400;
    if (is_good && request.stream) {
      ReplyHead head = head_of(reply->head(), "text/event-stream", translated.left_out);
      auto events = std::make_unique<Events>(std::move(reply), std::move(head),
                                             EventWriter(base::new_identity(request.model)),
                                             "Ollama's reply broke off");
      co_return base::chat_reply(std::move(events), request.longest_answer, request.resources);
    }
    ReplyHead head = head_of(reply->head(), "application/json", translated.left_out);
    CO_TRY(std::string body,
           co_await base::read_whole(*reply, longest_line, "Ollama's reply", deadline, request.resources));
    const auto translate = [&]() -> Result<std::string> {
      if (is_good) return to_completion(body, base::new_identity(request.model));
      return to_error(head.status, body);
    };
    CO_TRY(body, co_await base::off_thread_if_long(request.resources, body.size(), translate));
    auto whole = std::make_unique<base::WholeReply>(std::move(head), std::move(body));
    co_return base::chat_reply(std::move(whole), request.longest_answer, request.resources);
  }

  Awaitable<Result<std::string>> rendered(UpstreamRequest request, Deadline deadline) override {
    CO_TRY(Translated translated, co_await translated_on_worker(request, Purpose::render));
    CO_TRY(std::unique_ptr<HttpStream> reply,
           co_await ask("/api/chat", std::move(translated.body), request.context, deadline));
    CO_TRY(const std::string body,
           co_await base::read_whole(*reply, longest_line, "Ollama's reply", deadline, request.resources));
    const auto read = [&] { return rendered_in(body); };
    auto text = co_await base::off_thread_if_long(request.resources, body.size(), read);
    if (const int status = reply->head().status; status >= 400 && !text)
      co_return fail(Errc::upstream_failed, "Ollama answered with status {}: {}", status,
                     base::trim(body).substr(0, 200));
    co_return text;
  }

 private:
  static Awaitable<Result<Translated>> translated_on_worker(const UpstreamRequest& request, Purpose purpose) {
    const auto translate = [&request, purpose] { return to_ollama(request, purpose); };
    co_return co_await base::off_thread_if_long(request.resources, request.body.size(), translate);
  }

  // Routes of OpenAI's API, which an Ollama has too.
  Awaitable<Result<std::unique_ptr<UpstreamReply>>> pass(UpstreamRequest request, Deadline deadline) {
    CO_TRY(std::unique_ptr<HttpStream> reply,
           co_await ask(route_of(request.kind), std::move(request.body), request.context, deadline));
    co_return base::chat_reply(std::move(reply), request.longest_answer, request.resources);
  }

  Awaitable<Opened> ask(std::string_view route, std::string body, const TraceContext& context,
                        Deadline deadline) {
    HttpRequest request{"POST", root_ + std::string(route), headers_, std::move(body)};
    base::add_trace_headers(request.headers, context);
    auto reply = co_await streams_.open(std::move(request), deadline);
    co_return reply;
  }

  HttpStreams& streams_;
  std::string root_;
  std::vector<HttpHeader> headers_;
};

}  // namespace

std::unique_ptr<UpstreamLink> make_ollama(HttpStreams& streams, OllamaConfig config) {
  return std::make_unique<Link>(streams, std::move(config));
}

}  // namespace plimsoll::ollama

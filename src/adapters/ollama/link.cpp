#include "adapters/ollama/link.hpp"

#include "adapters/ollama/from_ollama.hpp"
#include "adapters/ollama/to_ollama.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "base/whole_reply.hpp"

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

// Lines become events; those that arrived together are handed out together.
class Events final : public HttpStream {
 public:
  Events(std::unique_ptr<HttpStream> lines, ReplyHead head, Identity identity)
      : source_(std::move(lines)), head_(std::move(head)), writer_(std::move(identity)) {}
  const ReplyHead& head() const override { return head_; }

  Awaitable<Result<std::string_view>> read(Deadline deadline) override {
    events_.clear();
    if (writer_.has_ended()) {
      co_await read_to_end(deadline);
      co_return std::string_view();
    }
    while (events_.empty() && !is_over_) {
      CO_TRY(const std::string_view bytes, co_await source_->read(deadline));
      if (bytes.empty()) {
        is_over_ = true;
        if (const std::string_view last = lines_.rest(); !last.empty())
          CO_TRY_VOID(writer_.take(last, events_));
        if (!writer_.has_ended()) co_return fail(Errc::upstream_failed, "Ollama's reply broke off");
        break;
      }
      CO_TRY_VOID(lines_.add(bytes));
      while (const auto line = lines_.next()) CO_TRY_VOID(writer_.take(*line, events_));
    }
    co_return std::string_view(events_);
  }

 private:
  // The connection can be kept once the end of the body has come, for which nobody should wait long.
  Awaitable<void> read_to_end(Deadline deadline) {
    while (!is_over_) {
      const auto bytes = co_await source_->read(sooner(deadline, Deadline::after(std::chrono::seconds(1))));
      is_over_ = !bytes || bytes->empty();
    }
  }

  std::unique_ptr<HttpStream> source_;
  ReplyHead head_;
  LineReader lines_;
  EventWriter writer_;
  std::string events_;
  bool is_over_ = false;
};

class Link final : public UpstreamLink {
 public:
  Link(HttpStreams& streams, OllamaConfig config)
      : streams_(streams), root_(root_of(std::move(config.root))) {
    if (!config.key.empty()) headers_.push_back({"Authorization", "Bearer " + config.key.reveal()});
    headers_.push_back({"Content-Type", "application/json"});
  }

  Awaitable<Opened> send(UpstreamRequest request, Deadline deadline) override {
    if (request.route != "/v1/chat/completions")
      co_return co_await ask(std::move(request.method), request.route, std::move(request.body), deadline);
    CO_TRY(Translated translated, to_ollama(request));
    CO_TRY(std::unique_ptr<HttpStream> reply,
           co_await ask("POST", "/api/chat", std::move(translated.body), deadline));
    const bool is_good = reply->head().status < 400;
    if (is_good && request.stream) {
      ReplyHead head = head_of(reply->head(), "text/event-stream", translated.left_out);
      co_return std::make_unique<Events>(std::move(reply), std::move(head),
                                         base::new_identity(request.model));
    }
    ReplyHead head = head_of(reply->head(), "application/json", translated.left_out);
    CO_TRY(std::string body, co_await base::read_whole(*reply, longest_line, "Ollama's reply", deadline));
    if (is_good) {
      CO_TRY(body, to_completion(body, base::new_identity(request.model)));
    } else {
      body = to_error(head.status, body);
    }
    co_return std::make_unique<base::WholeReply>(std::move(head), std::move(body));
  }

  Awaitable<Result<std::string>> rendered(UpstreamRequest request, Deadline deadline) override {
    CO_TRY(Translated translated, to_ollama(request, Purpose::render));
    CO_TRY(std::unique_ptr<HttpStream> reply,
           co_await ask("POST", "/api/chat", std::move(translated.body), deadline));
    CO_TRY(const std::string body,
           co_await base::read_whole(*reply, longest_line, "Ollama's reply", deadline));
    if (const int status = reply->head().status; status >= 400 && !rendered_in(body))
      co_return fail(Errc::upstream_failed, "Ollama answered with status {}: {}", status,
                     base::trim(body).substr(0, 200));
    co_return rendered_in(body);
  }

 private:
  Awaitable<Opened> ask(std::string method, std::string_view route, std::string body, Deadline deadline) {
    HttpRequest request{std::move(method), root_ + std::string(route), headers_, std::move(body)};
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

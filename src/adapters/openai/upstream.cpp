#include "adapters/openai/upstream.hpp"

#include <string_view>

#include "base/chat_reply.hpp"
#include "base/text/trace_context.hpp"
#include "base/try.hpp"

namespace plimsoll::openai {
namespace {

// Routes begin with /v1; many write their server's address with it.
std::string root_of(std::string root) {
  while (root.ends_with('/')) root.pop_back();
  constexpr std::string_view version = "/v1";
  if (root.ends_with(version)) root.resize(root.size() - version.size());
  return root;
}

class Upstream final : public UpstreamLink {
 public:
  Upstream(HttpStreams& streams, OpenAiConfig config)
      : streams_(streams), root_(root_of(std::move(config.root))) {
    if (!config.key.empty()) headers_.push_back({"Authorization", "Bearer " + config.key.reveal()});
  }

  Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest request,
                                                         Deadline deadline) override {
    HttpRequest sent{"POST", root_ + std::string(route_of(request.kind)), headers_, std::move(request.body)};
    if (!sent.body.empty()) sent.headers.push_back({"Content-Type", "application/json"});
    base::add_trace_headers(sent.headers, request.context);
    sent.headers.push_back({"Accept", request.stream ? "text/event-stream" : "application/json"});
    CO_TRY(std::unique_ptr<HttpStream> reply, co_await streams_.open(std::move(sent), deadline));
    co_return base::chat_reply(std::move(reply), request.longest_answer, request.resources);
  }

 private:
  HttpStreams& streams_;
  std::string root_;
  std::vector<HttpHeader> headers_;
};

}  // namespace

std::unique_ptr<UpstreamLink> make_upstream(HttpStreams& streams, OpenAiConfig config) {
  return std::make_unique<Upstream>(streams, std::move(config));
}

}  // namespace plimsoll::openai

#include "gateway/router.hpp"

#include "base/json/json_text.hpp"
#include "base/private_words.hpp"
#include "gateway/error_json.hpp"
#include "gateway/http/target.hpp"

namespace plimsoll::gateway {
namespace {

// What the path has for the pattern's name; an empty text where the pattern has none.
std::optional<std::string> name_for(std::string_view pattern, const ClientRequest& request) {
  const std::size_t open = pattern.find('{');
  if (open == std::string_view::npos)
    return request.path == pattern ? std::optional<std::string>("") : std::nullopt;
  if (!pattern.ends_with("...}")) return name_in_path(pattern, request.raw_path);
  const std::string_view before = pattern.substr(0, open);
  if (!request.path.starts_with(before) || request.path.size() == before.size()) return std::nullopt;
  return request.path.substr(before.size());
}

}  // namespace

Router::Match Router::match(const ClientRequest& request) const {
  Match found;
  for (const Route& route : routes_) {
    auto name = name_for(route.about.path, request);
    if (!name) continue;
    if (route.about.method == request.method) return {&route, *std::move(name)};
    if (found.allowed.find(route.about.method) == std::string::npos)
      found.allowed += (found.allowed.empty() ? "" : ", ") + std::string(route.about.method);
  }
  return found;
}

Route::Handler on_worker(Blocking work) {
  Fallible same = [work = std::move(work)](const ClientRequest& request, const std::string& name,
                                           Deadline deadline) -> Result<JsonAnswer> {
    return work(request, name, deadline);
  };
  return on_worker(std::move(same));
}

Route::Handler on_worker(Fallible work) {
  return [work = std::move(work)](Call call) -> Awaitable<void> {
    Result<JsonAnswer> answer;
    std::string body;
    std::function<void()> blocking = [&] {
      answer = work(call.request, call.name, call.deadline);
      if (answer) body = base::json_text(answer->body);
    };
    co_await call.thread.elsewhere(std::move(blocking));
    if (answer)
      co_await send_json(call.reply, answer->status, std::move(body), std::move(answer->headers));
    else
      co_await send_error(call.reply, answer.error());
  };
}

Awaitable<void> send_json(ClientReply& reply, int status, std::string body, std::vector<HttpHeader> headers) {
  if (status >= 400) body = base::for_clients(body);
  AnswerHead head;
  head.status = status;
  head.headers = std::move(headers);
  head.length = body.size();
  (void)co_await reply.head(head);
  (void)co_await reply.body(body);
}

Awaitable<void> send_error(ClientReply& reply, const Error& error, std::vector<HttpHeader> headers) {
  if (error.code == Errc::unreachable) headers.push_back({"Retry-After", "2"});
  std::string body = error_body(error);
  co_await send_json(reply, status_of(error.code), std::move(body), std::move(headers));
}

}  // namespace plimsoll::gateway

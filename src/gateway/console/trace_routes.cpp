#include "gateway/console/trace_routes.hpp"

#include <functional>

#include "base/json/parse_json.hpp"
#include "base/private_words.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "engine/client_gone.hpp"
#include "gateway/http/target.hpp"
#include "ledger/trace_summary.hpp"

namespace plimsoll::gateway {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds usual_pause{100}, busy_pause{400};
// From this many bytes at once on, events come so fast that nobody sees them one by one.
constexpr std::size_t busy_bytes = 8'192;
constexpr std::chrono::seconds between_key_checks{1}, between_signs_of_life{15};

}  // namespace

void TraceRoutes::add_routes(Router& router) const {
  if (traces_ == nullptr) return;
  router.add(
      {{"GET", "/v1/traces", "traces", "List the latest requests", "", "Traces", "traces session after"},
       on_worker(Fallible(std::bind_front(&TraceRoutes::list, this)))});
  if (feed_ != nullptr)
    router.add({{"GET", "/v1/traces/stream", "traces", "Watch requests as they happen", "", "events"},
                std::bind_front(&TraceRoutes::stream, this)});
  router.add({{"GET", "/v1/traces/{id}", "traces", "Get a request with its plan", "", "Trace"},
              on_worker(Fallible(std::bind_front(&TraceRoutes::show, this)))});
}

Result<JsonAnswer> TraceRoutes::list(const ClientRequest& request, const std::string&, Deadline) const {
  constexpr std::int64_t usual = 50, most = 500;
  TRY(const std::int64_t limit, whole_in(request.query, "limit", usual, 1, most));
  TraceStore::Wanted wanted;
  wanted.limit = static_cast<std::size_t>(limit);
  wanted.session = query_value(request.query, "session").value_or("");
  wanted.after = query_value(request.query, "after").value_or("");
  TRY(const auto traces, traces_->traces(request.caller.owner, wanted));
  Json data = Json::array();
  for (const Trace& trace : traces) data.push_back(base::parse_json(ledger::trace_summary(trace)));
  return JsonAnswer{200, {{"object", "list"}, {"data", std::move(data)}}};
}

Result<JsonAnswer> TraceRoutes::show(const ClientRequest& request, const std::string& id, Deadline) const {
  TRY(const Trace trace, traces_->trace(request.caller.owner, id));
  return JsonAnswer{200, base::parse_json(base::for_clients(trace_json(trace)))};
}

bool TraceRoutes::may_still_watch(const ClientRequest& request) const {
  return gate_ == nullptr || !gate_->needs_keys() || gate_->knows(request.key);
}

// Looks for events a few times a second: a viewer costs little whatever the load is, and the events of one
// look travel together.
Awaitable<void> TraceRoutes::stream(Call call) const {
  auto viewer = feed_->watch(call.request.caller.owner);
  if (!viewer) {
    std::string body = R"({"error":{"message":"too many viewers watch requests already; close one",)"
                       R"("type":"rate_limit_error","param":null,"code":"too_many_viewers"},)"
                       R"("detail":"too many viewers watch requests already; close one"})";
    std::vector<HttpHeader> headers{{"Retry-After", "10"}};
    co_await send_json(call.reply, 429, std::move(body), std::move(headers));
    co_return;
  }
  AnswerHead head;
  head.content_type = "text/event-stream; charset=utf-8";
  head.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  if (!co_await call.reply.head(head) || call.request.is_head) co_return;
  if (!co_await call.reply.body(": watching\n\n")) co_return;
  Clock::time_point key_checked = Clock::now(), sent = key_checked;
  while (true) {
    const auto now = Clock::now();
    engine::TraceFeed::News news = viewer->take();
    if (now - key_checked > between_key_checks) {
      key_checked = now;
      news.is_over = news.is_over || !may_still_watch(call.request);
    }
    if (news.is_over) news.events += "event: end\ndata: {}\n\n";
    if (news.events.empty() && now - sent > between_signs_of_life) news.events = ": still here\n\n";
    if (!news.events.empty()) {
      sent = now;
      if (!co_await call.reply.body(news.events)) co_return;
    }
    if (news.is_over || co_await engine::client_is_gone()) co_return;
    co_await call.thread.pause(news.events.size() < busy_bytes ? usual_pause : busy_pause);
  }
}

}  // namespace plimsoll::gateway

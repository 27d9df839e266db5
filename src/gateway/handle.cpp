// Where every request comes in: browsers' questions, keys and limits, then its route.
#include <functional>
#include <utility>

#include "gateway/api.hpp"
#include "gateway/auth/gate.hpp"
#include "gateway/error_json.hpp"
#include "gateway/http/cors.hpp"
#include "gateway/http/server_thread.hpp"

namespace plimsoll::gateway {
namespace {

// Adds what every answer to this client has, and remembers the status.
class WatchedReply final : public ClientReply {
 public:
  explicit WatchedReply(ClientReply& to) : to_(to) {}

  void add(std::vector<HttpHeader> headers) {
    for (HttpHeader& header : headers) headers_.push_back(std::move(header));
  }
  // The gate's limits of that owner, as they are when the answer begins.
  void tell_limits(Gate& gate, std::string owner) {
    gate_ = &gate;
    owner_ = std::move(owner);
  }
  // When the answer begins, the request is planned.
  void tell_of_plan(OwnerThread& thread) { thread_ = &thread; }
  // Called with the status of an answer in one piece before it is sent: who has it finds it counted.
  void before_whole(std::function<void(int status)> call) { before_whole_ = std::move(call); }
  Awaitable<Result<void>> head(const AnswerHead& head) override {
    status_ = head.status;
    if (thread_ != nullptr) thread_->end_plan();
    if (head.length && before_whole_) std::exchange(before_whole_, {})(status_);
    const std::vector<HttpHeader> limits =
        gate_ != nullptr ? gate_->limit_headers(owner_) : std::vector<HttpHeader>();
    if (headers_.empty() && limits.empty()) return to_.head(head);
    AnswerHead mine = head;
    // A key's limits are the ones that bind; those of an upstream are the gateway's own business then.
    if (!limits.empty())
      std::erase_if(mine.headers, [](const HttpHeader& one) { return one.name.starts_with("x-ratelimit-"); });
    mine.headers.insert(mine.headers.end(), headers_.begin(), headers_.end());
    mine.headers.insert(mine.headers.end(), limits.begin(), limits.end());
    return send(std::move(mine));
  }
  Awaitable<Result<void>> body(std::string_view bytes) override { return to_.body(bytes); }
  bool is_begun() const override { return to_.is_begun(); }
  int status() const { return status_; }

 private:
  Awaitable<Result<void>> send(AnswerHead head) { co_return co_await to_.head(head); }

  ClientReply& to_;
  std::vector<HttpHeader> headers_;
  Gate* gate_ = nullptr;  // null: nobody has limits
  std::string owner_;
  OwnerThread* thread_ = nullptr;
  std::function<void(int status)> before_whole_;
  int status_ = 500;  // nothing was said
};

Awaitable<void> refuse(ClientReply& reply, const Refusal& refusal, const ClientRequest& request) {
  const ErrorForm form = error_form_of(request.path, request.anthropic_version);
  co_await send_json(reply, status_of(refusal.kind), error_body(form, refusal), refusal_headers(refusal));
}

Awaitable<void> send_no_room(ClientReply& reply, const Error& error, const ClientRequest& request) {
  Refusal refusal{Refusal::Kind::unavailable, std::string(name_of(error.code)), error.what};
  refusal.retry_after_seconds = 2;
  co_await refuse(reply, refusal, request);
}

// Where the work of a request is done.
Lane lane_of(const Router::Match& match, const ClientRequest& request) {
  // Planning a body of many megabytes takes seconds.
  constexpr std::size_t large_bytes = 1'000'000;
  if (request.method != "GET" && request.body.size() > large_bytes) return Lane::bulk;
  return match.route != nullptr ? match.route->lane : Lane::interactive;
}

// Indexing takes long, and takes documents one by one.
Awaitable<Result<void>> wait_to_plan(OwnerThread& thread, const Router::Match& match, Deadline deadline) {
  const Route* const route = match.route;
  if (route == nullptr || (route->lane != Lane::interactive && !route->access.asks_model))
    co_return Result<void>();
  co_return co_await thread.begin_plan(deadline);
}

Awaitable<void> answer_preflight(ClientReply& reply, const ClientRequest& request) {
  AnswerHead head;
  head.status = 204;
  head.headers = preflight_headers(request);
  head.length = 0;
  (void)co_await reply.head(head);
}

}  // namespace

bool Api::wants_body(const ClientRequest& head) const {
  const bool needs_keys = context_.gate != nullptr && context_.gate->needs_keys();
  return needs_keys ? context_.gate->knows(head.key)
                    : why_unwelcome(context_.cors_origins, head, needs_keys).empty();
}

Awaitable<void> Api::handle(ServerThread& thread, ClientRequest& request, ClientReply& reply) const {
  const auto begun = RagMetrics::Clock::now();
  Router::Match match = router_.match(request);
  WatchedReply watched(reply);
  auto cors = cors_headers(context_.cors_origins, request);
  const bool from_listed_page = cors.size() > 1;
  watched.add(std::move(cors));
  if (from_listed_page && request.method == "OPTIONS" && request.is_preflight) {
    co_await answer_preflight(watched, request);
    co_return;
  }
  const bool needs_keys = context_.gate != nullptr && context_.gate->needs_keys();
  if (std::string why = why_unwelcome(context_.cors_origins, request, needs_keys); !why.empty()) {
    const Refusal refusal{Refusal::Kind::forbidden, "forbidden", std::move(why)};
    co_await refuse(watched, refusal, request);
    co_return;
  }
  if (context_.gate != nullptr) {
    const Access access = match.route != nullptr ? match.route->access : Access{};
    auto known = context_.gate->admit_at_once(request, access);
    if (!known) {
      std::function<void()> admit = [&] { known = context_.gate->admit(request, access); };
      co_await thread.elsewhere_for_key(request.key_number(), std::move(admit));
    }
    auto& pass = *known;
    if (!pass) {
      co_await refuse(watched, pass.error(), request);
      co_return;
    }
    if (request.body_unread && request.method != "GET") {  // its key has come to be known since
      const Refusal again{Refusal::Kind::no_key, "invalid_api_key",
                          "the key was not known when the request came; send it again"};
      co_await refuse(watched, again, request);
      co_return;
    }
    request.caller = std::move(pass->caller);
    watched.tell_limits(*context_.gate, request.caller.owner);
  }
  request.caller.context = std::move(request.context);
  const auto metric = match.route != nullptr ? match.route->metric : std::nullopt;
  bool is_counted = false;
  const auto count = [&](int status) {
    if (std::exchange(is_counted, true) || !metric) return;
    // As RAGEngine has it: what is no request is not counted.
    if (status != 422) watched_->add(*metric, status < 400, RagMetrics::Clock::now() - begun);
  };
  watched.before_whole(count);
  // Somebody who watches for hours is no slow request.
  const bool is_timed = match.route == nullptr || match.route->about.gives != "events";
  if (is_timed) ++watched_->running;
  OwnerThread mine(thread, lane_of(match, request), request.caller.owner, request.memory);
  watched.tell_of_plan(mine);
  const Call call{mine, request, watched, Deadline::after(context_.request_timeout), match.name};
  try {
    if (const auto room = co_await wait_to_plan(mine, match, call.deadline); !room)
      co_await send_no_room(watched, room.error(), request);
    else if (match.route != nullptr)
      co_await match.route->handler(call);
    else
      co_await refuse_route(call, match);
  } catch (...) {
    if (is_timed) --watched_->running;
    throw;
  }
  if (!is_timed) co_return;
  --watched_->running;
  const auto took = RagMetrics::Clock::now() - begun;
  watched_->add(RagRoute::any, true, took);
  count(watched.status());
}

}  // namespace plimsoll::gateway

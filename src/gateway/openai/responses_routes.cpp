#include "gateway/openai/responses_routes.hpp"

#include <algorithm>
#include <functional>

#include "base/json/json_member.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "chat/response_chat.hpp"
#include "gateway/api.hpp"
#include "gateway/http/target.hpp"
#include "gateway/openai/responses_answer.hpp"

namespace plimsoll::gateway {
namespace {

using base::list_in;
using base::member;
using base::text_in;
using Json = nlohmann::ordered_json;

constexpr std::string_view prefix = "/v1/responses/";
constexpr std::string_view of_items = "/input_items";
constexpr const char* no_store = "no responses are kept here: there is no store";

Result<Json> read_object(const std::string& body) {
  TRY_VOID(base::check_json_shape(body, "the request"));
  Json request = base::parse_json(body);
  if (!request.is_object()) return fail(Errc::bad_input, "the body of the request is not a JSON object");
  const Json& input = member(request, "input");
  const bool has_items =
      input.is_array() && std::ranges::all_of(input, [](const Json& item) { return item.is_object(); });
  if (!input.is_string() && !has_items)
    return fail(Errc::bad_input, "input is neither a text nor a list of items, which are objects");
  for (const char* flag : {"stream", "store", "background"})
    if (const Json& value = member(request, flag); !value.is_null() && !value.is_boolean())
      return fail(Errc::bad_input, "{} is not true or false", flag);
  for (const char* name : {"model", "previous_response_id"})
    if (const Json& value = member(request, name); !value.is_null() && !value.is_string())
      return fail(Errc::bad_input, "{} is not a text", name);
  return request;
}

// 404 may also mean that there is no such model.
bool is_about_a_model(std::string_view said) {
  return base::to_lower_ascii(said).find("model") != std::string::npos;
}

// Lets an answer through unless it says that there is no such route.
class ProbedReply final : public ClientReply {
 public:
  explicit ProbedReply(ClientReply& reply) : reply_(reply) {}

  Awaitable<Result<void>> head(const AnswerHead& head) override {
    refused_ = head.status == 404 || head.status == 405 || head.status == 501;
    if (!refused_) co_return co_await reply_.head(head);
    head_ = head;
    co_return Result<void>();
  }
  Awaitable<Result<void>> body(std::string_view bytes) override {
    if (!refused_) co_return co_await reply_.body(bytes);
    said_ += bytes;
    co_return Result<void>();
  }
  bool is_begun() const override { return refused_ || reply_.is_begun(); }

  bool is_refused() const { return refused_; }
  const std::string& said() const { return said_; }
  // Such an answer after all.
  Awaitable<void> let_go() {
    head_.length = said_.size();
    (void)co_await reply_.head(head_);
    (void)co_await reply_.body(said_);
  }

 private:
  ClientReply& reply_;
  AnswerHead head_;
  std::string said_;
  bool refused_ = false;
};

Awaitable<void> tell(ClientReply& reply, const Result<Json>& result) {
  if (result)
    co_await send_json(reply, 200, base::json_text(*result));
  else
    co_await send_error(reply, result.error());
}

// Returns the items after the one called `after`, at most `limit`, as OpenAI lists them.
Result<Json> page_of(Json items, std::size_t limit, bool newest_first, const std::string& after) {
  if (newest_first) std::ranges::reverse(items);
  std::size_t begin = 0;
  if (!after.empty()) {
    const auto at = std::ranges::find_if(items, [&](const Json& item) { return item["id"] == after; });
    if (at == items.end())
      return fail(Errc::bad_input, "after is '{}', which is no item of this response", after);
    begin = static_cast<std::size_t>(at - items.begin()) + 1;
  }
  Json data = Json::array();
  for (std::size_t i = begin; i < items.size() && data.size() < limit; ++i)
    data.push_back(std::move(items[i]));
  const bool has_more = begin + data.size() < items.size();
  const Json first = data.empty() ? Json() : data.front()["id"],
             last = data.empty() ? Json() : data.back()["id"];
  return Json{{"object", "list"},
              {"data", std::move(data)},
              {"first_id", first},
              {"last_id", last},
              {"has_more", has_more}};
}

}  // namespace

// What is left of a request when it has been read: a tree takes many times its text, and an upstream its
// time.
struct ResponsesRoutes::Prepared {
  std::optional<std::size_t> native;  // the server that is asked as it is
  std::string beyond;                 // what in it a chat has no words for
  bool has_previous = false;
  bool streams = false, keeps = false;
  std::string id;     // of the response
  Json opening;       // what the response repeats of the request
  std::string items;  // its own, as JSON
  std::string chat;   // what it stands for
};

ResponsesRoutes::ResponsesRoutes(engine::Engine& engine, SessionStore* sessions) : engine_(engine) {
  if (sessions != nullptr) kept_.emplace(*sessions);
}

void ResponsesRoutes::ask_all_again() const {
  const std::lock_guard lock(mutex_);
  lacking_.clear();
}

std::optional<std::size_t> ResponsesRoutes::native_server(const Json& request) const {
  const models::Upstreams& upstreams = engine_.models.upstreams();
  const std::string model = text_in(request, "model");
  for (const char* ours : {"plimsoll", "index_name", "context_token_ratio"})
    if (!member(request, ours).is_null()) return std::nullopt;
  if (upstreams.plus_in(model) != std::string::npos) return std::nullopt;
  const auto location = upstreams.find(model);
  if (!location || upstreams.is_embedded(location->member) ||
      upstreams.kind_of(location->member) != ServerKind::openai)
    return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto lacking = lacking_.find(location->member);
  const bool lacks = lacking != lacking_.end() && !lacking->second.passed();
  return lacks ? std::nullopt : std::optional(location->member);
}

Result<ResponsesRoutes::Prepared> ResponsesRoutes::prepare(const ClientRequest& request, bool as_chat) const {
  Prepared out;
  TRY(const Json asked, read_object(request.body));
  const Json own = chat::items_of_input(member(asked, "input"));
  const std::string previous = text_in(asked, "previous_response_id");
  out.beyond = chat::beyond_a_chat(asked, own);
  out.has_previous = !previous.empty();
  if (!as_chat) out.native = native_server(asked);
  Conversation before;
  if (out.has_previous) {
    auto found = kept_ ? kept_->until(request.caller.owner, previous) : fail(Errc::not_found, "{}", no_store);
    if (!found && !(out.native && found.error().code == Errc::not_found))
      return tl::unexpected(found.error());
    if (found) {
      out.native.reset();
      before = *std::move(found);
    }
  }
  if (out.native || !out.beyond.empty()) return out;
  out.streams = member(asked, "stream") == true;
  out.keeps = kept_ && member(asked, "store") != false;
  out.id = KeptResponses::new_id();
  out.opening = ResponsesAnswer::opening(asked, out.id);
  out.items = base::json_text(own);
  for (const Json& item : own) before.items.push_back(item);
  Json chat = chat::chat_of_response(asked, before.items);
  // The summaries of a conversation are found again by its name; one that is not kept has none.
  Json& wishes = chat["plimsoll"];
  if (wishes.is_null()) wishes = Json::object();
  if (out.keeps && wishes.is_object() && member(wishes, "session").is_null())
    wishes["session"] = before.root.empty() ? out.id : before.root;
  if (wishes.is_object() && wishes.empty()) chat.erase("plimsoll");
  out.chat = base::json_text(chat);
  return out;
}

Awaitable<bool> ResponsesRoutes::ask_natively(Call call, const Prepared& prepared) const {
  ProbedReply probed(call.reply);
  engine::Ask ask;
  ask.caller = call.request.caller;
  ask.kind = RequestKind::response;
  ask.body = call.request.body;
  std::string trace = new_trace_id();
  OpenAiAnswer answer(call.thread, probed);
  const auto outcome =
      co_await engine::answer(engine_, call.thread, std::move(ask), answer, call.deadline, trace);
  if (!outcome && !probed.is_begun()) {
    std::vector<HttpHeader> headers{{"X-Plimsoll-Trace", trace}};
    co_await send_error(call.reply, outcome.error(), std::move(headers));
  }
  if (!probed.is_refused()) co_return true;
  if (!prepared.beyond.empty() || prepared.has_previous || is_about_a_model(probed.said())) {
    co_await probed.let_go();
    co_return true;
  }
  constexpr std::chrono::minutes tried_again_after{10};
  const std::lock_guard lock(mutex_);
  lacking_.insert_or_assign(*prepared.native, Deadline::after(tried_again_after));
  co_return false;
}

Awaitable<void> ResponsesRoutes::ask_as_chat(Call call, Prepared prepared) const {
  const std::string owner = call.request.caller.owner;
  ResponsesAnswer::Keep keep;
  if (prepared.keeps)
    keep = [&](const Json& response) { return kept_->keep(owner, response, prepared.items); };
  ResponsesAnswer answer(std::move(prepared.opening), std::move(keep));
  engine::Ask ask;
  ask.caller = call.request.caller;
  ask.route = call.request.path;
  ask.body = std::move(prepared.chat);
  call.request.body = {};
  std::string trace = new_trace_id();
  const auto outcome = co_await answer_translated(engine_, call.thread, std::move(ask), call.reply, answer,
                                                  prepared.streams, call.deadline, trace);
  if (!outcome) {
    std::vector<HttpHeader> headers{{"X-Plimsoll-Trace", trace}};
    co_await send_error(call.reply, outcome.error(), std::move(headers));
  }
}

void ResponsesRoutes::add_routes(Router& router) const {
  router.add({{"POST", "/v1/responses", "openai", "A response", "Responses", "Response"},
              std::bind_front(&ResponsesRoutes::ask, this),
              {.asks_model = true, .reserves = true}});
  router.add({{"GET", "/v1/responses/{id...}", "openai",
               "A response that was kept; ID/input_items: what was asked", "", "Response"},
              std::bind_front(&ResponsesRoutes::show, this)});
  router.add({{"DELETE", "/v1/responses/{id...}", "openai", "Forget a response"},
              std::bind_front(&ResponsesRoutes::forget, this)});
}

Awaitable<void> ResponsesRoutes::ask(Call call) const {
  for (const bool as_chat : {false, true}) {
    Result<Prepared> prepared = fail(Errc::bad_input, "the request was not read");
    std::function<void()> reading = [&] { prepared = prepare(call.request, as_chat); };
    co_await call.thread.elsewhere(std::move(reading));
    if (prepared && !prepared->native && !prepared->beyond.empty())
      prepared =
          fail(Errc::unsupported,
               "{} is not taken here: this model is asked by chat completions, which have no words for it. "
               "Send messages with texts, images and files, and functions as tools",
               prepared->beyond);
    if (!prepared) {
      co_await send_error(call.reply, prepared.error());
      co_return;
    }
    if (!prepared->native) {
      co_await ask_as_chat(call, *std::move(prepared));
      co_return;
    }
    if (co_await ask_natively(call, *prepared)) co_return;
  }
}

Result<Json> ResponsesRoutes::find(const ClientRequest& request) const {
  if (!kept_) return fail(Errc::not_found, "{}", no_store);
  std::string_view id = std::string_view(request.path).substr(prefix.size());
  if (!id.ends_with(of_items)) return kept_->response(request.caller.owner, id);
  id.remove_suffix(of_items.size());
  TRY(const auto limit, whole_in(request.query, "limit", 20, 1, 100));
  const std::string order = query_value(request.query, "order").value_or("desc");
  if (order != "asc" && order != "desc")
    return fail(Errc::bad_input, "order is '{}', not asc or desc", order.substr(0, 40));
  TRY(const Json items, kept_->items(request.caller.owner, id));
  return page_of(chat::listed_items(items, id), static_cast<std::size_t>(limit), order == "desc",
                 query_value(request.query, "after").value_or(""));
}

Awaitable<void> ResponsesRoutes::show(Call call) const {
  Result<Json> found;
  std::function<void()> work = [&] { found = find(call.request); };
  co_await call.thread.elsewhere(std::move(work));
  co_await tell(call.reply, found);
}

Awaitable<void> ResponsesRoutes::forget(Call call) const {
  Result<Json> said;
  std::function<void()> work = [&] {
    const std::string id = call.request.path.substr(prefix.size());
    const auto gone =
        kept_ ? kept_->forget(call.request.caller.owner, id) : fail(Errc::not_found, "{}", no_store);
    if (gone)
      said = Json{{"id", id}, {"object", "response"}, {"deleted", true}};
    else
      said = tl::unexpected(gone.error());
  };
  co_await call.thread.elsewhere(std::move(work));
  co_await tell(call.reply, said);
}

}  // namespace plimsoll::gateway

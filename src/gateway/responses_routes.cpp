#include "gateway/responses_routes.hpp"

#include "base/json_member.hpp"
#include "base/json_shape.hpp"
#include "base/json_text.hpp"
#include "base/try.hpp"
#include "engine/response_chat.hpp"
#include "gateway/api.hpp"
#include "gateway/responses_answer.hpp"

namespace plimsoll::gateway {
namespace {

using base::member;
using Json = nlohmann::ordered_json;

constexpr std::string_view prefix = "/v1/responses/";
constexpr std::string_view of_items = "/input_items";

std::string text_in(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

Result<Json> read_request(const std::string& body) {
  TRY_VOID(base::check_json_shape(body, "the request"));
  Json request = Json::parse(body, nullptr, false);
  if (!request.is_object()) return fail(Errc::bad_input, "the body of the request is not a JSON object");
  const Json& input = member(request, "input");
  bool has_items = input.is_array();
  for (const Json& item : has_items ? input : Json::array()) has_items = has_items && item.is_object();
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

// Lets an answer through unless it says that there is no such route.
class ProbedReply final : public ClientReply {
 public:
  explicit ProbedReply(ClientReply& reply) : reply_(reply) {}

  Awaitable<Result<void>> head(const engine::AnswerHead& head) override {
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
  // Such an answer after all.
  Awaitable<void> let_go() {
    head_.length = said_.size();
    (void)co_await reply_.head(head_);
    (void)co_await reply_.body(said_);
  }

 private:
  ClientReply& reply_;
  engine::AnswerHead head_;
  std::string said_;
  bool refused_ = false;
};

Awaitable<void> tell(ClientReply& reply, const Result<Json>& result) {
  if (result)
    co_await send_json(reply, 200, base::json_text(*result));
  else
    co_await send_error(reply, result.error());
}

}  // namespace

struct ResponsesRoutes::Prepared {
  Json request;
  Json items;                         // of its own
  Json before = Json::array();        // of the conversation that it goes on from
  std::string root;                   // of that conversation
  std::optional<std::size_t> native;  // the server that is asked as it is
  std::string beyond;                 // what in it a chat has no words for
};

std::string ResponsesRoutes::chat_body(Prepared& prepared, const std::string& id) {
  Json all = std::move(prepared.before);
  for (const Json& item : prepared.items) all.push_back(item);
  Json chat = engine::chat_of_response(prepared.request, all);
  // The summaries of a conversation are found again by its name.
  if (const Json& wishes = member(chat, "plimsoll"); wishes.is_null() || wishes.is_object())
    if (member(wishes, "session").is_null())
      chat["plimsoll"]["session"] = prepared.root.empty() ? id : prepared.root;
  return base::json_text(chat);
}

ResponsesRoutes::ResponsesRoutes(engine::Engine& engine, SessionStore* sessions) : engine_(engine) {
  if (sessions != nullptr) kept_.emplace(*sessions);
}

void ResponsesRoutes::ask_all_again() const {
  const std::lock_guard lock(mutex_);
  lacking_.clear();
}

std::optional<std::size_t> ResponsesRoutes::native_server(const Json& request) const {
  const engine::Fleet& fleet = engine_.models.fleet();
  const std::string model = text_in(request, "model");
  for (const char* ours : {"plimsoll", "index_name", "context_token_ratio"})
    if (!member(request, ours).is_null()) return std::nullopt;
  if (fleet.plus_in(model) != std::string::npos) return std::nullopt;
  const auto berth = fleet.find(model);
  if (!berth || fleet.is_embedded(berth->member) || fleet.kind_of(berth->member) != ServerKind::openai)
    return std::nullopt;
  const std::lock_guard lock(mutex_);
  return lacking_.contains(berth->member) ? std::nullopt : std::optional(berth->member);
}

Result<ResponsesRoutes::Prepared> ResponsesRoutes::prepare(const ClientRequest& request) const {
  Prepared out;
  TRY(out.request, read_request(request.body));
  out.items = engine::items_of_input(member(out.request, "input"));
  out.beyond = engine::beyond_a_chat(out.request, out.items);
  out.native = native_server(out.request);
  const std::string previous = text_in(out.request, "previous_response_id");
  if (previous.empty()) return out;
  auto conversation = kept_ ? kept_->until(request.caller.owner, previous)
                            : fail(Errc::not_found, "no responses are kept here: there is no store");
  if (!conversation) {
    if (out.native && conversation.error().code == Errc::not_found) return out;  // it may be the server's
    return tl::unexpected(conversation.error());
  }
  out.native.reset();
  out.before = std::move(conversation->items);
  out.root = std::move(conversation->root);
  return out;
}

Awaitable<bool> ResponsesRoutes::ask_natively(Call call, const Prepared& prepared) const {
  ProbedReply probed(call.reply);
  engine::Ask ask;
  ask.caller = call.request.caller;
  ask.route = "/v1/responses";
  ask.body = call.request.body;
  std::string trace = new_trace_id();
  const auto outcome =
      co_await engine::answer(engine_, call.crew, std::move(ask), probed, call.deadline, trace);
  if (!outcome && !probed.is_begun()) {
    std::vector<HttpHeader> headers{{"X-Plimsoll-Trace", trace}};
    co_await send_error(call.reply, outcome.error(), std::move(headers));
  }
  if (!probed.is_refused()) co_return true;
  const bool as_a_chat = prepared.beyond.empty() && text_in(prepared.request, "previous_response_id").empty();
  if (!as_a_chat) {
    co_await probed.let_go();
    co_return true;
  }
  const std::lock_guard lock(mutex_);
  lacking_.insert(*prepared.native);
  co_return false;
}

Awaitable<void> ResponsesRoutes::ask_as_chat(Call call, Prepared prepared) const {
  const std::string id = KeptResponses::new_id();
  engine::Ask ask;
  ask.caller = call.request.caller;
  ask.body = chat_body(prepared, id);
  const std::string owner = call.request.caller.owner, items = base::json_text(prepared.items);
  ResponsesAnswer::Keep keep;
  if (kept_ && member(prepared.request, "store") != false)
    keep = [&](const Json& response) { return kept_->keep(owner, response, items); };
  ResponsesAnswer answer(prepared.request, id, std::move(keep));
  TranslatingSink::Manner manner;
  manner.streams = member(prepared.request, "stream") == true;
  manner.at_once_bytes = engine_.rules.planned_at_once_bytes;
  prepared = {};  // a tree takes many times its text, and an upstream its time
  call.request.body = {};
  TranslatingSink sink(call.crew, call.reply, answer, manner);
  std::string trace = new_trace_id();
  const auto outcome =
      co_await engine::answer(engine_, call.crew, std::move(ask), sink, call.deadline, trace);
  if (outcome) {
    (void)co_await sink.finish();
  } else if (!call.reply.is_begun()) {
    std::vector<HttpHeader> headers{{"X-Plimsoll-Trace", trace}};
    co_await send_error(call.reply, outcome.error(), std::move(headers));
  }
}

Awaitable<void> ResponsesRoutes::ask(Call call) const {
  Result<Prepared> prepared = fail(Errc::bad_input, "the request was not read");
  std::function<void()> reading = [&] { prepared = prepare(call.request); };
  co_await call.crew.elsewhere(std::move(reading));
  if (!prepared) {
    co_await send_error(call.reply, prepared.error());
    co_return;
  }
  if (prepared->native && co_await ask_natively(call, *prepared)) co_return;
  if (prepared->beyond.empty()) {
    co_await ask_as_chat(call, *std::move(prepared));
    co_return;
  }
  const Error error{
      Errc::unsupported,
      fmt::format("{} is not taken here: this model is asked by chat completions, which have no "
                  "words for it. Send messages with texts, images and files, and functions as "
                  "tools",
                  prepared->beyond)};
  co_await send_error(call.reply, error);
}

Result<Json> ResponsesRoutes::find(const engine::Caller& caller, std::string_view path) const {
  if (!kept_) return fail(Errc::not_found, "no responses are kept here: there is no store");
  std::string_view id = path.substr(prefix.size());
  if (!id.ends_with(of_items)) return kept_->response(caller.owner, id);
  id.remove_suffix(of_items.size());
  TRY(Json items, kept_->items(caller.owner, id));
  return Json{{"object", "list"}, {"data", std::move(items)}, {"has_more", false}};
}

Awaitable<void> ResponsesRoutes::show(Call call) const {
  Result<Json> found;
  std::function<void()> work = [&] { found = find(call.request.caller, call.request.path); };
  co_await call.crew.elsewhere(std::move(work));
  co_await tell(call.reply, found);
}

Awaitable<void> ResponsesRoutes::forget(Call call) const {
  Result<Json> said;
  std::function<void()> work = [&] {
    const std::string id = call.request.path.substr(prefix.size());
    const auto gone = kept_ ? kept_->forget(call.request.caller.owner, id)
                            : fail(Errc::not_found, "no responses are kept here: there is no store");
    if (gone)
      said = Json{{"id", id}, {"object", "response"}, {"deleted", true}};
    else
      said = tl::unexpected(gone.error());
  };
  co_await call.crew.elsewhere(std::move(work));
  co_await tell(call.reply, said);
}

}  // namespace plimsoll::gateway

// Anthropic's Messages API, for every upstream: asked as the chat that a request stands for, or where the
// server speaks the API too and the plan changes nothing, by the request itself.
#include "base/json/here_or_elsewhere.hpp"
#include "base/json/json_member.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/try.hpp"
#include "count/chat/chat_body.hpp"
#include "gateway/anthropic/messages_answer.hpp"
#include "gateway/anthropic/messages_chat.hpp"
#include "gateway/api.hpp"
#include "gateway/chat/chat_read.hpp"
#include "gateway/error_json.hpp"

namespace plimsoll::gateway {
namespace {

using base::member;
using base::text_in;
using OrderedJson = nlohmann::ordered_json;

struct Asked {
  std::string model, body;  // of a chat
  bool stream = false;
  bool for_anthropic = false;  // it has fields that only Anthropic's servers know
  std::string beyond_a_chat;   // what only the request itself tells such a server
};

// Whether such a server has the model, or that of MODEL+INDEX.
bool is_anthropics(const models::Upstreams& upstreams, const std::string& model) {
  const auto location = upstreams.find(model.substr(0, upstreams.plus_in(model)));
  return location && upstreams.kind_of(location->member) == ServerKind::anthropic;
}

Result<OrderedJson> read_request(const std::string& body) {
  TRY_VOID(base::check_json_shape(body, "the request"));
  OrderedJson request = base::parse_json(body);
  if (!request.is_object()) return fail(Errc::bad_input, "the body of the request is not a JSON object");
  if (const OrderedJson& model = member(request, "model"); !model.is_null() && !model.is_string())
    return fail(Errc::bad_input, "model is not a text");
  if (const OrderedJson& stream = member(request, "stream"); !stream.is_null() && !stream.is_boolean())
    return fail(Errc::bad_input, "stream is not true or false");
  return request;
}

Result<Asked> read_asked(const std::string& body, const models::Upstreams& upstreams) {
  TRY(const OrderedJson request, read_request(body));
  std::string model = text_in(request, "model");
  const bool for_anthropic = is_anthropics(upstreams, model);
  TRY(MessagesChat read, chat_of_messages(request, {.for_anthropic = for_anthropic}));
  return Asked{std::move(model), base::json_text(read.chat), member(read.chat, "stream") == true,
               for_anthropic, std::move(read.beyond_a_chat)};
}

engine::NativeAsk native_ask(ClientRequest& request, std::string beyond_a_chat) {
  engine::NativeAsk native{ServerKind::anthropic, {std::move(request.body)}, std::move(beyond_a_chat)};
  const auto pass_on = [&](const char* name, std::string& value) {
    if (!value.empty()) native.request.headers.push_back({name, std::move(value)});
  };
  pass_on("anthropic-version", request.anthropic_version);
  pass_on("anthropic-beta", request.anthropic_beta);
  return native;
}

Awaitable<void> send_messages_error(ClientReply& reply, const Error& error,
                                    std::vector<HttpHeader> headers = {}) {
  if (error.code == Errc::unreachable) headers.push_back({"Retry-After", "2"});
  const int status = status_of(error.code);
  co_await send_json(reply, status, messages_error(status, error.what), std::move(headers));
}

}  // namespace

Awaitable<void> Api::messages(Call call) const {
  auto asked = co_await base::off_thread_if_long(&call.thread, call.request.body.size(), [&] {
    return read_asked(call.request.body, context_.upstreams);
  });
  if (!asked) {
    co_await send_messages_error(call.reply, asked.error());
    co_return;
  }
  MessagesAnswer answer("msg_" + random_id(), asked->model);
  engine::Ask ask;
  ask.caller = call.request.caller;
  ask.route = call.request.path;
  ask.body = std::move(asked->body);
  ask.has_anthropic_fields = asked->for_anthropic;
  if (asked->for_anthropic) ask.native = native_ask(call.request, std::move(asked->beyond_a_chat));
  call.request.body = {};
  std::string trace = new_trace_id();
  const auto outcome = co_await answer_translated(context_.engine, call.thread, std::move(ask), call.reply,
                                                  answer, asked->stream, call.deadline, trace);
  if (!outcome) {
    std::vector<HttpHeader> headers{{"X-Plimsoll-Trace", trace}};
    co_await send_messages_error(call.reply, outcome.error(), std::move(headers));
  }
}

Awaitable<void> Api::count_messages(Call call) const {
  Result<ChatCount> counted;
  std::optional<models::ModelLocation> unknown;
  const auto count = [&]() -> Result<ChatCount> {
    TRY(const OrderedJson request, read_request(call.request.body));
    const std::string name = text_in(request, "model");
    const bool for_anthropic = is_anthropics(context_.upstreams, name);
    TRY(const MessagesChat read,
        chat_of_messages(request, {.limited = false, .for_anthropic = for_anthropic}));
    TRY(const models::ModelLocation location,
        context_.upstreams.find(name.substr(0, context_.upstreams.plus_in(name))));
    if (!unknown && context_.engine.models.asks_server(location)) {
      unknown = location;
      return ChatCount();
    }
    TRY(const PlanModel model, context_.engine.models.open(location, call.deadline));
    return count::count_chat_body(model.tokenizer, read.chat, model.chat);
  };
  std::function<void()> work = [&] { counted = count(); };
  co_await call.thread.elsewhere(work);
  if (unknown) {
    co_await engine::find_window(context_.engine, call.thread, *unknown, call.deadline);
    co_await call.thread.elsewhere(work);
  }
  if (counted)
    co_await send_json(call.reply, 200, fmt::format(R"({{"input_tokens":{}}})", counted->total));
  else
    co_await send_messages_error(call.reply, counted.error());
}

}  // namespace plimsoll::gateway

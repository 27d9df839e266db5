// Anthropic's Messages API, for every upstream: asked as the chat that a request stands for.
#include "base/json/json_member.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/try.hpp"
#include "count/chat/chat_body.hpp"
#include "gateway/anthropic/messages_answer.hpp"
#include "gateway/anthropic/messages_chat.hpp"
#include "gateway/api.hpp"
#include "gateway/chat/chat_read.hpp"

namespace plimsoll::gateway {
namespace {

using base::member;
using OrderedJson = nlohmann::ordered_json;

struct Asked {
  std::string model, body;  // of a chat
  bool stream = false;
};

Result<OrderedJson> read_chat(const std::string& body, bool limited) {
  TRY_VOID(base::check_json_shape(body, "the request"));
  const OrderedJson request = OrderedJson::parse(body, nullptr, false);
  if (!request.is_object()) return fail(Errc::bad_input, "the body of the request is not a JSON object");
  if (const OrderedJson& model = member(request, "model"); !model.is_null() && !model.is_string())
    return fail(Errc::bad_input, "model is not a text");
  if (const OrderedJson& stream = member(request, "stream"); !stream.is_null() && !stream.is_boolean())
    return fail(Errc::bad_input, "stream is not true or false");
  return chat_of_messages(request, limited);
}

std::string model_in(const OrderedJson& chat) {
  const OrderedJson& model = member(chat, "model");
  return model.is_string() ? model.get<std::string>() : std::string();
}

Result<Asked> read_asked(const std::string& body) {
  TRY(const OrderedJson chat, read_chat(body, /*limited=*/true));
  return Asked{model_in(chat), base::json_text(chat), member(chat, "stream") == true};
}

Awaitable<void> send_messages_error(ClientReply& reply, const Error& error,
                                    std::vector<HttpHeader> headers = {}) {
  if (error.code == Errc::unreachable) headers.push_back({"Retry-After", "2"});
  const int status = engine::status_of(error.code);
  co_await send_json(reply, status, messages_error(status, error.what), std::move(headers));
}

}  // namespace

Awaitable<void> Api::messages(Call call) const {
  Result<Asked> asked;
  std::function<void()> reading = [&] { asked = read_asked(call.request.body); };
  if (call.request.body.size() <= context_.engine.rules.planned_at_once_bytes)
    reading();
  else
    co_await call.thread.elsewhere(std::move(reading));
  if (!asked) {
    co_await send_messages_error(call.reply, asked.error());
    co_return;
  }
  call.request.body = {};
  MessagesAnswer answer("msg_" + random_id(), asked->model);
  engine::Ask ask;
  ask.caller = call.request.caller;
  ask.body = std::move(asked->body);
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
  const auto count = [&]() -> Result<ChatCount> {
    TRY(const OrderedJson chat, read_chat(call.request.body, /*limited=*/false));
    TRY(const models::ModelLocation location, context_.upstreams.find(model_in(chat)));
    TRY(const PlanModel model, context_.engine.models.open(location, call.deadline));
    return count::count_chat_body(model.tokenizer, chat, model.chat);
  };
  std::function<void()> work = [&] { counted = count(); };
  co_await call.thread.elsewhere(std::move(work));
  if (counted)
    co_await send_json(call.reply, 200, fmt::format(R"({{"input_tokens":{}}})", counted->total));
  else
    co_await send_messages_error(call.reply, counted.error());
}

}  // namespace plimsoll::gateway

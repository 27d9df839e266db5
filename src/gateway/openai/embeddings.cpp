// POST /v1/embeddings: uses an embedder of this program if it is named, else an upstream.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/json/here_or_elsewhere.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/try.hpp"
#include "gateway/api.hpp"
#include "gateway/error_json.hpp"
#include "gateway/openai/models_json.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::size_t most_texts = 2'048;  // OpenAI's limit

struct EmbeddingAsk {
  std::string model;
  std::vector<std::string> texts;
  bool all_texts = true;  // no token arrays
  bool base64 = false;
  Json dimensions, format;
};

Result<EmbeddingAsk> read_ask(const std::string& body) {
  TRY_VOID(base::check_json_shape(body, "the request"));
  const Json json = base::parse_json(body);
  if (!json.is_object()) return fail(Errc::bad_input, "the request body is not a JSON object");
  EmbeddingAsk ask;
  if (json.contains("model") && json["model"].is_string()) ask.model = json["model"].get<std::string>();
  if (json.contains("dimensions")) ask.dimensions = json["dimensions"];
  if (json.contains("encoding_format")) ask.format = json["encoding_format"];
  ask.base64 = ask.format == "base64";
  const auto given = json.find("input");
  const Json none;
  const Json& input = given == json.end() ? none : *given;
  if (input.is_string()) ask.texts.push_back(input.get<std::string>());
  if (input.is_array())
    for (const Json& text : input) {
      if (text.is_string()) ask.texts.push_back(text.get<std::string>());
      ask.all_texts = ask.all_texts && text.is_string();
    }
  return ask;
}

std::string base64_of(std::span<const float> values) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  static_assert(std::endian::native == std::endian::little);
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  const std::size_t size = values.size_bytes();
  std::string out;
  for (std::size_t i = 0; i < size; i += 3) {
    const unsigned group = static_cast<unsigned>(bytes[i]) << 16 |
                           (i + 1 < size ? static_cast<unsigned>(bytes[i + 1]) << 8 : 0U) |
                           (i + 2 < size ? static_cast<unsigned>(bytes[i + 2]) : 0U);
    out += digits[group >> 18 & 63U];
    out += digits[group >> 12 & 63U];
    out += i + 1 < size ? digits[group >> 6 & 63U] : '=';
    out += i + 2 < size ? digits[group & 63U] : '=';
  }
  return out;
}

std::string reply_of(const EmbeddingAsk& ask, const std::vector<float>& vectors, std::size_t dimensions,
                     std::optional<Tokens> tokens) {
  Json data = Json::array();
  for (std::size_t i = 0; i < ask.texts.size(); ++i) {
    const std::span vector = std::span(vectors).subspan(i * dimensions, dimensions);
    Json embedding =
        ask.base64 ? Json(base64_of(vector)) : Json(std::vector<float>(vector.begin(), vector.end()));
    data.push_back({{"object", "embedding"}, {"index", i}, {"embedding", std::move(embedding)}});
  }
  Json json{{"object", "list"}, {"data", std::move(data)}, {"model", ask.model}};
  if (tokens) json["usage"] = {{"prompt_tokens", *tokens}, {"total_tokens", *tokens}};
  return base::json_text(json);
}

// Checks for options that our embedders do not support.
Result<void> check(const EmbeddingAsk& ask, const EmbedderInfo& info) {
  if (!ask.dimensions.is_null() && ask.dimensions != info.dimensions)
    return fail(Errc::bad_input, "{} supports only {} dimensions", info.name, info.dimensions);
  if (!ask.format.is_null() && ask.format != "float" && ask.format != "base64")
    return fail(Errc::bad_input, "encoding_format is not float or base64");
  return {};
}

}  // namespace

bool Api::is_own_embedder(std::string_view model) const {
  return std::ranges::find(context_.embedders.names, model) != context_.embedders.names.end();
}

Awaitable<void> Api::embeddings(Call call) const {
  const auto read = [&call] { return read_ask(call.request.body); };
  const auto ask = co_await base::off_thread_if_long(&call.thread, call.request.body.size(), read);
  if (!ask) {
    co_await send_error(call.reply, ask.error());
    co_return;
  }
  if (!is_own_embedder(ask->model) && !context_.upstreams.members().empty()) {
    co_await ask_model(call);
    co_return;
  }
  if (!ask->all_texts || ask->texts.empty() || ask->texts.size() > most_texts) {
    const Error error{Errc::bad_input,
                      fmt::format("input is not a string or a list of 1 to {} strings", most_texts)};
    co_await send_error(call.reply, error);
    co_return;
  }
  call.thread.end_plan();  // the texts take no more than the body
  Result<std::string> body;
  std::optional<engine::Refusal> refusal;
  std::function<void()> work = [&] {
    const auto embedder = context_.embedders.find(ask->model);
    if (!embedder) {
      body = tl::unexpected(embedder.error());
      return;
    }
    if (auto able = check(*ask, (*embedder)->info()); !able) {
      body = tl::unexpected(able.error());
      return;
    }
    const std::vector<std::string_view> texts(ask->texts.begin(), ask->texts.end());
    const std::optional<Tokens> counted = (*embedder)->count(texts);
    const Tokens tokens = counted.value_or(engine::estimated_tokens(call.request.body.size()));
    const engine::Caller& caller = call.request.caller;
    const auto share = context_.engine.reserve && caller.metered ? context_.engine.reserve(caller, {tokens})
                                                                 : engine::Share{};
    if (!share) {
      refusal = share.error();
      return;
    }
    const auto vectors = (*embedder)->embed(texts, call.deadline);
    if (vectors || vectors.error().code == Errc::timed_out)  // a timeout is charged too
      engine::charge_texts(context_.engine, caller, call.request.path, (*embedder)->info().name, tokens,
                           share->held.get());
    if (vectors)
      body = reply_of(*ask, *vectors, (*embedder)->info().dimensions, counted);
    else
      body = tl::unexpected(vectors.error());
  };
  co_await call.thread.elsewhere(std::move(work));
  if (refusal) {
    co_await send_json(call.reply, status_of(refusal->kind), error_body(*refusal), refusal_headers(*refusal));
    co_return;
  }
  if (body)
    co_await send_json(call.reply, 200, *std::move(body));
  else
    co_await send_error(call.reply, body.error());
}

}  // namespace plimsoll::gateway

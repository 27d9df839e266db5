#include "gateway/ollama/ollama_ask.hpp"

#include <algorithm>
#include <array>

#include "base/json/json_member.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/try.hpp"
#include "gateway/ollama/ollama_messages.hpp"

namespace plimsoll::gateway {
namespace {

using base::member;
using Json = nlohmann::ordered_json;

// No limit for a raw prompt; the engine lowers it to the window.
constexpr Tokens without_limit = 1'000'000;

// The same in both APIs.
constexpr std::array<std::string_view, 8> same_options{
    "temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty", "top_k", "min_p"};
// Options for running a model, without effect on the answer.
constexpr std::array<std::string_view, 13> without_effect{
    "numa",       "num_batch", "num_gpu",   "main_gpu",   "low_vram",       "f16_kv",  "logits_all",
    "vocab_only", "use_mmap",  "use_mlock", "num_thread", "embedding_only", "num_keep"};
// Passed on unchanged in chats.
constexpr std::array<std::string_view, 5> same_fields{"index_name", "context_token_ratio", "plimsoll",
                                                      "logprobs", "top_logprobs"};
// Read elsewhere, or used only by us.
constexpr std::array<std::string_view, 17> known{
    "model",  "messages", "tools",  "stream",  "format",   "options",  "think", "prompt", "system",
    "images", "raw",      "suffix", "context", "template", "truncate", "shift", "name"};

template <std::size_t Size>
bool is_among(const std::array<std::string_view, Size>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Result<std::string> read_text_field(const Json& body, const char* key) {
  const Json& value = member(body, key);
  if (value.is_null()) return std::string();
  if (!value.is_string()) return fail(Errc::bad_input, "{} is not a string", key);
  return value.get<std::string>();
}

Result<bool> flag_in(const Json& body, const char* key, bool otherwise) {
  const Json& value = member(body, key);
  if (value.is_null()) return otherwise;
  if (!value.is_boolean()) return fail(Errc::bad_input, "{} is not true or false", key);
  return value.get<bool>();
}

bool is_zero(const Json& keep_alive) {
  if (keep_alive.is_number()) return keep_alive.get<double>() == 0;
  return keep_alive == "0" || keep_alive == "0s" || keep_alive == "0m";
}

class Translation {
 public:
  Translation(const Json& from, const OllamaTarget& target) : from_(from), target_(target) {}

  Result<OllamaAsk> make(OllamaRoute route) {
    TRY(ask_.stream, flag_in(from_, "stream", true));
    to_["model"] = target_.model;
    TRY_VOID(route == OllamaRoute::chat ? chat() : generate());
    ask_.unloads = is_zero(member(from_, "keep_alive"));
    if (ask_.only_loads) return std::move(ask_);
    to_["stream"] = ask_.stream;
    if (ask_.stream) to_["stream_options"] = {{"include_usage", true}};
    TRY_VOID(options());
    TRY_VOID(think());
    TRY_VOID(format());
    for (const auto& [name, value] : from_.items())
      if (!value.is_null()) field(name, value);
    forbid_cuts();
    if (!inexpressible_.empty() && target_.refuse_inexpressible)
      return fail(Errc::bad_input,
                  "this upstream's API does not support {}: remove {} from the request, or set "
                  "refuse_inexpressible = false",
                  fmt::join(inexpressible_, ", "), inexpressible_.size() == 1 ? "it" : "them");
    if (!inexpressible_.empty())
      ask_.notes.push_back(
          fmt::format("the upstream's API does not support {}; dropped", fmt::join(inexpressible_, ", ")));
    ask_.body = base::json_text(to_);
    return std::move(ask_);
  }

 private:
  bool is_raw() const { return ask_.kind == RequestKind::completion; }
  bool is_native() const { return target_.kind == ServerKind::ollama; }
  // Returns whether the server's chat template accepts variables.
  bool has_template() const {
    return target_.kind == ServerKind::vllm || target_.kind == ServerKind::llama_cpp;
  }

  Result<void> chat() {
    const Json& messages = member(from_, "messages");
    if (!messages.is_null() && !messages.is_array())
      return fail(Errc::bad_input, "messages is not a list of messages");
    ask_.only_loads = messages.is_null() || messages.empty();
    if (ask_.only_loads) return {};
    TRY(to_["messages"], openai_messages(messages, is_native() || has_template(), ask_.notes));
    if (const Json& tools = member(from_, "tools"); !tools.is_null() && !tools.empty()) to_["tools"] = tools;
    return {};
  }

  Result<void> generate() {
    for (const char* refused : {"template", "suffix"}) {
      TRY(const std::string text, read_text_field(from_, refused));
      if (!text.empty())
        return fail(
            Errc::unsupported,
            "{} is not supported: prompts are planned with the model's own chat template. Use /api/chat, "
            "or raw with the whole prompt",
            refused);
    }
    if (const Json& context = member(from_, "context"); context.is_array() && !context.empty())
      return fail(Errc::unsupported,
                  "context is not supported: its tokens belong to one server. Send the conversation as "
                  "messages to /api/chat");
    TRY(const std::string prompt, read_text_field(from_, "prompt"));
    TRY(const std::string system, read_text_field(from_, "system"));
    TRY(const bool raw, flag_in(from_, "raw", false));
    const Json& images = member(from_, "images");
    ask_.only_loads = prompt.empty() && (images.is_null() || images.empty());
    if (ask_.only_loads) return {};
    if (raw) return raw_prompt(prompt, system, images);
    Json messages = Json::array();
    if (!system.empty()) messages.push_back({{"role", "system"}, {"content", system}});
    TRY(Json content, openai_content(prompt, images, ""));
    messages.push_back({{"role", "user"}, {"content", std::move(content)}});
    to_["messages"] = std::move(messages);
    return {};
  }

  Result<void> raw_prompt(const std::string& prompt, const std::string& system, const Json& images) {
    if (is_native())
      return fail(
          Errc::unsupported,
          "raw is not supported for a model of an Ollama: its /v1/completions applies the model's template "
          "to prompts. Use /api/chat, or use that server directly");
    if (!system.empty() || (images.is_array() && !images.empty()))
      return fail(Errc::bad_input, "raw is the whole prompt: it cannot be combined with system and images");
    ask_.kind = RequestKind::completion;
    to_["prompt"] = prompt;
    to_["max_tokens"] = without_limit;  // default; OpenAI's default would be 16
    return {};
  }

  Result<void> options() {
    const Json& options = member(from_, "options");
    if (options.is_null()) return {};
    if (!options.is_object()) return fail(Errc::bad_input, "options is not an object");
    for (const auto& [name, value] : options.items())
      if (!value.is_null()) TRY_VOID(option(name, value));
    return {};
  }

  Result<void> option(const std::string& name, const Json& value) {
    if (name == "num_ctx") {
      if (!value.is_number_integer() || value.get<double>() < 1)
        return fail(Errc::bad_input, "options.num_ctx is not a whole number above 0");
      ask_.num_ctx = static_cast<Tokens>(std::min(value.get<std::uint64_t>(), std::uint64_t{1} << 40));
    } else if (name == "num_predict") {
      if (!value.is_number_integer())
        return fail(Errc::bad_input, "options.num_predict is not a whole number");
      if (value.get<double>() > 0) to_["max_tokens"] = value;  // else no limit
    } else if (is_among(same_options, name)) {
      to_[name] = value;
    } else if (is_native()) {
      to_["options"][name] = value;
    } else if (name == "repeat_penalty") {
      to_[target_.kind == ServerKind::vllm ? "repetition_penalty" : "repeat_penalty"] = value;
    } else if (!is_among(without_effect, name)) {
      inexpressible_.push_back("options." + name);
    }
    return {};
  }

  Result<void> think() {
    const Json& wish = member(from_, "think");
    if (wish.is_null()) return {};
    const bool is_level = wish == "low" || wish == "medium" || wish == "high";
    if (!wish.is_boolean() && !is_level)
      return fail(Errc::bad_input, "think is not true, false, \"low\", \"medium\" or \"high\"");
    if (is_raw())
      ask_.notes.emplace_back("think is dropped: a raw prompt includes it");
    else if (is_native())
      to_["think"] = wish;
    else if (is_level)
      to_["reasoning_effort"] = wish;
    else if (has_template())
      to_["chat_template_kwargs"] = {{"enable_thinking", wish}};
    else
      ask_.notes.emplace_back(
          "think is dropped: this upstream's API supports only levels (low, medium, high)");
    return {};
  }

  Result<void> format() {
    const Json& format = member(from_, "format");
    const bool is_blank = format.is_string() && format.get_ref<const std::string&>().empty();
    if (format.is_null() || is_blank) return {};
    if (format == "json") {
      to_["response_format"] = {{"type", "json_object"}};
    } else if (format.is_object()) {
      to_["response_format"] = {{"type", "json_schema"},
                                {"json_schema", {{"name", "answer"}, {"schema", format}}}};
    } else {
      return fail(Errc::bad_input, "format is neither \"json\" nor a JSON schema");
    }
    return {};
  }

  void field(const std::string& name, const Json& value) {
    if (is_among(same_fields, name)) {
      if (is_raw())
        inexpressible_.push_back(name);
      else
        to_[name] = value;
    } else if (name == "keep_alive") {
      if (is_native()) to_[name] = value;
    } else if (!is_among(known, name)) {
      ask_.notes.push_back(fmt::format("unknown field {}; dropped", name.substr(0, 60)));
    }
  }

  // `truncate: false` forbids leaving turns out.
  void forbid_cuts() {
    const Json& given = member(from_, "plimsoll");
    const bool says_otherwise = !given.is_null() && (!given.is_object() || given.contains("policy"));
    if (member(from_, "truncate") == false && !is_raw() && !says_otherwise)
      to_["plimsoll"]["policy"] = "strict";
  }

  const Json& from_;
  const OllamaTarget& target_;
  Json to_ = Json::object();
  OllamaAsk ask_;
  std::vector<std::string> inexpressible_;
};

}  // namespace

Result<Json> read_ollama_body(const std::string& body) {
  TRY_VOID(base::check_json_shape(body, "the request"));
  Json json = base::parse_json(body);
  if (!json.is_object()) return fail(Errc::bad_input, "the request body is not a JSON object");
  return json;
}

Result<std::string> ollama_model_in(const Json& body) {
  TRY(std::string model, read_text_field(body, "model"));
  if (model.empty()) {
    TRY(model, read_text_field(body, "name"));  // older clients use it
  }
  return model;
}

Result<OllamaAsk> read_ollama_ask(OllamaRoute route, const Json& body, const OllamaTarget& target) {
  return Translation(body, target).make(route);
}

}  // namespace plimsoll::gateway

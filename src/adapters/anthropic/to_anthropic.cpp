#include "adapters/anthropic/to_anthropic.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "adapters/anthropic/to_messages.hpp"
#include "base/json/json_member.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::anthropic {
namespace {

using base::is_among;
using base::list_in;
using base::member;
using base::text_in;
using Json = nlohmann::ordered_json;

constexpr Tokens usual_limit = 4'096;

// They tell the provider about the request, not the model; or they are translated elsewhere in this file.
constexpr std::array<std::string_view, 17> handled{"model",
                                                   "messages",
                                                   "tools",
                                                   "tool_choice",
                                                   "parallel_tool_calls",
                                                   "max_tokens",
                                                   "stream",
                                                   "user",
                                                   "metadata",
                                                   "stream_options",
                                                   "service_tier",
                                                   "store",
                                                   "keep_alive",
                                                   "stop",
                                                   "max_completion_tokens",
                                                   "safety_identifier",
                                                   "prompt_cache_key"};
// The same in both APIs, or known to Anthropic's alone.
constexpr std::array<std::string_view, 6> same_fields{"top_p",         "top_k",         "thinking",
                                                      "cache_control", "output_config", "output_format"};

// What asks for nothing but what the server does anyway.
bool is_usual(std::string_view name, const Json& value) {
  if (name == "n" || name == "best_of") return value == 1;
  if (name == "repeat_penalty" || name == "repetition_penalty") return value == 1;
  if (name == "presence_penalty" || name == "frequency_penalty" || name == "min_p") return value == 0;
  if (name == "logprobs" || name == "think") return value == false;
  if (name == "top_logprobs") return value == 0;
  if (name == "reasoning_effort") return value == "none";
  if (name == "logit_bias" || name == "options") return value.is_object() && value.empty();
  if (name == "response_format") return text_in(value, "type") == "text";
  if (name == "modalities") return value == Json::array({"text"});
  if (name == "verbosity") return value == "medium";
  return name == "prompt_cache_retention";
}

class Translation {
 public:
  explicit Translation(const UpstreamRequest& request) : request_(request) {}

  Result<Translated> make(const Json& body) {
    const Json& messages = member(body, "messages");
    if (!messages.is_array()) return fail(Errc::bad_input, "messages must be a list of messages");
    out_["model"] = request_.model.empty() ? text_in(body, "model") : request_.model;
    out_["max_tokens"] = nullptr;  // in its usual place; see answer_limit
    TRY(Conversation conversation, to_messages(messages, left_out_));
    if (!conversation.system.is_null()) out_["system"] = std::move(conversation.system);
    out_["messages"] = std::move(conversation.messages);
    put_tools(body);
    for (const auto& [name, value] : body.items())
      if (!value.is_null()) field(name, value);
    put_stop(member(body, "stop"));
    put_user(body);
    answer_limit(body);
    if (request_.stream) out_["stream"] = true;
    if (!left_out_.empty() && request_.refuse_inexpressible)
      return fail(Errc::bad_input,
                  "Anthropic's API cannot express {}: leave {} out of the request, or set "
                  "refuse_inexpressible = false for this upstream",
                  fmt::join(left_out_.names(), ", "), left_out_.names().size() == 1 ? "it" : "them");
    return Translated{base::json_text(out_), left_out_.names()};
  }

 private:
  void field(const std::string& name, const Json& value) {
    if (is_among(handled, name)) return;
    if (is_among(same_fields, name)) {
      out_[name] = value;
    } else if (name == "temperature") {
      const double given = value.is_number() ? value.get<double>() : -1;
      if (given >= 0 && given <= 1)
        out_[name] = value;
      else
        left_out_.add("temperature (only 0 to 1)");
    } else if (name == "reasoning") {
      reasoning(value);
    } else if (!is_usual(name, value)) {
      left_out_.add(name);
    }
  }

  // OpenRouter's form: {"max_tokens"} or {"effort"}.
  void reasoning(const Json& value) {
    const Json& budget = member(value, "max_tokens");
    if (budget.is_number_unsigned())
      out_["thinking"] = {{"type", "enabled"}, {"budget_tokens", budget}};
    else if (!value.is_object() || (!value.empty() && member(value, "effort") != "none"))
      left_out_.add("reasoning");
  }

  void put_stop(const Json& stop) {
    if (stop.is_string()) out_["stop_sequences"] = Json::array({stop});
    if (stop.is_array() && !stop.empty()) out_["stop_sequences"] = stop;
  }

  void put_user(const Json& body) {
    std::string user = text_in(body, "user");
    if (user.empty()) user = text_in(member(body, "metadata"), "user_id");
    if (!user.empty()) out_["metadata"] = {{"user_id", std::move(user)}};
  }

  // ---- Tools ----

  void put_tools(const Json& body) {
    Json tools = Json::array();
    for (const Json& tool : list_in(member(body, "tools")))
      if (Json made = tool_of(tool); !made.is_null()) tools.push_back(std::move(made));
    if (tools.empty()) return;
    out_["tools"] = std::move(tools);
    Json choice = choice_of(member(body, "tool_choice"));
    if (member(body, "parallel_tool_calls") == false) {
      if (choice.is_null()) choice = {{"type", "auto"}};
      if (choice["type"] != "none") choice["disable_parallel_tool_use"] = true;
    }
    if (!choice.is_null()) out_["tool_choice"] = std::move(choice);
  }

  // `strict` is dropped, as by most servers: the schema is sent all the same.
  Json tool_of(const Json& tool) {
    const Json& function = member(tool, "function");
    const std::string type = text_in(tool, "type");
    if (!function.is_object() || (!type.empty() && type != "function")) {
      left_out_.add("tools." + (type.empty() ? "?" : type.substr(0, 60)));
      return nullptr;
    }
    Json out{{"name", text_in(function, "name")}};
    if (const std::string about = text_in(function, "description"); !about.empty())
      out["description"] = about;
    Json schema = member(function, "parameters");
    if (!schema.is_object()) schema = Json::object();
    if (!schema.contains("type")) schema["type"] = "object";
    out["input_schema"] = std::move(schema);
    for (const Json* from : {&function, &tool})
      if (const Json& cache = member(*from, "cache_control"); cache.is_object()) out["cache_control"] = cache;
    return out;
  }

  // Null where the request leaves it open.
  Json choice_of(const Json& choice) {
    if (choice.is_null()) return nullptr;
    if (choice == "auto" || choice == "none") return {{"type", choice}};
    if (choice == "required") return {{"type", "any"}};
    const Json& function = member(choice, "function");
    const std::string name = text_in(function.is_object() ? function : choice, "name");
    if (text_in(choice, "type") == "function" && !name.empty()) return {{"type", "tool"}, {"name", name}};
    left_out_.add("tool_choice");
    return nullptr;
  }

  // ---- The limit of the answer ----

  void answer_limit(const Json& body) {
    Tokens limit = request_.answer > 0 ? request_.answer : usual_limit;
    bool is_given = false;
    for (const char* name : {"max_tokens", "max_completion_tokens"})  // the newer name decides
      if (const Json& given = member(body, name); given.is_number_unsigned()) {
        limit = tokens_of(given);
        is_given = true;
      }
    // Anthropic counts thinking as a part of the limit; plans have it beside the answer.
    if (const Json& given = member(member(out_, "thinking"), "budget_tokens"); given.is_number_unsigned()) {
      const Tokens budget = tokens_of(given);
      if (is_given || limit <= budget) limit += budget;
    }
    out_["max_tokens"] = limit;
  }

  static Tokens tokens_of(const Json& number) {
    return static_cast<Tokens>(std::min<std::uint64_t>(number.get<std::uint64_t>(), 1U << 30));
  }

  const UpstreamRequest& request_;
  Json out_ = Json::object();
  LeftOut left_out_;
};

}  // namespace

Result<Translated> to_anthropic(const UpstreamRequest& request) {
  TRY_VOID(base::check_json_shape(request.body, "the request"));
  const Json body = base::parse_json(request.body);
  if (!body.is_object()) return fail(Errc::bad_input, "the request is not a JSON object");
  return Translation(request).make(body);
}

}  // namespace plimsoll::anthropic

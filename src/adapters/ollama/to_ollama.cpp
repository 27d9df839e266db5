#include "adapters/ollama/to_ollama.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <nlohmann/json.hpp>

#include "base/json/json_member.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::ollama {
namespace {

// In the order of the request: templates show tools and arguments to the model as they stand.
using base::text_in;
using Json = nlohmann::ordered_json;

template <std::size_t Size>
using Names = std::array<std::string_view, Size>;

// They tell the provider about the request, not the model.
constexpr Names<12> without_effect{"user",
                                   "metadata",
                                   "store",
                                   "stream",
                                   "stream_options",
                                   "service_tier",
                                   "model",
                                   "safety_identifier",
                                   "prompt_cache_key",
                                   "messages",
                                   "tools",
                                   "prompt_cache_retention"};
constexpr Names<8> same_options{"temperature",       "top_p", "seed",  "presence_penalty",
                                "frequency_penalty", "top_k", "min_p", "repeat_penalty"};
constexpr Names<4> same_fields{"keep_alive", "think", "logprobs", "top_logprobs"};

template <std::size_t Size>
bool is_among(const Names<Size>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class Translation {
 public:
  explicit Translation(const UpstreamRequest& request) : request_(request) {}

  Result<Translated> make(const Json& body, Purpose purpose) {
    const std::string model = request_.model.empty() ? text_in(body, "model") : request_.model;
    out_["model"] = model;
    TRY(out_["messages"], messages(body));
    const Json& tools = base::member(body, "tools");
    if (tools.is_array() && !tools.empty() && text_in(body, "tool_choice") != "none") out_["tools"] = tools;
    if (const auto given = body.find("options"); given != body.end() && given->is_object()) options_ = *given;
    for (const auto& [name, value] : body.items())
      if (!value.is_null()) field(name, value);
    answer_limit(body);
    out_["stream"] = request_.stream && purpose == Purpose::answer;
    out_["truncate"] = false;
    out_["shift"] = false;
    if (request_.load_window) options_["num_ctx"] = *request_.load_window;
    if (purpose == Purpose::render) {
      out_["_debug_render_only"] = true;
      options_["num_predict"] = 1;  // a server that does not know the field above answers, but briefly
    }
    if (!options_.empty()) out_["options"] = std::move(options_);
    if (!left_out_.empty() && request_.refuse_inexpressible && purpose == Purpose::answer)
      return fail(Errc::bad_input,
                  "Ollama's API cannot express {}: leave {} out of the request, or set "
                  "refuse_inexpressible = false for this upstream",
                  fmt::join(left_out_, ", "), left_out_.size() == 1 ? "it" : "them");
    return Translated{base::json_text(out_), std::move(left_out_)};
  }

 private:
  void leave_out(std::string name) {
    if (std::ranges::find(left_out_, name) == left_out_.end()) left_out_.push_back(std::move(name));
  }

  void field(const std::string& name, const Json& value) {
    if (is_among(without_effect, name) || name == "options") return;
    if (is_among(same_options, name)) {
      options_[name] = value;
    } else if (is_among(same_fields, name)) {
      out_[name] = value;
    } else if (name == "stop") {
      options_["stop"] = value.is_array() ? value : Json::array({value});
    } else if (name == "max_tokens" || name == "max_completion_tokens") {
      // see answer_limit
    } else if (name == "response_format") {
      response_format(value);
    } else if (name == "reasoning_effort") {
      effort(value);
    } else if (name == "reasoning") {
      if (value.is_object() && value.size() == 1 && value.contains("effort"))
        effort(value["effort"]);
      else
        leave_out(name);
    } else if (!is_usual(name, value)) {
      leave_out(name);
    }
  }

  // What asks for nothing but what Ollama does anyway.
  static bool is_usual(std::string_view name, const Json& value) {
    if (name == "n") return value == 1;
    if (name == "parallel_tool_calls") return value == true;
    if (name == "tool_choice") return value == "auto" || value == "none";
    if (name == "logit_bias") return value.is_object() && value.empty();
    if (name == "modalities") return value == Json::array({"text"});
    if (name == "verbosity") return value == "medium";
    return false;
  }

  void answer_limit(const Json& body) {
    for (const char* name : {"max_completion_tokens", "max_tokens"})
      if (const auto found = body.find(name); found != body.end() && found->is_number()) {
        options_["num_predict"] = *found;
        return;
      }
  }

  void response_format(const Json& value) {
    const std::string type = value.is_object() ? text_in(value, "type") : std::string();
    if (type == "json_object") {
      out_["format"] = "json";
    } else if (type == "json_schema" && value.contains("json_schema") && value["json_schema"].is_object() &&
               value["json_schema"].contains("schema")) {
      out_["format"] = value["json_schema"]["schema"];
    } else if (type != "text") {
      leave_out("response_format");
    }
  }

  void effort(const Json& value) {
    const std::string word = value.is_string() ? value.get<std::string>() : std::string();
    if (word == "none")
      out_["think"] = false;
    else if (word == "minimal")
      out_["think"] = "low";
    else if (word == "low" || word == "medium" || word == "high")
      out_["think"] = word;
    else
      leave_out("reasoning_effort");
  }

  Result<Json> messages(const Json& body) {
    const auto found = body.find("messages");
    if (found == body.end() || !found->is_array())
      return fail(Errc::bad_input, "messages must be a list of messages");
    Json all = Json::array();
    for (const Json& one : *found) {
      if (!one.is_object() || text_in(one, "role").empty())
        return fail(Errc::bad_input, "messages[{}] must be an object with a role", all.size());
      TRY(Json translated, message(one, all.size()));
      all.push_back(std::move(translated));
    }
    return all;
  }

  Result<Json> message(const Json& from, std::size_t index) {
    const std::string role = text_in(from, "role");
    Json to{{"role", role == "developer" ? "system" : role}, {"content", ""}};
    for (const auto& [name, value] : from.items()) {
      if (value.is_null() || name == "role" || name == "refusal" || name == "annotations") continue;
      if (name == "content") {
        TRY_VOID(content(value, index, to));
      } else if (name == "reasoning_content" || name == "reasoning" || name == "thinking") {
        to["thinking"] = value;
      } else if (name == "tool_calls") {
        TRY(to["tool_calls"], tool_calls(value, index));
      } else if (name == "tool_call_id") {
        to["tool_call_id"] = value;
        const auto call = value.is_string() ? called_.find(value.get<std::string>()) : called_.end();
        if (call != called_.end() && !from.contains("name")) to["tool_name"] = call->second;
      } else if ((name == "name" || name == "tool_name") && role == "tool") {
        to["tool_name"] = value;
      } else {
        leave_out("messages." + name);
      }
    }
    return to;
  }

  // Parts of text are joined by line ends, as they are counted.
  Result<void> content(const Json& value, std::size_t index, Json& to) {
    if (value.is_string()) {
      to["content"] = value;
      return {};
    }
    if (!value.is_array())
      return fail(Errc::bad_input, "messages[{}].content must be text or a list of parts", index);
    std::string joined;
    bool is_first = true;
    for (const Json& part : value) {
      const std::string type = part.is_object() ? text_in(part, "type") : std::string();
      if (type == "image_url" || type == "input_image") {
        image(part, to);
      } else if (type == "text" || type == "input_text" || type == "output_text" || type == "refusal") {
        if (!is_first) joined += '\n';
        is_first = false;
        joined += text_in(part, type == "refusal" ? "refusal" : "text");
      } else {
        leave_out("messages.content." + (type.empty() ? "?" : type));
      }
    }
    to["content"] = std::move(joined);
    return {};
  }

  void image(const Json& part, Json& to) {
    const auto found = part.find("image_url");
    std::string url;
    if (found != part.end()) url = found->is_object() ? text_in(*found, "url") : text_in(part, "image_url");
    const std::size_t comma = url.find(',');
    const bool is_data = base::to_lower_ascii(std::string_view(url).substr(0, 5)) == "data:";
    if (!is_data || comma == std::string::npos || url.substr(0, comma).find(";base64") == std::string::npos)
      return leave_out("messages.content.image_url");  // Ollama fetches nothing
    to["images"].push_back(url.substr(comma + 1));
  }

  Result<Json> tool_calls(const Json& calls, std::size_t index) {
    if (!calls.is_array()) return fail(Errc::bad_input, "messages[{}].tool_calls must be a list", index);
    Json all = Json::array();
    for (const Json& call : calls) {
      const auto function = call.is_object() ? call.find("function") : call.end();
      if (!call.is_object() || function == call.end() || !function->is_object())
        return fail(Errc::bad_input, "messages[{}].tool_calls must hold calls of functions", index);
      const std::string name = text_in(*function, "name");
      Json arguments = Json::object();
      if (const auto given = function->find("arguments"); given != function->end()) {
        if (given->is_object()) arguments = *given;
        const std::string text = given->is_string() ? given->get<std::string>() : std::string();
        if (!base::trim(text).empty()) {
          TRY_VOID(base::check_json_shape(text, "a tool call's arguments"));
          arguments = base::parse_json(text);
        }
      }
      if (!arguments.is_object())
        return fail(Errc::bad_input, "messages[{}].tool_calls: the arguments of '{}' are no JSON object",
                    index, name);
      const std::string id = text_in(call, "id");
      Json function_out{{"index", all.size()}, {"name", name}, {"arguments", std::move(arguments)}};
      Json out;
      if (!id.empty()) {
        out["id"] = id;
        called_[id] = name;
      }
      out["function"] = std::move(function_out);
      all.push_back(std::move(out));
    }
    return all;
  }

  const UpstreamRequest& request_;
  Json out_ = Json::object();
  Json options_ = Json::object();
  std::map<std::string, std::string> called_;  // names of functions by the ids of their calls
  std::vector<std::string> left_out_;
};

}  // namespace

Result<Translated> to_ollama(const UpstreamRequest& request, Purpose purpose) {
  TRY_VOID(base::check_json_shape(request.body, "the request"));
  const Json body = base::parse_json(request.body);
  if (!body.is_object()) return fail(Errc::bad_input, "the request is no JSON object");
  return Translation(request).make(body, purpose);
}

}  // namespace plimsoll::ollama

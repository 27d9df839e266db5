#include "base/json/json_text.hpp"
#include "base/try.hpp"
#include "gateway/mcp/mcp_tool.hpp"

namespace plimsoll::gateway {
namespace {

constexpr const char* count_description =
    "Counts the tokens of a text, or of a list of chat messages with their chat format and tools, exactly, "
    "with the "
    "tokenizer that the model itself uses. Says whether the count is exact, calibrated or estimated, and "
    "why.";

Json count_input_schema() {
  return object_schema(
      {{"text", text_schema("The text to count. Give this or messages.")},
       {"messages",
        {{"type", "array"},
         {"items", {{"type", "object"}}},
         {"description", "Messages of an OpenAI chat request: role, content, tool_calls, ..."}}},
       {"tools",
        {{"type", "array"},
         {"items", {{"type", "object"}}},
         {"description", "Tool definitions of that request; they cost tokens too."}}},
       {"model", text_schema("Model by any of its names: gpt-4o, llama3.2:3b, Qwen/Qwen2.5-7B-Instruct.")},
       {"tokenizer", text_schema("Tokenizer by name, if no model is given. Default: o200k_base.")}},
      Json::array());
}

Json count_output_schema() {
  const auto of = [](const char* type) { return Json{{"type", type}}; };
  Json schema = object_schema({{"tokens", of("integer")},
                               {"tokenizer", of("string")},
                               {"exactness", of("string")},
                               {"why", of("string")}},
                              {"tokens", "tokenizer", "exactness"});
  schema["additionalProperties"] = true;
  return schema;
}

Result<void> count_messages(const Scale& scale, const Json& arguments, Json& result) {
  Json request{{"messages", arguments["messages"]}};
  if (arguments.contains("tools")) request["tools"] = arguments["tools"];
  TRY(const ChatCount counted, count_chat(scale.tokenizer, base::json_text(request), scale.chat));
  const Exactness exactness = worse(counted.exactness, scale.exactness);
  result["tokens"] = counted.total;
  result["exactness"] = name_of(exactness);
  result["why"] = scale.exactness > counted.exactness ? scale.why : counted.why;
  result["template"] = counted.template_used;
  result["template_tokens"] = counted.template_tokens;
  result["messages"] = counted.messages;
  result["tools"] = counted.tools;
  result["images"] = counted.images;
  return {};
}

Result<Json> call_count(const ToolContext& context, const Json& arguments) {
  const bool text = arguments.contains("text");
  if (text == arguments.contains("messages")) return fail(Errc::bad_input, "give either text or messages");
  if (text && arguments.contains("tools"))
    return fail(Errc::bad_input, "tools belong to messages, not to a text");
  const std::string model = text_of(arguments, "model");
  if (!model.empty() && arguments.contains("tokenizer"))
    return fail(Errc::bad_input, "give either model or tokenizer");
  TRY(const Scale scale, choose_scale(context, model, text_of(arguments, "tokenizer")));

  Json result{
      {"tokens", 0}, {"tokenizer", scale.tokenizer.info().name}, {"exactness", name_of(scale.exactness)}};
  if (!scale.model.empty()) result["model"] = scale.model;
  if (text) {
    result["tokens"] =
        scale.tokenizer.count(arguments["text"].get_ref<const std::string&>(), scale.chat.specials);
    if (!scale.why.empty()) result["why"] = scale.why;
  } else {
    TRY_VOID(count_messages(scale, arguments, result));
  }
  if (!model.empty()) {
    const Window window = known_window(context, model);
    result["window"] = window.tokens;
    result["window_source"] = name_of(window.source);
  }
  return result;
}

}  // namespace

McpTool count_tool(Context context) {
  return {"count_tokens",
          "Count tokens",
          count_description,
          count_input_schema(),
          count_output_schema(),
          [context = std::move(context)](const Json& arguments, const McpSession&) {
            return call_count(*context, arguments);
          }};
}

}  // namespace plimsoll::gateway

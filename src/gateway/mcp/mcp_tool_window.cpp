#include "gateway/mcp/mcp_tool.hpp"

namespace plimsoll::gateway {
namespace {

constexpr const char* window_description =
    "Returns the size of a model's context window in tokens, with its source and confidence, the longest "
    "answer, and the tokenizer. The configured model servers are asked first; a model that none of them "
    "lists is looked up in the catalogue by its name, and a server may offer a smaller window than the "
    "model's maximum.";

Json window_input_schema() {
  return object_schema(
      {{"model", text_schema("Model by any of its names: gpt-4o, llama3.2:3b, "
                             "Qwen/Qwen2.5-7B-Instruct, openrouter/anthropic/claude-3-opus.")}},
      {"model"});
}

Json window_output_schema() {
  const auto of = [](const char* type) { return Json{{"type", type}}; };
  Json schema = object_schema(
      {{"model", of("string")},
       {"window", of("integer")},
       {"source",
        {{"type", "string"},
         {"enum", {"configured", "served", "requestable", "declared", "catalogue", "default"}}}},
       {"confidence", {{"type", "string"}, {"enum", {"high", "medium", "low"}}}}},
      {"model", "window", "source", "confidence"});
  schema["additionalProperties"] = true;
  return schema;
}

Result<Json> call_window(const ToolContext& context, const Json& arguments) {
  const std::string model = text_of(arguments, "model");
  if (model.empty()) return fail(Errc::bad_input, "the model's name is empty");
  const Window window = known_window(context, model);
  Json result{{"model", model},
              {"window", window.tokens},
              {"source", name_of(window.source)},
              {"confidence", name_of(window.confidence)}};
  const auto served = served_model(context, model);
  if (window.source == WindowSource::requestable) result["served_now"] = window.served_now;
  if (const auto match = context.catalogue->find(model)) {
    const ModelCard& card = *match->card;
    result["model"] = served ? served->name : card.name;
    result["match"] = name_of(match->kind);
    const Tokens max_output = served ? served->max_output : card.max_output;
    if (max_output > 0) result["max_output"] = max_output;
    result["tokenizer"] = card.tokenizer;
    result["exactness"] = name_of(card.exactness);
    if (!card.why.empty()) result["why"] = card.why;
    result["looked_up"] = card.date.empty() ? card.source : fmt::format("{}, {}", card.source, card.date);
  } else if (!served) {
    result["warning"] = "this model is not in the catalogue; the window is the default and may be wrong";
  }
  Json tried = Json::array();
  for (const WindowAttempt& attempt : window.tried)
    tried.push_back({{"way", attempt.way}, {"result", attempt.result}});
  result["tried"] = std::move(tried);
  return result;
}

}  // namespace

McpTool window_tool(Context context) {
  return {"model_window",
          "Look up a model's window",
          window_description,
          window_input_schema(),
          window_output_schema(),
          [context = std::move(context)](const Json& arguments, const McpSession&) {
            return call_window(*context, arguments);
          }};
}

}  // namespace plimsoll::gateway

#include "base/try.hpp"
#include "gateway/mcp/mcp_tool.hpp"
#include "plimsoll/strategy.hpp"
#include "strategy/decision_json.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::size_t most_files = 1000;

constexpr const char* strategy_description =
    "Decides how to bring content into the context window: STUFF (paste everything), HYBRID (paste what "
    "matters, "
    "retrieve the rest), RAG (retrieve passages) or RAG+GRAPH (search an index of entities first). Call it "
    "before "
    "loading files or searching. It weighs the kind of task, the size of the content, the model's window and "
    "what "
    "is used of it, and answers with the strategy, a reason, token budgets and steps. Files are counted "
    "exactly.";

Json input_schema(bool with_files) {
  Json sizes = Json::array();
  for (const std::string_view name : content_sizes()) sizes.push_back(name);
  Json hint = text_schema(
      "Rough size of the content: tiny 2,000 tokens, small 8,000, medium 32,000, large 100,000, huge "
      "500,000, "
      "massive 2,000,000. Used if neither char_count nor file_paths is given.");
  hint["enum"] = sizes;
  const auto list = [](std::string_view about) {
    return Json{
        {"type", "array"}, {"items", {{"type", "string"}}}, {"maxItems", most_files}, {"description", about}};
  };
  Json window =
      count_schema("The model's window in tokens. Default: the window of `model`, else 128,000.", 1);
  window["default"] = 128'000;
  Json used = count_schema("Tokens already in the window: system prompt, tools and history.", 0);
  used["default"] = 0;
  Json schema = object_schema(
      {{"query", text_schema("The question or task, in the user's words.")},
       {"content_size_hint", hint},
       {"file_paths",
        list("Files with the content, below the server's folder. They are counted, a PDF or a .docx by "
             "its text; missing ones are skipped, and files outside are refused.")},
       {"char_count", count_schema("Characters of the content, if known. Overrides the other sizes.", 0)},
       {"model_context_length", window},
       {"used_tokens", used},
       {"available_tools",
        list("Your available tools, such as read_file, web_extract, web_search, session_search, memory.")},
       {"model",
        text_schema("Model that will read it, for its tokenizer and window: gpt-4o, llama3.2:3b, ...")}},
      {"query"});
  if (!with_files) schema["properties"].erase("file_paths");
  return schema;
}

Json strategy_output_schema() {
  const auto of = [](const char* type) { return Json{{"type", type}}; };
  Json schema = object_schema(
      {{"strategy", {{"type", "string"}, {"enum", {"STUFF", "HYBRID", "RAG", "RAG+GRAPH"}}}},
       {"confidence", of("number")},
       {"reasoning", of("string")},
       {"content_tokens", of("integer")},
       {"available_budget", of("integer")},
       {"model_context_length", of("integer")},
       {"used_tokens", of("integer")},
       {"utilization_pct", of("number")},
       {"task_type", of("string")},
       {"retrieval_budget_tokens", of("integer")},
       {"steps", {{"type", "array"}, {"items", of("string")}}},
       {"crisis", of("boolean")}},
      {"strategy", "confidence", "reasoning", "content_tokens", "available_budget", "model_context_length",
       "used_tokens", "utilization_pct", "task_type", "retrieval_budget_tokens", "steps", "crisis"});
  schema["additionalProperties"] = true;
  return schema;
}

struct Weighed {
  Json files = Json::array();
  Json skipped = Json::array();
  std::string tokenizer;
  std::string not_counted;
};

Weighed weigh_files(const ToolContext& context, const Json& arguments, StrategyAsk& ask) {
  Weighed weighed;
  if (!context.files || !arguments.contains("file_paths") || arguments["file_paths"].empty()) return weighed;
  const auto scale = choose_scale(context, text_of(arguments, "model"), "");
  if (!scale) weighed.not_counted = scale.error().what;
  for (const Json& entry : arguments["file_paths"]) {
    const auto& path = entry.get_ref<const std::string&>();
    const auto file = scale ? context.files->weigh(path, scale->tokenizer, scale->chat.specials)
                            : context.files->measure(path);
    if (!file) {
      weighed.skipped.push_back({{"file", path}, {"why", file.error().what}});
      continue;
    }
    if (file->tokens)
      ask.counted = ask.counted.value_or(0) + *file->tokens;
    else
      ask.file_bytes.push_back(file->bytes);
    weighed.files.push_back({{"file", path},
                             {"tokens", file->tokens.value_or(file->bytes / 4)},
                             {"bytes", file->bytes},
                             {"counted", file->tokens.has_value()},
                             {"read_as", file->document.empty() ? Json() : Json(file->document)}});
  }
  if (scale && ask.counted) {
    weighed.tokenizer = scale->tokenizer.info().name;
    ask.counted_exactness = scale->exactness;
  }
  return weighed;
}

Result<Json> call_strategy(const ToolContext& context, const Json& arguments) {
  StrategyAsk ask;
  ask.query = text_of(arguments, "query");
  ask.char_count = integer_of(arguments, "char_count");
  ask.used_tokens = integer_of(arguments, "used_tokens").value_or(0);
  if (arguments.contains("content_size_hint"))
    ask.content_size_hint = content_size_named(text_of(arguments, "content_size_hint"));
  if (arguments.contains("available_tools"))
    ask.available_tools = arguments["available_tools"].get<std::vector<std::string>>();

  std::string source = "default";
  const std::string model = text_of(arguments, "model");
  if (const auto given = integer_of(arguments, "model_context_length")) {
    ask.model_context_length = *given;
    source = "given";
  } else if (!model.empty() || context.configured_window) {
    const Window window = known_window(context, model);
    ask.model_context_length = window.tokens;
    source = name_of(window.source);
  }
  Weighed weighed = weigh_files(context, arguments, ask);
  Json result = strategy::to_json(context_strategy(ask));
  result["window_source"] = source;
  const Tokens length = ask.model_context_length;
  const Tokens threshold =
      length / 100 * context.plan.compress_above_pct + length % 100 * context.plan.compress_above_pct / 100;
  result["pressure_report"] =
      pressure_report({length, ask.used_tokens, threshold, true}, context.base_min_trust);
  if (!weighed.tokenizer.empty()) result["tokenizer"] = weighed.tokenizer;
  if (!weighed.not_counted.empty()) result["not_counted"] = weighed.not_counted;
  if (!weighed.files.empty()) result["files"] = std::move(weighed.files);
  if (!weighed.skipped.empty()) result["skipped"] = std::move(weighed.skipped);
  return result;
}

}  // namespace

McpTool strategy_tool(Context context) {
  return {"context_strategy",
          "Choose a context strategy",
          strategy_description,
          input_schema(context->files.has_value()),
          strategy_output_schema(),
          [context = std::move(context)](const Json& arguments, const McpSession&) {
            return call_strategy(*context, arguments);
          }};
}

}  // namespace plimsoll::gateway

#include "base/json/json_text.hpp"
#include "base/try.hpp"
#include "engine/plan/plan_tree.hpp"
#include "gateway/mcp/mcp_tool.hpp"

namespace plimsoll::gateway {
namespace {

constexpr const char* plan_description =
    "Plans a chat request before it is sent: how many tokens its input really has, how long the answer may "
    "be, which "
    "turns, memories and passages fit into the model's window, which would be left out and why. Nothing is "
    "sent. "
    "If it cannot fit, `fits` is false and `least_window` is the smallest sufficient window.";

Json plan_input_schema() {
  Json policies = Json::array();
  for (const std::string_view name : policy_names()) policies.push_back(name);
  Json policy = text_schema(
      "Which parts are cut first if not everything fits. Default: the request's policy, or balanced.");
  policy["enum"] = policies;
  return object_schema(
      {{"request",
        {{"type", "object"},
         {"description",
          "Body of an OpenAI chat completion: messages, tools, max_tokens, ... Its field `plimsoll` may have "
          "policy, "
          "thinking, passages [{id, text, score}] and memories [{id, text, importance}]."}}},
       {"model", text_schema("Model that will answer. Default: the request's.")},
       {"window", count_schema("The model's window in tokens; overrides all other sources.", 1)},
       {"max_tokens", count_schema("Longest answer in tokens; overrides the request.", 1)},
       {"policy", policy},
       {"include_request",
        {{"type", "boolean"}, {"default", false}, {"description", "Whether to return the fitted request."}}}},
      {"request"});
}

Json plan_output_schema() {
  const auto of = [](const char* type) { return Json{{"type", type}}; };
  Json schema = object_schema(
      {{"schema", of("integer")},
       {"model", of("string")},
       {"window", of("object")},
       {"fits", of("boolean")},
       {"least_window", of("integer")},
       {"input_tokens", of("integer")},
       {"answer_tokens", of("integer")},
       {"left", of("integer")},
       {"sections", of("array")},
       {"pieces", of("array")},
       {"warnings", of("array")}},
      {"schema", "model", "window", "fits", "input_tokens", "answer_tokens", "sections", "pieces"});
  schema["additionalProperties"] = true;
  return schema;
}

std::optional<Window> window_set(const ToolContext& context, const Json& arguments,
                                 const std::string& model) {
  if (const auto given = integer_of(arguments, "window"))
    return Window{*given, WindowSource::configured, Confidence::high, {{"argument window", "taken"}}};
  if (context.configured_window || served_model(context, model)) return known_window(context, model);
  return {};
}

Result<Json> call_plan(const ToolContext& context, const Json& arguments) {
  const Json& request = arguments["request"];
  std::string model = text_of(arguments, "model");
  if (model.empty() && request.contains("model") && request["model"].is_string())
    model = request["model"].get<std::string>();
  if (model.empty()) return fail(Errc::bad_input, "no model in the arguments or in the request");
  PlanOptions options = context.plan;
  options.max_tokens = integer_of(arguments, "max_tokens");
  options.policy = policy_named(text_of(arguments, "policy"));
  CatalogueModels models(*context.catalogue, *context.tokenizers, context.default_window);
  if (auto window = window_set(context, arguments, model)) models.set_window(model, *std::move(window));
  TRY(const Plan plan, plan_request(base::json_text(request), model, options, models));
  Json result = engine::plan_tree(plan);
  if (arguments.value("include_request", false) && plan.fits) result["request"] = Json::parse(plan.request);
  return result;
}

}  // namespace

McpTool plan_tool(Context context) {
  return {"plan_context",
          "Plan a chat request",
          plan_description,
          plan_input_schema(),
          plan_output_schema(),
          [context = std::move(context)](const Json& arguments, const McpSession&) {
            return call_plan(*context, arguments);
          }};
}

}  // namespace plimsoll::gateway

#include "gateway/mcp/mcp_tools.hpp"

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/mcp/mcp_tool.hpp"

namespace plimsoll::gateway {
namespace {

constexpr const char* default_tokenizer = "o200k_base";
constexpr std::int64_t largest_count = 9'007'199'254'740'991;  // exact in every JSON reader

constexpr const char* instructions =
    "Plimsoll measures what goes into a context window. Ask context_strategy before you load files or "
    "search: it "
    "says whether to paste, to mix or to retrieve, and how many tokens each may take. count_tokens gives "
    "exact "
    "counts with the model's own tokenizer, model_window the window that a model has, plan_context what of a "
    "whole "
    "chat request would fit, list_indexes the indexes of documents that there are, search_documents the "
    "passages of an index that say most about a query. "
    "add_memory keeps a fact for later conversations, search_memories finds what was kept.";

}  // namespace

McpServer make_mcp_server(ToolContext context, std::string version) {
  const auto shared = std::make_shared<const ToolContext>(std::move(context));
  std::vector<McpTool> tools{strategy_tool(shared), count_tool(shared), window_tool(shared),
                             plan_tool(shared)};
  if (shared->open_indexes) {
    tools.push_back(indexes_tool(shared));
    tools.push_back(search_tool(shared));
  }
  if (shared->memories)
    for (McpTool& tool : memory_tools(shared)) tools.push_back(std::move(tool));
  return {"plimsoll", "Plimsoll", std::move(version), instructions, std::move(tools)};
}

Result<Scale> choose_scale(const ToolContext& context, const std::string& model,
                           const std::string& tokenizer) {
  if (model.empty()) {
    TRY(auto opened, context.tokenizers->open(tokenizer.empty() ? default_tokenizer : tokenizer));
    return Scale{std::move(opened), {}, {}, Exactness::exact, {}};
  }
  const auto match = context.catalogue->find(model);
  if (!match)
    return fail(Errc::unknown_model, "the catalogue has {}; give a tokenizer instead, such as {}",
                context.catalogue->no_entry_for(model), default_tokenizer);
  const ModelCard& card = *match->card;
  TRY(auto opened, context.tokenizers->open(card.tokenizer));
  Scale scale{std::move(opened), {}, card.name, card.exactness, card.why};
  scale.chat.chat_template = card.chat_template;
  scale.chat.specials = card.specials;
  scale.chat.images = card.images;
  if (match->kind == MatchKind::partial) {
    scale.exactness = Exactness::estimated;
    scale.why = fmt::format("'{}' is not in the catalogue; counted as the nearest related model, {}", model,
                            card.name);
  }
  return scale;
}

std::optional<PlanModel> served_model(const ToolContext& context, std::string_view model) {
  return context.served && !model.empty() ? context.served(model) : std::nullopt;
}

Window known_window(const ToolContext& context, std::string_view model) {
  Window window;
  if (context.configured_window) {
    window.tried.push_back(
        {"setting LLM_CONTEXT_WINDOW", base::with_thousands(*context.configured_window) + " tokens"});
    window.tokens = *context.configured_window;
    window.source = WindowSource::configured;
    window.confidence = Confidence::high;
    return window;
  }
  if (auto served = served_model(context, model)) return std::move(served->window);
  const auto match = context.catalogue->find(model);
  if (!match) {
    window.tried.push_back({"catalogue", context.catalogue->no_entry_for(model)});
    window.tried.push_back(
        {"setting DEFAULT_CONTEXT_WINDOW", base::with_thousands(context.default_window) + " tokens"});
    window.tokens = context.default_window;
    return window;
  }
  window.tokens = match->card->window;
  window.source = WindowSource::catalogue;
  // A name gives only the model's maximum; a related name or an unverified number is even less certain.
  const bool sure = match->kind != MatchKind::partial && match->card->source != "unverified";
  window.confidence = sure ? Confidence::medium : Confidence::low;
  window.tried.push_back(
      {"catalogue", fmt::format("{}, {} match, {} tokens", match->card->name, name_of(match->kind),
                                base::with_thousands(window.tokens))});
  return window;
}

Json text_schema(std::string_view description) {
  return {{"type", "string"}, {"description", description}};
}

Json count_schema(std::string_view description, std::int64_t least) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", largest_count}, {"description", description}};
}

Json object_schema(Json properties, Json required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

std::string text_of(const Json& arguments, const char* name) {
  return arguments.contains(name) ? arguments[name].get<std::string>() : std::string();
}

std::optional<std::int64_t> integer_of(const Json& arguments, const char* name) {
  if (!arguments.contains(name)) return {};
  return arguments[name].get<std::int64_t>();
}

}  // namespace plimsoll::gateway

// Reads OpenAI's list of models, with fields that others add.
#include <algorithm>
#include <map>

#include "base/try.hpp"
#include "window/read_servers.hpp"
#include "window/reply_json.hpp"

namespace plimsoll {
namespace window {
namespace {

// A field with the served window. OpenRouter's top_provider overrides its context_length,
// which is the maximum of all its providers.
struct Field {
  std::string_view within;  // enclosing member, or ""
  std::string_view key;
  Confidence confidence;
};
constexpr Field served_fields[] = {
    {"", "max_model_len", Confidence::high},               // vLLM, SGLang
    {"top_provider", "context_length", Confidence::high},  // OpenRouter
    {"", "context_length", Confidence::medium},            // OpenRouter-like
    {"", "context_window", Confidence::medium},            // Groq
    {"", "max_context_length", Confidence::medium},        // Mistral
    {"", "max_input_tokens", Confidence::high},            // Anthropic
};

void read_served(const Json& entry, ReportedModel& model) {
  for (const Field& field : served_fields) {
    const Json& holder = field.within.empty() ? entry : member(entry, field.within);
    const Tokens tokens = tokens_in(holder, field.key, model.problem);
    if (tokens == 0) continue;
    if (model.served == 0) {
      model.served = tokens;
      model.served_by = field.within.empty() ? std::string(field.key)
                                             : std::string(field.within) + "." + std::string(field.key);
      model.confidence = field.confidence;
    }
    // Also the model's maximum, independent of the server.
    if (field.confidence == Confidence::medium) model.maximum = std::max(model.maximum, tokens);
  }
  if (model.served > 0) model.problem.clear();  // other problems do not matter
}

ReportedModel read_entry(const Json& entry) {
  ReportedModel model;
  model.name = text_in(entry, "id");
  read_served(entry, model);
  std::string ignored;
  const Json& meta = member(entry, "meta");  // llama.cpp
  if (const Tokens trained = tokens_in(meta, "n_ctx_train", ignored); trained > 0) model.maximum = trained;
  model.parameters = parameters_of(member(meta, "n_params"));
  for (const auto& [within, key] : {std::pair{"top_provider", "max_completion_tokens"},
                                    std::pair{"", "max_completion_tokens"}, std::pair{"", "max_tokens"}})
    if (model.max_output == 0)
      model.max_output = tokens_in(*within == '\0' ? entry : member(entry, within), key, ignored);
  return model;
}

// A LoRA adapter without a window has that of its base model. `parents`: by model, or empty.
void inherit_from_parents(const std::vector<std::string>& parents, std::vector<ReportedModel>& models) {
  std::map<std::string_view, const ReportedModel*> by_name;
  for (const ReportedModel& model : models) by_name.emplace(model.name, &model);
  for (std::size_t i = 0; i < models.size(); ++i) {
    ReportedModel& model = models[i];
    if (model.served > 0 || !model.problem.empty() || parents[i].empty()) continue;
    const auto found = by_name.find(parents[i]);
    if (found == by_name.end() || found->second->served == 0) continue;
    const ReportedModel& parent = *found->second;
    model.served = parent.served;
    model.served_by = parent.served_by + " of " + parent.name;
    model.maximum = parent.maximum;
    model.confidence = parent.confidence;
  }
}

bool any_has(const Json& data, std::string_view key) {
  for (const Json& entry : data)
    if (!member(entry, key).is_null()) return true;
  return false;
}

bool any_is(const Json& data, std::string_view key, std::string_view value) {
  for (const Json& entry : data)
    if (text_in(entry, key) == value) return true;
  return false;
}

}  // namespace

Result<std::vector<ReportedModel>> read_openai_models(std::string_view reply) {
  TRY(const Json json, parse_reply(reply));
  const Json& data = member(json, "data");
  std::vector<ReportedModel> models;
  if (json.contains("data") && data.is_null()) return models;
  if (!data.is_array()) return fail(Errc::upstream_failed, "the reply has no list under data");
  std::vector<std::string> parents;
  for (const Json& entry : data) {
    if (models.size() >= most_models) break;
    ReportedModel model = read_entry(entry);
    if (model.name.empty()) continue;
    models.push_back(std::move(model));
    parents.push_back(text_in(entry, "parent"));
  }
  inherit_from_parents(parents, models);
  return models;
}

}  // namespace window

std::optional<ServerKind> recognise_by_models(std::string_view reply) {
  const auto json = window::parse_reply(reply);
  if (!json) return std::nullopt;
  const window::Json& data = window::member(*json, "data");
  if (!data.is_array()) return std::nullopt;
  if (window::any_is(data, "owned_by", "llamacpp")) return ServerKind::llama_cpp;
  if (window::any_has(data, "max_model_len") || window::any_is(data, "owned_by", "vllm"))
    return ServerKind::vllm;
  if (window::any_is(data, "owned_by", "organization_owner")) return ServerKind::lm_studio;
  if (window::any_is(data, "owned_by", "library")) return ServerKind::ollama;
  if (window::any_has(data, "top_provider") || window::any_has(data, "context_length"))
    return ServerKind::openrouter;
  if (window::any_is(data, "type", "model") && json->contains("has_more")) return ServerKind::anthropic;
  return std::nullopt;
}

}  // namespace plimsoll

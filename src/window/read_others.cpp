// llama.cpp, LM Studio, TGI and Gemini.
#include "base/try.hpp"
#include "window/read_servers.hpp"
#include "window/reply_json.hpp"

namespace plimsoll::window {
namespace {

// "/models/qwen2.5-7b-q4_k_m.gguf" -> "qwen2.5-7b-q4_k_m.gguf"
std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

}  // namespace

// n_ctx is per slot: the server has already divided it.
Result<ReportedModel> read_llama_props(std::string_view reply) {
  TRY(const Json json, parse_reply(reply));
  const Json& settings = member(json, "default_generation_settings");
  if (!settings.is_object())
    return fail(Errc::upstream_failed, "the reply has no default_generation_settings");
  ReportedModel model;
  model.name = text_in(json, "model_alias");
  if (model.name.empty()) model.name = file_name(text_in(json, "model_path"));
  model.served = tokens_in(settings, "n_ctx", model.problem);
  if (model.served == 0) return model;
  std::string ignored;
  const Tokens slots = tokens_in(json, "total_slots", ignored);
  model.served_by = slots > 1 ? fmt::format("n_ctx of each of {} slots", slots) : "n_ctx";
  return model;
}

Result<std::vector<ReportedModel>> read_lm_studio_models(std::string_view reply) {
  TRY(const Json json, parse_reply(reply));
  const Json& data = member(json, "data");
  if (!data.is_array()) return fail(Errc::upstream_failed, "the reply has no list under data");
  std::vector<ReportedModel> models;
  for (const Json& entry : data) {
    ReportedModel model;
    model.name = text_in(entry, "id");
    if (model.name.empty() || models.size() >= most_models) continue;
    model.served = tokens_in(entry, "loaded_context_length", model.problem);
    if (model.served > 0) model.served_by = "loaded_context_length";
    std::string ignored;
    model.maximum = tokens_in(entry, "max_context_length", ignored);
    model.quantization = text_in(entry, "quantization");
    model.family = text_in(entry, "arch");
    models.push_back(std::move(model));
  }
  return models;
}

Result<ReportedModel> read_tgi_info(std::string_view reply) {
  TRY(const Json json, parse_reply(reply));
  ReportedModel model;
  model.name = text_in(json, "model_id");
  if (model.name.empty()) return fail(Errc::upstream_failed, "the reply has no model_id");
  model.served = tokens_in(json, "max_total_tokens", model.problem);
  if (model.served > 0) model.served_by = "max_total_tokens";
  model.quantization = text_in(json, "quantize");
  return model;
}

// The limit of the input; answers have a separate one.
Result<std::vector<ReportedModel>> read_gemini_models(std::string_view reply) {
  TRY(const Json json, parse_reply(reply));
  const Json& list = member(json, "models");
  if (!list.is_array()) return fail(Errc::upstream_failed, "the reply has no list of models");
  std::vector<ReportedModel> models;
  for (const Json& entry : list) {
    ReportedModel model;
    model.name = text_in(entry, "name");
    if (model.name.starts_with("models/")) model.name.erase(0, 7);
    if (model.name.empty() || models.size() >= most_models) continue;
    model.served = tokens_in(entry, "inputTokenLimit", model.problem);
    if (model.served > 0) model.served_by = "inputTokenLimit";
    std::string ignored;
    model.max_output = tokens_in(entry, "outputTokenLimit", ignored);
    models.push_back(std::move(model));
  }
  return models;
}

}  // namespace plimsoll::window

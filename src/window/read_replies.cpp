// Chooses the reader of a reply.
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "window/read_servers.hpp"
#include "window/reply_json.hpp"

namespace plimsoll {

Result<std::vector<ReportedModel>> read_models(ServerKind kind, std::string_view reply) {
  switch (kind) {
    case ServerKind::ollama: return window::read_ollama_list(reply);
    case ServerKind::lm_studio: return window::read_lm_studio_models(reply);
    case ServerKind::gemini: return window::read_gemini_models(reply);
    case ServerKind::tgi: {
      TRY(ReportedModel model, window::read_tgi_info(reply));
      return std::vector{std::move(model)};
    }
    case ServerKind::llama_cpp:
    case ServerKind::vllm:
    case ServerKind::openrouter:
    case ServerKind::anthropic:
    case ServerKind::openai: break;
  }
  TRY(std::vector<ReportedModel> models, window::read_openai_models(reply));
  // Its list has the trained window; the served one is in /props.
  if (kind == ServerKind::llama_cpp)
    for (ReportedModel& model : models) model.served = 0;
  return models;
}

Result<ReportedModel> read_model(ServerKind kind, std::string_view reply) {
  if (kind == ServerKind::ollama) return window::read_ollama_show(reply);
  if (kind == ServerKind::llama_cpp) return window::read_llama_props(reply);
  return fail(Errc::bad_input, "{} has no request for one model", name_of(kind));
}

Result<std::vector<ReportedModel>> read_loaded(ServerKind kind, std::string_view reply) {
  if (kind == ServerKind::ollama) return window::read_ollama_list(reply);
  return fail(Errc::bad_input, "{} has no request for loaded models", name_of(kind));
}

bool answers_as(ServerKind kind, std::string_view reply) {
  if (kind == ServerKind::ollama) {
    const auto json = window::parse_reply(reply);
    return json && !window::text_in(*json, "version").empty();
  }
  if (kind == ServerKind::llama_cpp) return read_model(kind, reply).has_value();
  if (kind == ServerKind::lm_studio) {
    // Other servers may return their list under any path; only this one has a state for each
    // model.
    const auto json = window::parse_reply(reply);
    if (!json) return false;
    const window::Json& data = window::member(*json, "data");
    return data.is_array() && !data.empty() && !window::text_in(data.front(), "state").empty();
  }
  return read_models(kind, reply).has_value();
}

const ReportedModel* find_served(const std::vector<ReportedModel>& models, std::string_view name) {
  if (name.empty()) return nullptr;
  const auto same = [&](const std::string& wanted) -> const ReportedModel* {
    for (const ReportedModel& model : models)
      if (base::to_lower_ascii(model.name) == wanted) return &model;
    return nullptr;
  };
  const std::string lower = base::to_lower_ascii(name);
  for (const ReportedModel& model : models)
    if (model.name == name) return &model;
  if (const ReportedModel* found = same(lower)) return found;
  if (const ReportedModel* found = same(lower + ":latest")) return found;
  if (lower.starts_with("models/")) return same(lower.substr(7));
  return lower.ends_with(":latest") ? same(lower.substr(0, lower.size() - 7)) : nullptr;
}

}  // namespace plimsoll

#include <algorithm>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "window/read_servers.hpp"
#include "window/reply_json.hpp"

namespace plimsoll::window {
namespace {

void read_details(const Json& details, ReportedModel& model) {
  model.parameters = text_in(details, "parameter_size");
  model.quantization = text_in(details, "quantization_level");
  model.family = text_in(details, "family");
}

// "num_ctx                        8192"; the last one wins, as in a Modelfile.
void read_parameter(std::string_view line, ReportedModel& model) {
  line = base::trim(line);
  const std::size_t end = line.find_first_of(" \t");
  if (line.substr(0, end) != "num_ctx") return;
  const std::string_view value = end == std::string_view::npos ? "" : base::trim(line.substr(end));
  std::string problem;
  model.served = tokens_from_text(value, "num_ctx", problem);
  model.problem = std::move(problem);
  model.served_by = model.served > 0 ? "num_ctx" : "";
}

// One string with a line per parameter; older versions have a list of strings.
void read_parameters(const Json& parameters, ReportedModel& model) {
  if (parameters.is_null()) return;
  if (parameters.is_string()) {
    std::string_view rest = parameters.get_ref<const std::string&>();
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      read_parameter(rest.substr(0, end), model);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return;
  }
  const bool texts = parameters.is_array() &&
                     std::ranges::all_of(parameters, [](const Json& line) { return line.is_string(); });
  if (!texts) {
    model.problem = fmt::format("parameters is {}, not a string or a list of strings", shown(parameters));
    return;
  }
  for (const Json& line : parameters) read_parameter(line.get_ref<const std::string&>(), model);
}

// <architecture>.context_length: the model's maximum.
void read_model_info(const Json& info, ReportedModel& model) {
  const std::string architecture = text_in(info, "general.architecture");
  std::string problem;  // of the maximum only; the served window does not depend on it
  if (!architecture.empty()) model.maximum = tokens_in(info, architecture + ".context_length", problem);
  if (model.family.empty()) model.family = architecture;
  if (model.parameters.empty()) model.parameters = parameters_of(member(info, "general.parameter_count"));
}

}  // namespace

Result<ReportedModel> read_ollama_show(std::string_view reply) {
  TRY(const Json json, parse_reply(reply));
  if (!json.contains("details") && !json.contains("model_info") && !json.contains("parameters"))
    return fail(Errc::upstream_failed, "the reply has no details, model_info or parameters");
  ReportedModel model;
  read_details(member(json, "details"), model);
  read_model_info(member(json, "model_info"), model);
  read_parameters(member(json, "parameters"), model);
  if (model.maximum > 0 && model.served > model.maximum) {
    // Ollama does the same when it loads the model.
    model.served_by =
        fmt::format("num_ctx {}, lowered to the model's maximum", base::with_thousands(model.served));
    model.served = model.maximum;
  }
  return model;
}

Result<std::vector<ReportedModel>> read_ollama_list(std::string_view reply) {
  TRY(const Json json, parse_reply(reply));
  const Json& list = member(json, "models");
  std::vector<ReportedModel> models;
  if (json.contains("models") && list.is_null()) return models;  // an empty list, in Go
  if (!list.is_array()) return fail(Errc::upstream_failed, "the reply has no list of models");
  for (const Json& entry : list) {
    ReportedModel model;
    model.name = text_in(entry, "name");
    if (model.name.empty()) model.name = text_in(entry, "model");
    if (model.name.empty() || models.size() >= most_models) continue;
    read_details(member(entry, "details"), model);
    model.served = tokens_in(entry, "context_length", model.problem);
    if (model.served > 0) model.served_by = "context_length of the loaded model";
    model.confidence = Confidence::medium;  // valid while the model stays loaded
    models.push_back(std::move(model));
  }
  return models;
}

}  // namespace plimsoll::window

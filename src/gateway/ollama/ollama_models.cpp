#include "gateway/ollama/ollama_models.hpp"

#include <algorithm>
#include <ctime>

#include "base/private_words.hpp"
#include "base/sha256.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/openai/models_json.hpp"

namespace plimsoll::gateway {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::system_clock;

// Upstreams do not report a model's date: uses the start of this process.
const std::string& since() {
  static const std::string start = ollama_time(system_clock::now());
  return start;
}

std::string digest_of(const models::Upstreams& upstreams, const models::ModelLocation& location) {
  return base::sha256_hex(upstreams.members()[location.member].name + "\n" + location.model);
}

Json details_of(const ReportedModel& served) {
  return {{"parent_model", ""},
          {"format", ""},
          {"family", served.family},
          {"families", served.family.empty() ? Json::array() : Json::array({served.family})},
          {"parameter_size", served.parameters},
          {"quantization_level", served.quantization}};
}

Json entry_of(const std::string& name, const std::string& digest, const ReportedModel& served) {
  return {{"name", name}, {"model", name},    {"modified_at", since()},
          {"size", 0},    {"digest", digest}, {"details", details_of(served)}};
}

// The embedders of this program are BERTs: MiniLM, and E5, which is an XLM-RoBERTa.
ReportedModel own_bert() {
  ReportedModel served;
  served.family = "bert";
  return served;
}

// Capabilities known without a request; tool and thinking support show only in use.
Json capabilities_of(std::string_view name, const PlanModel& model, const ReportedModel& served,
                     bool embedded) {
  if (embeds(name, served)) return Json::array({"embedding"});
  if (embedded) return Json::array({"completion"});
  Json can = Json::array({"completion", "tools"});
  if (!model.chat.images.empty()) can.push_back("vision");
  return can;
}

ReportedModel served_at(const models::Upstreams& upstreams, const models::ModelLocation& location) {
  const auto models = upstreams.models();
  for (const models::ListedModel& listed : (*models)[location.member].models)
    if (listed.name == location.model || listed.name == location.model + ":latest")
      return listed.report->served;
  return {};
}

// Returns MODEL of "MODEL+INDEX".
std::string_view without_index(const engine::Engine& engine, const models::Upstreams& upstreams,
                               std::string_view model, const engine::Caller& caller) {
  const std::size_t plus = upstreams.plus_in(model);
  if (plus == std::string_view::npos || engine.open_indexes == nullptr) return model;
  return engine.open_indexes->has(caller.indexes, model.substr(plus + 1)) ? model.substr(0, plus) : model;
}

}  // namespace

std::string ollama_time(system_clock::time_point time) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = micros / 1'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[40];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  return fmt::format("{}.{:06}Z", std::string_view(text, size), micros % 1'000'000);
}

std::string without_latest(const models::Upstreams& upstreams, const std::vector<std::string>& embedders,
                           std::string model) {
  constexpr std::string_view latest = ":latest";
  if (!model.ends_with(latest) || upstreams.has(model)) return model;
  std::string plain = model.substr(0, model.size() - latest.size());
  const bool is_own = std::ranges::find(embedders, plain) != embedders.end();
  return is_own || upstreams.has(plain) ? plain : model;
}

Json ollama_tags(const engine::Engine& engine, const models::Upstreams& upstreams,
                 const engine::Caller& caller, const std::vector<std::string>& embedders) {
  const std::vector<std::string> indexes = listed_indexes(engine, upstreams, caller).names;
  Json all = Json::array();
  const auto models = upstreams.models();
  for (std::size_t i = 0; i < models->size(); ++i)
    for (const models::ListedModel& listed : (*models)[i].models) {
      const models::ModelLocation location{i, listed.name};
      const ReportedModel& served = listed.report->served;
      const std::string digest = digest_of(upstreams, location);
      all.push_back(entry_of(listed.name, digest, served));
      if (embeds(listed.name, served)) continue;
      for (const std::string& index : indexes)
        all.push_back(entry_of(listed.name + "+" + index, digest, served));
    }
  for (const std::string& name : embedders)
    all.push_back(entry_of(name, base::sha256_hex("plimsoll\n" + name), own_bert()));
  return {{"models", std::move(all)}};
}

Json ollama_running(const engine::Engine& engine, const models::Upstreams& upstreams) {
  Json running = Json::array();
  const auto models = upstreams.models();
  for (std::size_t i = 0; i < models->size(); ++i)
    for (const models::ListedModel& listed : (*models)[i].models) {
      const models::ModelLocation location{i, listed.name};
      if (!engine.models.is_known(location)) continue;
      const auto model = engine.models.open(location, Deadline::after(std::chrono::seconds(1)));
      if (!model) continue;
      Json entry = entry_of(listed.name, digest_of(upstreams, location), listed.report->served);
      entry["expires_at"] = ollama_time(system_clock::now() + std::chrono::hours(1));
      entry["size_vram"] = 0;
      entry["context_length"] = model->window.tokens;
      running.push_back(std::move(entry));
    }
  return {{"models", std::move(running)}};
}

Result<Json> ollama_show(const engine::Engine& engine, const models::Upstreams& upstreams,
                         std::string_view name, const engine::Caller& caller, Deadline deadline) {
  const std::string plain(without_index(engine, upstreams, name, caller));
  if (!upstreams.has(plain))
    return fail(Errc::unknown_model, "model '{}' not found: no upstream has it; GET /api/tags lists all",
                name);
  TRY(const models::ModelLocation location, upstreams.find(plain));
  TRY(const PlanModel model, engine.models.open(location, deadline));
  const ReportedModel served = served_at(upstreams, location);
  const std::string arch = served.family.empty() ? "unknown" : served.family;
  const std::string upstream = base::for_clients(upstreams.members()[location.member].name);
  Json info{{"general.architecture", arch},
            {"general.basename", location.model},
            {arch + ".context_length", model.window.tokens},
            {"plimsoll.context_length_source", name_of(model.window.source)},
            {"plimsoll.tokenizer", model.tokenizer.info().name},
            {"plimsoll.exactness", name_of(model.exactness)},
            {"plimsoll.upstream", upstream}};
  return Json{{"modelfile",
               fmt::format("# {} is served by the upstream '{}'\nFROM {}\n", name, upstream, location.model)},
              {"parameters", fmt::format("num_ctx {}", model.window.tokens)},
              {"template", "{{ .Prompt }}"},
              {"details", details_of(served)},
              {"model_info", std::move(info)},
              {"capabilities", capabilities_of(name, model, served, upstreams.is_embedded(location.member))},
              {"modified_at", since()}};
}

Json ollama_show(const EmbedderInfo& embedder) {
  Json info{{"general.architecture", "bert"},
            {"general.basename", embedder.name},
            {"bert.context_length", embedder.max_tokens},
            {"bert.embedding_length", embedder.dimensions}};
  return {{"modelfile", fmt::format("# {0} is computed by this program\nFROM {0}\n", embedder.name)},
          {"parameters", fmt::format("num_ctx {}", embedder.max_tokens)},
          {"template", "{{ .Prompt }}"},
          {"details", details_of(own_bert())},
          {"model_info", std::move(info)},
          {"capabilities", Json::array({"embedding"})},
          {"modified_at", since()}};
}

}  // namespace plimsoll::gateway

#include "serve/embedded.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "adapters/anthropic/chat_fields.hpp"
#include "base/log.hpp"
#include "base/mapped_file.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "count/chat/chat_content.hpp"
#include "model/model_sources.hpp"
#include "model/weights.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {
namespace {

constexpr Tokens fits_a_laptop = 8'192;

Tokens window_of(const config::Settings& settings, Tokens made_for) {
  const Tokens most = made_for > 0 ? made_for : fits_a_laptop;
  const Tokens wanted = settings.embedded_window.value_or(std::min(most, fits_a_laptop));
  return std::min({wanted, most, settings.llm_context_window.value_or(most)});
}

// Encodes the prompt of `/v1/completions`: plain text without a chat template.
Result<std::vector<TokenId>> encode_prompt(const Tokenizer& tokenizer, const std::string& body) {
  TRY(const auto request, count::parse_request(body));
  const auto prompt = request.find("prompt");
  if (prompt == request.end() || !prompt->is_string())
    return fail(Errc::bad_input, "the embedded model accepts only one string as prompt");
  const TokenizerInfo& info = tokenizer.info();
  std::string text = info.adds_bos ? info.bos : std::string();
  text += prompt->get_ref<const std::string&>();
  return tokenizer.encode(text, Specials::parsed);
}

// The models to offer, the default one first.
Result<std::vector<InstalledModel>> models_of(const config::Settings& settings) {
  if (const std::filesystem::path& file = settings.embedded_model_file; !file.empty())
    return std::vector<InstalledModel>{{file.stem().string(), file, {}, {}}};
  TRY(const std::vector<ModelSource> sources, model_sources(settings));
  std::vector<InstalledModel> models = installed_models(settings, sources);
  if (models.empty())
    return fail(
        Errc::not_found,
        "no embedded model is installed in {}; `plimsoll model get {}` downloads one, `plimsoll model "
        "list` shows all",
        settings.models_dir.string(), sources.front().name);
  return models;
}

Result<std::shared_ptr<const models::LocalModel>> describe_model(const config::Settings& settings,
                                                                 const InstalledModel& model) {
  TRY(const auto mapped, base::MappedFile::open(model.file));
  const WeightsFile weights{model.name, model.file, model.sha256, "plimsoll model get " + model.name};
  const auto described = read_gguf_model(mapped.text());
  if (!described) {
    TRY_VOID(check_weights(weights, base::Checking::if_changed));  // says more than that it cannot be read
    return tl::unexpected(described.error());
  }
  Window window;
  window.tokens = window_of(settings, described->maximum);
  window.source = WindowSource::served;
  window.confidence = Confidence::high;
  window.tried.push_back(
      {"embedded model", fmt::format("loaded with {}", base::with_thousands(window.tokens))});
  auto open = [model, weights, window, assets = settings.assets_dir,
               compiled = settings.tokenizer_dir]() -> Result<PlanModel> {
    TRY_VOID(check_weights(weights, base::Checking::if_changed));
    const TokenizerLibrary tokenizers(assets, compiled);
    TRY(Tokenizer tokenizer,
        model.tokenizer.empty() ? tokenizers.open_file(model.file) : tokenizers.open(model.tokenizer));
    return PlanModel{.name = model.name,
                     .window = window,
                     .tokenizer = std::move(tokenizer),
                     .chat = {},
                     .why = {},
                     .drift = {.embedded = true}};
  };
  return std::make_shared<const models::LocalModel>(model.name, model.file, window, std::move(open));
}

// Sends each request to the model that it names.
class EmbeddedLink final : public UpstreamLink {
 public:
  explicit EmbeddedLink(const EmbeddedModels& models) {
    for (const auto& [name, model] : models) links_.emplace(name, llama::make_link(*model));
  }

  Awaitable<Result<std::unique_ptr<UpstreamReply>>> send(UpstreamRequest request,
                                                         Deadline deadline) override {
    const auto link = links_.find(request.model);
    if (link == links_.end())
      co_return fail(Errc::unknown_model, "no embedded model is called '{}'", request.model);
    if (request.has_anthropic_fields) request.body = anthropic::without_chat_fields(request.body);
    co_return co_await link->second->send(std::move(request), deadline);
  }

 private:
  std::map<std::string, std::unique_ptr<UpstreamLink>, std::less<>> links_;
};

}  // namespace

Result<models::ConfiguredUpstream> embedded_member(const config::Settings& settings) {
  TRY(const std::vector<InstalledModel> installed, models_of(settings));
  models::ConfiguredUpstream member;
  member.name = embedded_upstream;
  member.server.root = embedded_upstream;
  member.server.cache_key = embedded_upstream;
  for (const InstalledModel& model : installed) {
    auto described = describe_model(settings, model);
    if (!described && installed.size() == 1) return tl::unexpected(described.error());
    if (described)
      member.embedded.push_back(*std::move(described));
    else
      log::warning("an embedded model cannot be used",
                   {{"file", model.file.string()}, {"why", described.error().what}});
  }
  if (member.embedded.empty())
    return fail(Errc::not_found, "none of the embedded models in {} can be used",
                settings.models_dir.string());
  // A file that the user named must work. Other models are opened when they are asked.
  if (!settings.embedded_model_file.empty()) TRY_VOID(member.embedded.front()->plan_model());
  member.server.shown = member.embedded.front()->file().filename().string();
  for (std::size_t i = 1; i < member.embedded.size(); ++i)
    member.server.shown += ", " + member.embedded[i]->file().filename().string();
  return member;
}

bool is_small(const models::LocalModel& model) {
  constexpr std::uint64_t small_file = 700'000'000;
  const auto mapped = base::MappedFile::open(model.file());
  if (!mapped) return false;
  const auto described = read_gguf_model(mapped->text());
  const std::string size = described ? base::to_upper_ascii(described->parameters) : std::string();
  // "135M", "1.5B", "8x7B"
  if (size.ends_with('B'))
    return size.find('X') == std::string::npos && std::strtod(size.c_str(), nullptr) < 1;
  if (size.ends_with('M') || size.ends_with('K')) return true;
  return mapped->text().size() < small_file;
}

EmbeddedModels run_embedded(const config::Settings& settings, const models::ConfiguredUpstream& member) {
  // The threads spin while they wait for each other. More threads than free physical cores (half of the
  // logical ones) slow all of them down.
  const auto cores = static_cast<std::int64_t>(std::clamp(std::thread::hardware_concurrency() / 2, 1U, 16U));
  EmbeddedModels all;
  for (const auto& model : member.embedded) {
    llama::Options options;
    options.runtime.file = model->file();
    options.runtime.window = model->window().tokens;
    options.runtime.slots = static_cast<std::int32_t>(settings.embedded_slots);
    options.runtime.threads =
        static_cast<std::int32_t>(settings.embedded_threads > 0 ? settings.embedded_threads : cores);
    options.idle = std::chrono::milliseconds(static_cast<std::int64_t>(settings.embedded_idle_seconds * 1e3));
    options.prompt = [model](RequestKind kind, const std::string& body) -> Result<std::vector<TokenId>> {
      TRY(const auto opened, model->plan_model());
      return kind == RequestKind::completion ? encode_prompt(opened->tokenizer, body)
                                             : encode_chat(opened->tokenizer, body, opened->chat);
    };
    all.emplace(model->name(), std::make_unique<llama::EmbeddedModel>(std::move(options)));
  }
  return all;
}

std::unique_ptr<UpstreamLink> make_embedded_link(const EmbeddedModels& models) {
  return std::make_unique<EmbeddedLink>(models);
}

}  // namespace plimsoll

#include "serve/embedded.hpp"

#include <algorithm>
#include <thread>

#include "base/mapped_file.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "count/chat/chat_request.hpp"

namespace plimsoll {
namespace {

// What set-up fetches; its tokenizer is compiled by name, so that 98 MB need not be read to know the file.
constexpr std::string_view usual_name = "smollm2:135m", usual_tokenizer = "smollm2";
constexpr std::string_view usual_file = "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr Tokens fits_a_laptop = 8'192;

std::filesystem::path file_of(const base::Settings& settings) {
  return settings.embedded_model_file.empty() ? settings.assets_dir / usual_file
                                              : settings.embedded_model_file;
}

Tokens window_of(const base::Settings& settings, Tokens made_for) {
  const Tokens most = made_for > 0 ? made_for : fits_a_laptop;
  const Tokens wanted = settings.embedded_window.value_or(std::min(most, fits_a_laptop));
  return std::min({wanted, most, settings.llm_context_window.value_or(most)});
}

// The prompt of `/v1/completions` is a text, and nothing stands around it.
Result<std::vector<TokenId>> encode_prompt(const Tokenizer& tokenizer, const std::string& body) {
  TRY(const auto request, count::parse_request(body));
  const auto prompt = request.find("prompt");
  if (prompt == request.end() || !prompt->is_string())
    return fail(Errc::bad_input, "the embedded model takes one text as its prompt");
  const TokenizerInfo& info = tokenizer.info();
  std::string text = info.adds_bos ? info.bos : std::string();
  text += prompt->get_ref<const std::string&>();
  return tokenizer.encode(text, Specials::parsed);
}

}  // namespace

Result<models::ConfiguredUpstream> embedded_member(const base::Settings& settings,
                                                   const TokenizerLibrary& tokenizers) {
  const std::filesystem::path file = file_of(settings);
  const auto mapped = base::MappedFile::open(file);
  if (!mapped && settings.embedded_model_file.empty())
    return fail(Errc::not_found,
                "the embedded model is not set up: {} is missing; `tools/setup assets` brings it",
                file.string());
  if (!mapped) return tl::unexpected(mapped.error());
  TRY(const ModelLocation described, read_gguf_model(mapped->text()));
  const bool usual = settings.embedded_model_file.empty();
  TRY(Tokenizer tokenizer, usual ? tokenizers.open(usual_tokenizer) : tokenizers.open_file(file));
  auto model =
      std::make_shared<PlanModel>(PlanModel{.name = usual ? std::string(usual_name) : file.stem().string(),
                                            .window = {},
                                            .tokenizer = std::move(tokenizer),
                                            .chat = {},
                                            .why = {},
                                            .drift = {.embedded = true}});
  model->window.tokens = window_of(settings, described.maximum);
  model->window.source = WindowSource::served;
  model->window.confidence = Confidence::high;
  model->window.tried.push_back(
      {"embedded model", fmt::format("loaded with {}", base::with_thousands(model->window.tokens))});
  models::ConfiguredUpstream member;
  member.name = embedded_upstream;
  member.server.root = embedded_upstream;
  member.server.shown = file.filename().string();
  member.server.cache_key = embedded_upstream;
  member.embedded = std::move(model);
  return member;
}

std::unique_ptr<llama::EmbeddedModel> run_embedded(const base::Settings& settings, const PlanModel& model) {
  // Threads wait for each other by turning on the spot: more than there are real cores, two logical ones
  // each, or on a machine that others use, and all of them crawl.
  const auto cores = static_cast<std::int64_t>(std::clamp(std::thread::hardware_concurrency() / 2, 1U, 16U));
  llama::Options options;
  options.runtime.file = file_of(settings);
  options.runtime.window = model.window.tokens;
  options.runtime.slots = static_cast<std::int32_t>(settings.embedded_slots);
  options.runtime.threads =
      static_cast<std::int32_t>(settings.embedded_threads > 0 ? settings.embedded_threads : cores);
  options.idle = std::chrono::milliseconds(static_cast<std::int64_t>(settings.embedded_idle_seconds * 1e3));
  options.prompt = [tokenizer = model.tokenizer, chat = model.chat](std::string_view route,
                                                                    const std::string& body) {
    return route == "/v1/completions" ? encode_prompt(tokenizer, body) : encode_chat(tokenizer, body, chat);
  };
  return std::make_unique<llama::EmbeddedModel>(std::move(options));
}

}  // namespace plimsoll

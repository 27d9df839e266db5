#include "serve/embedded.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/mapped_file.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "count/chat/chat_request.hpp"

namespace plimsoll {
namespace {

// The downloaded model; its tokenizer is found by name, so the 98 MB file need not be read to identify it.
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

}  // namespace

Result<models::ConfiguredUpstream> embedded_member(const base::Settings& settings,
                                                   const TokenizerLibrary& tokenizers) {
  const std::filesystem::path file = file_of(settings);
  const auto mapped = base::MappedFile::open(file);
  if (!mapped && settings.embedded_model_file.empty())
    return fail(Errc::not_found,
                "the embedded model is not installed: {} is missing; `tools/setup assets` downloads it",
                file.string());
  if (!mapped) return tl::unexpected(mapped.error());
  TRY(const ReportedModel described, read_gguf_model(mapped->text()));
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

bool is_small_embedded(const base::Settings& settings) {
  constexpr std::uint64_t small_file = 700'000'000;
  const auto mapped = base::MappedFile::open(file_of(settings));
  if (!mapped) return false;
  const auto described = read_gguf_model(mapped->text());
  const std::string size = described ? base::to_upper_ascii(described->parameters) : std::string();
  // "135M", "1.5B", "8x7B"
  if (size.ends_with('B'))
    return size.find('X') == std::string::npos && std::strtod(size.c_str(), nullptr) < 1;
  if (size.ends_with('M') || size.ends_with('K')) return true;
  return mapped->text().size() < small_file;
}

std::unique_ptr<llama::EmbeddedModel> run_embedded(const base::Settings& settings, const PlanModel& model) {
  // The threads spin while they wait for each other. More threads than free physical cores (half of the
  // logical ones) slow all of them down.
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

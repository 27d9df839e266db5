#include "adapters/llama/runtime.hpp"

#include <random>

#include <llama.h>

#include "adapters/llama/start.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::llama {
namespace {

bool is_abandoned(void* data) {
  return (*static_cast<const std::function<bool()>*>(data))();
}

}  // namespace

Sampler::~Sampler() {
  if (chain_ != nullptr) llama_sampler_free(chain_);
}

struct Runtime::State {
  std::function<bool()> abandoned;
  llama_model* model = nullptr;
  llama_context* context = nullptr;
  const llama_vocab* words = nullptr;
  llama_batch batch{};

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (batch.token != nullptr) llama_batch_free(batch);
    if (context != nullptr) llama_free(context);
    if (model != nullptr) llama_model_free(model);
  }
};

Runtime::Runtime(std::unique_ptr<State> state) : state_(std::move(state)) {}
Runtime::~Runtime() = default;

Result<std::unique_ptr<Runtime>> Runtime::load(const RuntimeOptions& options,
                                               std::function<bool()> abandoned) {
  TRY_VOID(check_processor());
  start_once();
  forget_last_words();
  auto state = std::make_unique<State>();
  state->abandoned = std::move(abandoned);
  state->model = llama_model_load_from_file(options.file.c_str(), llama_model_default_params());
  if (state->model == nullptr)
    return fail(Errc::unsupported, "the model {} cannot be loaded: {}", options.file.string(), last_words());
  const Tokens made_for = llama_model_n_ctx_train(state->model);
  const Tokens window = options.window > 0 ? options.window : made_for;
  llama_context_params wanted = llama_context_default_params();
  wanted.n_ctx = static_cast<std::uint32_t>(window * options.slots);
  wanted.n_seq_max = static_cast<std::uint32_t>(options.slots);
  wanted.n_batch = most_inputs;
  wanted.n_ubatch = most_inputs;
  wanted.n_threads = options.threads;
  wanted.n_threads_batch = options.threads;
  wanted.abort_callback = is_abandoned;
  wanted.abort_callback_data = &state->abandoned;
  state->context = llama_init_from_model(state->model, wanted);
  if (state->context == nullptr)
    return fail(Errc::unsupported, "there is no room for {} conversations of {} tokens: {}", options.slots,
                base::with_thousands(window), last_words());
  state->words = llama_model_get_vocab(state->model);
  state->batch = llama_batch_init(most_inputs, 0, 1);
  return std::unique_ptr<Runtime>(new Runtime(std::move(state)));
}

Tokens Runtime::window() const {
  return llama_n_ctx_seq(state_->context);
}

Result<bool> Runtime::read(std::span<const Input> inputs) {
  llama_batch& batch = state_->batch;
  batch.n_tokens = static_cast<std::int32_t>(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    batch.token[i] = inputs[i].token;
    batch.pos[i] = inputs[i].position;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = inputs[i].slot;
    batch.logits[i] = inputs[i].wants_next ? 1 : 0;
  }
  const int code = llama_decode(state_->context, batch);
  if (code == 0) return true;
  if (code == 2) return false;
  return fail(Errc::upstream_failed, "the embedded model failed with code {}: {}", code, last_words());
}

bool Runtime::shorten(std::int32_t slot, std::int32_t kept) {
  llama_memory_t memory = llama_get_memory(state_->context);
  if (llama_memory_seq_rm(memory, slot, kept, -1)) return true;
  llama_memory_seq_rm(memory, slot, -1, -1);
  return kept == 0;
}

Result<Sampler> Runtime::sampler(const Sampling& sampling) const {
  Sampler made(llama_sampler_chain_init(llama_sampler_chain_default_params()));
  const auto add = [&](llama_sampler* next) { llama_sampler_chain_add(made.get(), next); };
  constexpr std::int32_t looked_back = 64;
  const bool penalised =
      sampling.repeat_penalty != 1 || sampling.frequency_penalty != 0 || sampling.presence_penalty != 0;
  if (!sampling.grammar.empty()) {
    llama_sampler* grammar = llama_sampler_init_grammar(state_->words, sampling.grammar.c_str(), "root");
    if (grammar == nullptr)
      return fail(Errc::bad_input, "the grammar of response_format cannot be used: {}", last_words());
    add(grammar);
  }
  if (penalised)
    add(llama_sampler_init_penalties(llama_vocab_n_tokens(state_->words), looked_back,
                                     sampling.repeat_penalty, sampling.frequency_penalty,
                                     sampling.presence_penalty));
  if (sampling.temperature <= 0) {
    add(llama_sampler_init_greedy());
    return made;
  }
  if (sampling.top_k > 0) add(llama_sampler_init_top_k(sampling.top_k));
  if (sampling.top_p < 1) add(llama_sampler_init_top_p(sampling.top_p, 1));
  if (sampling.min_p > 0) add(llama_sampler_init_min_p(sampling.min_p, 1));
  add(llama_sampler_init_temp(sampling.temperature));
  add(llama_sampler_init_dist(sampling.seed ? *sampling.seed : std::random_device{}()));
  return made;
}

Result<Token> Runtime::choose(Sampler& sampler, std::size_t input) {
  try {
    return llama_sampler_sample(sampler.get(), state_->context, static_cast<std::int32_t>(input));
  } catch (const std::exception& error) {  // a grammar that came to no end
    return fail(Errc::bad_input, "the answer cannot go on by its grammar: {}", error.what());
  }
}

bool Runtime::ends(Token token) const {
  return llama_vocab_is_eog(state_->words, token);
}

std::string Runtime::bytes_of(Token token) const {
  std::string bytes(32, '\0');
  for (int tries = 0; tries < 2; ++tries) {
    const int length = llama_token_to_piece(state_->words, token, bytes.data(),
                                            static_cast<std::int32_t>(bytes.size()), 0, /*special=*/false);
    if (length >= 0) {
      bytes.resize(static_cast<std::size_t>(length));
      return bytes;
    }
    bytes.resize(static_cast<std::size_t>(-length));
  }
  return {};
}

std::vector<Token> Runtime::tokens_of(std::string_view text, bool add_bos) const {
  std::vector<Token> tokens(text.size() + 8);
  const int count = llama_tokenize(state_->words, text.data(), static_cast<std::int32_t>(text.size()),
                                   tokens.data(), static_cast<std::int32_t>(tokens.size()), add_bos,
                                   /*parse_special=*/true);
  tokens.resize(static_cast<std::size_t>(std::max(count, 0)));
  return tokens;
}

}  // namespace plimsoll::llama

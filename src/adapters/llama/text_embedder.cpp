#include "adapters/llama/text_embedder.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include <llama.h>

#include "adapters/llama/e5_weights.hpp"
#include "adapters/llama/start.hpp"
#include "base/try.hpp"

namespace plimsoll::llama {
namespace {

// What the model was trained with: it tells questions from texts by these words.
constexpr std::string_view question_prefix = "query: ";
constexpr std::string_view passage_prefix = "passage: ";

using TextTokens = std::vector<TokenId>;

struct FreeContext {
  void operator()(llama_context* context) const { llama_free(context); }
};
using ContextPointer = std::unique_ptr<llama_context, FreeContext>;

// One thread's state of the model.
class Lane {
 public:
  static constexpr std::size_t most_tokens = 512;  // at once: longer batches are not faster
  static constexpr std::size_t most_texts = 64;

  static Result<std::unique_ptr<Lane>> open(const E5Weights& weights) {
    llama_context_params wanted = llama_context_default_params();
    wanted.n_ctx = wanted.n_batch = wanted.n_ubatch = most_tokens;
    wanted.n_seq_max = most_texts;
    wanted.n_threads = wanted.n_threads_batch = 1;
    wanted.embeddings = true;
    wanted.pooling_type = LLAMA_POOLING_TYPE_MEAN;
    ContextPointer context(llama_init_from_model(weights.model(), wanted));
    if (!context) return fail(Errc::io_failed, "there is not enough memory for the embedder");
    return std::unique_ptr<Lane>(new Lane(weights, std::move(context)));
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() { llama_batch_free(batch_); }

  // `rows`: the texts to embed, at most `most_texts` with `most_tokens` tokens together.
  Result<void> embed(std::span<const std::size_t> rows, const std::vector<TextTokens>& texts,
                     std::span<float> out) {
    batch_.n_tokens = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) append(texts[rows[i]], static_cast<llama_seq_id>(i));
    if (const int code = llama_encode(context_.get(), batch_); code != 0)
      return fail(Errc::unsupported, "the embedder failed with code {}", code);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const float* mean = llama_get_embeddings_seq(context_.get(), static_cast<llama_seq_id>(i));
      if (mean == nullptr) return fail(Errc::unsupported, "the embedder returned no vector");
      write_unit(std::span(mean, width_), out.subspan(rows[i] * width_, width_));
    }
    return {};
  }

 private:
  Lane(const E5Weights& weights, ContextPointer context)
      : weights_(weights),
        width_(weights.shape().width),
        context_(std::move(context)),
        batch_(llama_batch_init(most_tokens, static_cast<std::int32_t>(width_), 1)) {}

  void append(const TextTokens& text, llama_seq_id sequence) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto at = static_cast<std::size_t>(batch_.n_tokens++);
      weights_.look_up(text[i], std::span(batch_.embd + at * width_, width_));
      batch_.pos[at] = static_cast<llama_pos>(i);
      batch_.n_seq_id[at] = 1;
      batch_.seq_id[at][0] = sequence;
      batch_.logits[at] = 1;
    }
  }

  static void write_unit(std::span<const float> from, std::span<float> to) {
    const float norm = std::sqrt(std::inner_product(from.begin(), from.end(), from.begin(), 0.0F));
    const float scale = norm > 0 ? 1 / norm : 0;
    std::ranges::transform(from, to.begin(), [&](float value) { return value * scale; });
  }

  const E5Weights& weights_;
  std::size_t width_;
  ContextPointer context_;
  llama_batch batch_;
};

// Lanes that are not in use. A lane is made when all others are taken.
class Lanes {
 public:
  explicit Lanes(const E5Weights& weights) : weights_(weights) {}

  Result<std::unique_ptr<Lane>> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto lane = std::move(free_.back());
        free_.pop_back();
        return lane;
      }
    }
    return Lane::open(weights_);
  }

  // Keeps as many as can run at the same time.
  void give_back(std::unique_ptr<Lane> lane) {
    static const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
    const std::lock_guard lock(mutex_);
    if (free_.size() < most) free_.push_back(std::move(lane));
  }

 private:
  const E5Weights& weights_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> free_;
};

// Divides texts, shortest first, into batches for a lane.
std::vector<std::span<const std::size_t>> lane_batches(std::span<const std::size_t> order,
                                                       const std::vector<TextTokens>& texts) {
  std::vector<std::span<const std::size_t>> out;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t rows = 0, tokens = 0;
    while (begin + rows < order.size() && rows < Lane::most_texts) {
      tokens += texts[order[begin + rows]].size();
      if (rows > 0 && tokens > Lane::most_tokens) break;
      ++rows;
    }
    out.push_back(order.subspan(begin, rows));
    begin += rows;
  }
  return out;
}

// The batches of one call, for all of its threads.
struct Work {
  const std::vector<TextTokens>& texts;
  std::span<const std::span<const std::size_t>> batches;
  Deadline deadline;
  std::span<float> out;
  std::atomic<std::size_t> next = 0;
  std::mutex mutex{};  // guards failed
  std::optional<Error> failed{};

  void fail_with(Error error) {
    const std::lock_guard lock(mutex);
    if (!failed) failed = std::move(error);
    next = batches.size();
  }
};

class TextEmbedder final : public Embedder {
 public:
  TextEmbedder(TextEmbedderOptions options, E5Weights weights, TokenId begin, TokenId end)
      : options_(std::move(options)), weights_(std::move(weights)), begin_(begin), end_(end) {}

  const EmbedderInfo& info() const override { return options_.info; }

  Result<std::vector<float>> embed(std::span<const std::string_view> texts, Deadline deadline) override {
    return embed_all(texts, passage_prefix, deadline);
  }

  Result<std::vector<float>> embed_query(std::string_view query, Deadline deadline) override {
    return embed_all(std::span(&query, 1), question_prefix, deadline);
  }

  std::optional<Tokens> count(std::span<const std::string_view> texts) const override {
    Tokens tokens = 0;
    for (const std::string_view text : texts) tokens += std::ssize(tokens_of(text, passage_prefix));
    return tokens;
  }

 private:
  TextTokens tokens_of(std::string_view text, std::string_view prefix) const {
    // No token is longer than a long word; what is far beyond the limit need not be encoded.
    const auto most = static_cast<std::size_t>(options_.info.max_tokens);
    const auto encoded =
        options_.tokenizer.encode(std::string(prefix) + std::string(text.substr(0, most * 64)));
    TextTokens tokens{begin_};
    tokens.insert(tokens.end(), encoded.begin(),
                  encoded.begin() + static_cast<std::ptrdiff_t>(std::min(encoded.size(), most - 2)));
    tokens.push_back(end_);
    return tokens;
  }

  Result<std::vector<float>> embed_all(std::span<const std::string_view> texts, std::string_view prefix,
                                       Deadline deadline) {
    std::vector<TextTokens> tokens;
    tokens.reserve(texts.size());
    for (const std::string_view text : texts) tokens.push_back(tokens_of(text, prefix));
    std::vector<std::size_t> order(texts.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return tokens[i].size(); });
    const auto batches = lane_batches(order, tokens);
    std::vector<float> out(texts.size() * options_.info.dimensions);
    Work work{tokens, batches, deadline, out};
    const std::size_t wanted =
        options_.threads != 0 ? options_.threads : std::max(1U, std::thread::hardware_concurrency());
    {
      std::vector<std::jthread> helpers;
      for (std::size_t i = 1; i < std::min(wanted, batches.size()); ++i)
        helpers.emplace_back([&] { run(work); });
      run(work);
    }
    if (work.failed) return tl::unexpected<Error>(*std::move(work.failed));
    return out;
  }

  void run(Work& work) {
    auto lane = lanes_.take();
    if (!lane) return work.fail_with(std::move(lane).error());
    for (std::size_t i = work.next++; i < work.batches.size(); i = work.next++) {
      if (work.deadline.passed()) {
        work.fail_with(
            {Errc::timed_out, fmt::format("embedding {} texts took longer than allowed", work.texts.size())});
        break;
      }
      if (auto done = (*lane)->embed(work.batches[i], work.texts, work.out); !done)
        work.fail_with(std::move(done).error());
    }
    lanes_.give_back(*std::move(lane));
  }

  TextEmbedderOptions options_;
  E5Weights weights_;
  Lanes lanes_{weights_};
  TokenId begin_, end_;
};

// The tokenizer may be of another file than the weights: every token needs a row of the table.
Result<TokenId> frame_token(const Tokenizer& tokenizer, std::string_view literal) {
  const auto ids = tokenizer.encode(literal, Specials::parsed);
  if (ids.size() != 1)
    return fail(Errc::unsupported, "the tokenizer '{}' has no {}", tokenizer.info().name, literal);
  return ids.front();
}

}  // namespace

Result<std::unique_ptr<Embedder>> make_text_embedder(TextEmbedderOptions options) {
  TRY_VOID(check_processor());
  TRY(const TokenId begin, frame_token(options.tokenizer, "<s>"));
  TRY(const TokenId end, frame_token(options.tokenizer, "</s>"));
  start_once();
  TRY(auto weights, E5Weights::load(options.file));
  const base::E5Shape& shape = weights.shape();
  if (options.info.dimensions != shape.width || options.tokenizer.info().vocabulary > shape.vocabulary ||
      options.info.max_tokens >
          static_cast<Tokens>(std::min<std::size_t>(shape.positions, Lane::most_tokens)))
    return fail(Errc::unsupported, "{} has vectors of {} numbers, {} tokens and texts of {}",
                options.file.string(), shape.width, shape.vocabulary, shape.positions);
  if (options.info.max_tokens < 16) return fail(Errc::bad_input, "an embedder must read at least 16 tokens");
  return std::unique_ptr<Embedder>(
      std::make_unique<TextEmbedder>(std::move(options), std::move(weights), begin, end));
}

}  // namespace plimsoll::llama

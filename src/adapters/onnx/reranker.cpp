#include "adapters/onnx/reranker.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "adapters/onnx/runtime.hpp"
#include "base/try.hpp"

namespace plimsoll::onnx {
namespace {

constexpr std::size_t most_pairs = 8;  // in a batch, of about one length

struct Pair {
  std::vector<std::int64_t> ids;
  std::size_t question = 0;  // tokens of the first part, with its marks
};

class OnnxReranker final : public Reranker {
 public:
  OnnxReranker(RerankerOptions options, std::unique_ptr<Session> session, TokenId cls, TokenId sep)
      : options_(std::move(options)), session_(std::move(session)), cls_(cls), sep_(sep) {}

  std::string_view name() const override { return options_.name; }

  Result<std::vector<float>> score(std::string_view question, std::span<const std::string_view> texts,
                                   Deadline deadline) override {
    std::vector<Pair> pairs;
    pairs.reserve(texts.size());
    const auto asked = options_.tokenizer.encode(question);
    for (const std::string_view text : texts) pairs.push_back(pair_of(asked, text));
    std::vector<std::size_t> order(texts.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return pairs[i].ids.size(); });

    std::vector<float> out(texts.size());
    const std::size_t batches = (texts.size() + most_pairs - 1) / most_pairs;
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::optional<Error> failed;
    const auto work = [&] {
      for (std::size_t i = next.fetch_add(1); i < batches; i = next.fetch_add(1)) {
        const std::size_t begin = i * most_pairs;
        const auto rows = std::span(order).subspan(begin, std::min(most_pairs, order.size() - begin));
        auto done = deadline.passed()
                        ? Result<void>(fail(Errc::timed_out, "reranking {} texts took longer than allowed",
                                            texts.size()))
                        : score_batch(rows, pairs, out);
        if (done) continue;
        const std::lock_guard lock(mutex);
        if (!failed) failed = std::move(done).error();
        next = batches;
      }
    };
    const std::size_t wanted =
        options_.threads != 0 ? options_.threads : std::max(1U, std::thread::hardware_concurrency());
    {
      std::vector<std::jthread> helpers;
      for (std::size_t i = 1; i < std::min(wanted, batches); ++i) helpers.emplace_back(work);
      work();
    }
    if (failed) return tl::unexpected<Error>(*std::move(failed));
    return out;
  }

 private:
  // [CLS] question [SEP] text [SEP]; the question takes at most half.
  Pair pair_of(std::span<const TokenId> question, std::string_view text) const {
    const auto most = static_cast<std::size_t>(options_.max_tokens);
    const auto body = options_.tokenizer.encode(text.substr(0, most * 64));
    Pair pair{{static_cast<std::int64_t>(cls_)}, 0};
    for (std::size_t i = 0; i < std::min(question.size(), most / 2); ++i)
      pair.ids.push_back(static_cast<std::int64_t>(question[i]));
    pair.ids.push_back(static_cast<std::int64_t>(sep_));
    pair.question = pair.ids.size();
    for (std::size_t i = 0; i < body.size() && pair.ids.size() + 1 < most; ++i)
      pair.ids.push_back(static_cast<std::int64_t>(body[i]));
    pair.ids.push_back(static_cast<std::int64_t>(sep_));
    return pair;
  }

  Result<void> score_batch(std::span<const std::size_t> rows, const std::vector<Pair>& pairs,
                           std::vector<float>& out) const {
    Batch batch{
        .rows = rows.size(), .length = pairs[rows.back()].ids.size(), .ids = {}, .mask = {}, .types = {}};
    batch.ids.resize(batch.rows * batch.length);
    batch.mask.resize(batch.ids.size());
    batch.types.resize(batch.ids.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const Pair& pair = pairs[rows[r]];
      const auto at = static_cast<std::ptrdiff_t>(r * batch.length);
      std::ranges::copy(pair.ids, batch.ids.begin() + at);
      std::fill_n(batch.mask.begin() + at, pair.ids.size(), 1);
      std::fill_n(batch.types.begin() + at + static_cast<std::ptrdiff_t>(pair.question),
                  pair.ids.size() - pair.question, 1);
    }
    TRY(const auto logits, session_->run(batch));
    if (logits.size() != rows.size())
      return fail(Errc::unsupported, "the reranker '{}' gives {} scores for {} texts", options_.name,
                  logits.size(), rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) out[rows[r]] = 1 / (1 + std::exp(-logits[r]));
    return {};
  }

  RerankerOptions options_;
  std::unique_ptr<Session> session_;
  TokenId cls_, sep_;
};

}  // namespace

Result<std::unique_ptr<Reranker>> make_reranker(RerankerOptions options) {
  const auto mark = [&](std::string_view literal) -> Result<TokenId> {
    const auto ids = options.tokenizer.encode(literal, Specials::parsed);
    if (ids.size() != 1)
      return fail(Errc::unsupported, "the tokenizer '{}' has no {}", options.tokenizer.info().name, literal);
    return ids.front();
  };
  TRY(const TokenId cls, mark("[CLS]"));
  TRY(const TokenId sep, mark("[SEP]"));
  if (options.max_tokens < 8) return fail(Errc::bad_input, "a reranker must read at least 8 tokens");
  TRY(auto session, Session::open(options.library, options.model));
  return std::unique_ptr<Reranker>(
      std::make_unique<OnnxReranker>(std::move(options), std::move(session), cls, sep));
}

}  // namespace plimsoll::onnx

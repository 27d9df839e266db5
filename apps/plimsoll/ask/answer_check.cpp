#include "ask/answer_check.hpp"

#include <chrono>
#include <numeric>
#include <span>

#include <fmt/ranges.h>

#include "gateway/openai/check_json.hpp"
#include "retrieve/cosine_scale.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds check_patience{60};

std::string_view text_of(const Spoken& spoken, const CheckedSentence& sentence) {
  return std::string_view(spoken.text).substr(sentence.span.start, sentence.span.size());
}

std::vector<std::size_t> sources_of(const Spoken& spoken, const CheckedSentence& sentence) {
  std::vector<std::size_t> numbers;
  for (const std::size_t passage : sentence.passages) numbers.push_back(spoken.sources[passage].number);
  return numbers;
}

}  // namespace

Similarity similarity_of(Embedder& embedder) {
  const retrieve::CosineScale scale = retrieve::text_cosine_scale_of(embedder.info().name);
  return [&embedder, scale](std::string_view sentence, std::span<const std::string_view> others) {
    std::vector<std::string_view> texts{sentence};
    texts.insert(texts.end(), others.begin(), others.end());
    std::vector<float> cosines;
    const auto vectors = embedder.embed(texts, Deadline::after(check_patience));
    if (!vectors) return cosines;
    const std::span<const float> all(*vectors);
    const std::size_t size = all.size() / texts.size();
    const auto first = all.first(size);
    for (std::size_t i = 1; i < texts.size(); ++i)
      cosines.push_back(
          scale(std::inner_product(first.begin(), first.end(), all.subspan(i * size, size).begin(), 0.0F)));
    return cosines;
  };
}

bool quotes(const AskOptions& options, const Conversation& conversation) {
  return !options.index.empty() && !options.generate && conversation.is_small(options.model);
}

std::string_view no_quotation(const Spoken& spoken) {
  return spoken.sources.empty() ? "No source was read for this question."
                                : "The sources do not answer this question.";
}

std::string quoted_text(const Spoken& spoken) {
  if (!spoken.text.empty()) return spoken.text;
  return fmt::format("{} --generate lets the model write.", no_quotation(spoken));
}

CheckedAnswer checked(const Spoken& spoken, const std::string& question, const AskOptions& options,
                      Conversation& conversation) {
  if (spoken.sources.empty() || spoken.text.empty()) return {};
  std::vector<std::string> contexts;
  for (const Source& source : spoken.sources) contexts.push_back(source.document + " " + source.path);
  std::vector<GivenPassage> passages;
  for (std::size_t i = 0; i < contexts.size(); ++i) passages.push_back({spoken.sources[i].text, contexts[i]});
  GroundingOptions grounding;
  grounding.question = question;
  if (!spoken.is_quoted) grounding.similarity = conversation.similarity(options.index);
  return check_answer(spoken.text, passages, grounding);
}

std::string check_text(const Spoken& spoken, const CheckedAnswer& check, const Terminal& terminal) {
  const std::size_t claims = check.supported + check.unsupported;
  if (claims == 0) return {};
  std::string out = fmt::format("\n{} of {} supported by the sources.\n", check.supported,
                                claims == 1 ? "1 sentence is" : fmt::format("{} sentences are", claims));
  if (spoken.is_quoted) return out;
  constexpr std::size_t most = 2'000;  // characters of a sentence
  const std::string_view dim = terminal.colour ? "\x1b[2m" : "", plain = terminal.colour ? "\x1b[0m" : "";
  for (const CheckedSentence& sentence : check.sentences) {
    const std::string text = printable(text_of(spoken, sentence), most);
    if (sentence.verdict == Verdict::supported)
      out += fmt::format("  {} [{}]\n", text, fmt::join(sources_of(spoken, sentence), ", "));
    if (sentence.verdict == Verdict::unsupported)
      out += fmt::format("  {}{} (not in the sources: {}){}\n", dim, text, printable(sentence.reason), plain);
  }
  return out;
}

Json check_json(const Spoken& spoken, const CheckedAnswer& check) {
  if (spoken.sources.empty()) return nullptr;
  std::vector<std::size_t> numbers;
  for (const Source& source : spoken.sources) numbers.push_back(source.number);
  return gateway::check_json(spoken.text, check, numbers, "sources");
}

}  // namespace plimsoll

// Compares an answer with the passages that it was given, and makes answers of quoted sentences.
//
//   const auto checked = check_answer(answer, passages, {.question = question});
//   checked.sentences[0].verdict;  // supported, unsupported or no_claim
//
// Pure: no clock, no I/O, no model. Thread-safe. docs/grounding.md describes the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/document.hpp"

namespace plimsoll {

enum class Verdict : std::uint8_t {
  supported,    // its words, numbers and names are in the passages
  unsupported,  // the passages do not say it, or say something else
  no_claim,     // nothing to check: a greeting, a heading, "I don't know"
};
std::string_view name_of(Verdict verdict);

// A passage that the model read.
struct GivenPassage {
  std::string_view text;
  // Its document's name and headings. Their words and names count as said near every sentence of the text;
  // their numbers do not.
  std::string_view context{};
};

// Returns the cosine of `sentence` with each of `others`, on the scale of all-minilm-l6-v2, or an empty list
// if there is none.
using Similarity =
    std::function<std::vector<float>(std::string_view sentence, std::span<const std::string_view> others)>;

// Limits of the check.
struct GroundingLimits {
  float words = 0.62F;        // least share of the sentence's words that the evidence has
  float one_sentence = 0.4F;  // least share that its best evidence sentence has alone
  float close = 0.75F;        // from this cosine on, `close_words` is enough
  float close_words = 0.45F;
  float far = 0.0F;  // below this cosine a sentence is not supported
};

struct GroundingOptions {
  std::string_view question{};  // its words count less: an answer repeats them
  Similarity similarity{};      // none: words only
  GroundingLimits limits{};
};

struct CheckedSentence {
  Span span;  // bytes of the answer, without surrounding white space
  Verdict verdict = Verdict::no_claim;
  std::vector<std::size_t> passages;  // indexes of those that support it, ascending; empty unless supported
  std::string reason;                 // "'10%' is in no passage"; empty if supported
  float words = 0;                    // share of its words that the evidence has, weighted
};

struct CheckedAnswer {
  std::vector<CheckedSentence> sentences;  // ascending; white space and citations are between them
  std::size_t supported = 0, unsupported = 0;
};

// Reads at most 4 GiB. Linear in the answer and the passages, times the occurrences of common words.
CheckedAnswer check_answer(std::string_view answer, std::span<const GivenPassage> passages,
                           const GroundingOptions& options = {});

// A sentence of a passage, with the scores that the search gave it for a question.
struct QuotableSentence {
  std::string_view text;
  std::size_t source = 0;  // number of its passage, from 1
  float score = 0;         // 0 to about 1, within one question
  float relevance = 0;     // 0 to 1, comparable between questions
};

struct QuoteLimits {
  std::size_t most = 3;             // sentences
  float least_relevance = 0.35F;    // of the most relevant sentence; below, nothing answers the question
  float least_share = 0.9F;         // of the largest relevance, for sentences after the first
  std::string_view already_said{};  // sentences in it are not quoted again
};

struct QuotedAnswer {
  std::vector<std::size_t> sentences;  // indexes of the quoted ones, in reading order; empty: nothing answers
  std::string text;                    // "A mark on the hull. [1] It shows the load. [2]"
};

// Makes an answer of the best sentences, word for word, each with the number of its source. Runs of white
// space become one blank; headings, code and the marks of list items are left out. `sentences`: in reading
// order.
QuotedAnswer quote_answer(std::span<const QuotableSentence> sentences, const QuoteLimits& limits = {});

}  // namespace plimsoll

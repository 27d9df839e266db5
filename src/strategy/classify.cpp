// Rule S7: which kind of task a query is.
#include <algorithm>
#include <array>
#include <vector>

#include "plimsoll/strategy.hpp"
#include "strategy/words.hpp"

namespace plimsoll {
namespace {

using strategy::inflected;
using strategy::Words;
using strategy::words_of_signal;

// A spelling of a crisis signal. A word with * matches whatever begins with it; another matches with its
// endings and stretched ("dieeee"), so that a diet, a deadline and a livestream raise no alarm.
struct CrisisSpelling {
  std::string_view signal;  // as the rule has it
  std::string_view words;
};
constexpr CrisisSpelling crisis_spellings[] = {
    {"suicid", "suicid*"},
    {"kill myself", "kill* myself*"},
    {"kill myself", "kill* my self*"},
    {"end my life", "end my life"},
    {"want to die", "want* to die"},
    {"want to die", "wanna die"},
    {"self-harm", "self harm*"},
    {"self-harm", "selfharm*"},
    {"crisis", "crisis*"},
    {"crisis", "crises*"},
    {"emergency", "emergency*"},
    {"emergency", "emergencies*"},
    {"988", "988*"},
    {"don't want to live", "don t want* to live"},
    {"don't want to live", "dont want* to live"},
    {"don't want to live", "do not want* to live"},
    {"don't want to live", "don t wanna live"},
    {"don't want to live", "dont wanna live"},
    {"better off dead", "better off dead"},
};

constexpr std::string_view factual[] = {
    "what is",  "who is",    "when did",     "where is", "how many",   "cite",
    "source",   "reference", "according to", "evidence", "fact check", "verify",
    "accurate", "precise",   "research",     "paper",    "study",      "arxiv",
};
constexpr std::string_view creative[] = {
    "write a", "draft",  "story",     "poem",    "creative",       "brainstorm",       "idea",
    "imagine", "design", "translate", "rewrite", "summarize this", "review this code", "refactor",
};
constexpr std::string_view analytical[] = {
    "analyze",       "compare",   "evaluate", "assess",   "plan",     "strategy",
    "pros and cons", "trade-off", "explain",  "describe", "how does", "why does",
};

struct Phrase {
  std::string_view signal;
  std::vector<std::string_view> words;
};

struct Phrases {
  TaskType type;
  std::vector<Phrase> list;
};

Phrases phrases_of(TaskType type, std::span<const std::string_view> signals) {
  Phrases made{type, {}};
  for (const std::string_view signal : signals) {
    Phrase phrase{signal, {}};
    for (const std::string_view spaced : words_of_signal(signal)) {
      // A hyphen joins two words, in signals as in queries.
      const std::size_t hyphen = spaced.find('-');
      phrase.words.push_back(spaced.substr(0, hyphen));
      if (hyphen != std::string_view::npos) phrase.words.push_back(spaced.substr(hyphen + 1));
    }
    made.list.push_back(std::move(phrase));
  }
  return made;
}

bool stretched(std::string_view word, std::string_view base) {
  return word.starts_with(base) &&
         std::ranges::all_of(word.substr(base.size()), [&](char c) { return c == base.back(); });
}

bool matches_crisis_word(std::string_view word, std::string_view pattern) {
  if (pattern.ends_with('*')) return word.starts_with(pattern.substr(0, pattern.size() - 1));
  return inflected(word, pattern) || stretched(word, pattern);
}

// Short words ("a", "is", "to") have no endings: "write as" is not "write a".
bool matches_word(std::string_view word, std::string_view base) {
  constexpr std::size_t shortest_with_endings = 3;
  if (base.size() >= shortest_with_endings) return inflected(word, base);
  return word == base || (base == "a" && word == "an");
}

bool stands_at(const Words& words, std::size_t at, const Phrase& phrase) {
  if (words.size() - at < phrase.words.size()) return false;
  for (std::size_t k = 0; k < phrase.words.size(); ++k) {
    if (!matches_word(words[at + k], phrase.words[k]) || (k > 0 && !words.joined(at + k))) return false;
  }
  return true;
}

// Whatever parts the words: in "kill... myself" the dots change nothing.
bool crisis_stands_at(const Words& words, std::size_t at, std::span<const std::string_view> pattern) {
  if (words.size() - at < pattern.size()) return false;
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    if (!matches_crisis_word(words[at + k], pattern[k])) return false;
  }
  return true;
}

std::string_view crisis_in(const Words& words) {
  static const auto patterns = [] {
    std::vector<Phrase> made;
    for (const CrisisSpelling& one : crisis_spellings)
      made.push_back({one.signal, words_of_signal(one.words)});
    return made;
  }();
  for (std::size_t at = 0; at < words.size(); ++at) {
    for (const Phrase& pattern : patterns) {
      if (crisis_stands_at(words, at, pattern.words)) return pattern.signal;
    }
  }
  return {};
}

}  // namespace

std::string_view name_of(TaskType type) {
  switch (type) {
    case TaskType::rag_critical: return "rag_critical";
    case TaskType::stuff_friendly: return "stuff_friendly";
    case TaskType::hybrid: return "hybrid";
    case TaskType::unknown: return "unknown";
  }
  return "unknown";
}

Task classify(std::string_view query) {
  static const std::array<Phrases, 3> kinds{phrases_of(TaskType::rag_critical, factual),
                                            phrases_of(TaskType::stuff_friendly, creative),
                                            phrases_of(TaskType::hybrid, analytical)};
  const Words words(query);
  if (const std::string_view signal = crisis_in(words); !signal.empty())
    return {TaskType::rag_critical, true, signal};
  for (const Phrases& kind : kinds) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      for (const Phrase& phrase : kind.list) {
        if (stands_at(words, at, phrase)) return {kind.type, false, phrase.signal};
      }
    }
  }
  return {};
}

}  // namespace plimsoll

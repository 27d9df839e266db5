// Rule S7: classifies the task of a query.
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

// A spelling of a crisis signal. A word with * matches every word with that prefix; others match with their
// endings and stretched ("dieeee"), so that "diet", "deadline" and "livestream" do not match.
struct CrisisSpelling {
  std::string_view signal;  // as in the rule
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

// A signal as a list of words.
struct Phrase {
  std::string_view signal;
  TaskType type;
  bool crisis;
  std::vector<std::string_view> words;
};

std::vector<std::string_view> words_without_hyphens(std::string_view signal) {
  std::vector<std::string_view> words;
  for (const std::string_view spaced : words_of_signal(signal)) {
    // A hyphen separates two words, in signals as in queries.
    const std::size_t hyphen = spaced.find('-');
    words.push_back(spaced.substr(0, hyphen));
    if (hyphen != std::string_view::npos) words.push_back(spaced.substr(hyphen + 1));
  }
  return words;
}

// All signals by their first letter, those of earlier lists first: most words of a query
// start no signal.
class Signals {
 public:
  Signals() {
    for (const CrisisSpelling& one : crisis_spellings)
      add({one.signal, TaskType::rag_critical, true, words_of_signal(one.words)});
    for (const std::string_view one : factual)
      add({one, TaskType::rag_critical, false, words_without_hyphens(one)});
    for (const std::string_view one : creative)
      add({one, TaskType::stuff_friendly, false, words_without_hyphens(one)});
    for (const std::string_view one : analytical)
      add({one, TaskType::hybrid, false, words_without_hyphens(one)});
  }
  std::span<const Phrase> beginning_with(char letter) const {
    const auto i = static_cast<unsigned char>(letter);
    return i < by_letter_.size() ? std::span<const Phrase>(by_letter_[i]) : std::span<const Phrase>();
  }

 private:
  void add(Phrase phrase) {
    by_letter_[static_cast<unsigned char>(phrase.words[0][0])].push_back(std::move(phrase));
  }
  std::array<std::vector<Phrase>, 128> by_letter_;
};

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

// Characters between the words of a crisis signal do not matter: "kill... myself" matches.
bool stands_at(const Words& words, std::size_t at, const Phrase& phrase) {
  if (words.size() - at < phrase.words.size()) return false;
  for (std::size_t k = 0; k < phrase.words.size(); ++k) {
    const bool matches = phrase.crisis ? matches_crisis_word(words[at + k], phrase.words[k])
                                       : matches_word(words[at + k], phrase.words[k]);
    if (!matches || (k > 0 && !phrase.crisis && !words.joined(at + k))) return false;
  }
  return true;
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
  static const Signals signals;
  const Words words(query);
  Task task;
  for (std::size_t at = 0; at < words.size(); ++at) {
    for (const Phrase& phrase : signals.beginning_with(words[at].front())) {
      // No earlier list can match from here on.
      if (!phrase.crisis && phrase.type >= task.type) break;
      if (!stands_at(words, at, phrase)) continue;
      task = {phrase.type, phrase.crisis, phrase.signal};
      if (task.crisis) return task;
      break;
    }
  }
  return task;
}

}  // namespace plimsoll

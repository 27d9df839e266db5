#include "strategy/whole.hpp"

#include <algorithm>
#include <array>

#include "strategy/words.hpp"

namespace plimsoll::strategy {
namespace {

using namespace std::string_view_literals;

// Tasks on whole documents, or references to all of them.
constexpr std::array signals{
    "summarize"sv, "summarise"sv, "summary"sv,  "summaries"sv,  "overview"sv, "outline"sv, "gist"sv,
    "recap"sv,     "synopsis"sv,  "tldr"sv,     "everything"sv, "topic"sv,    "theme"sv,   "takeaway"sv,
    "document"sv,  "doc"sv,       "file"sv,     "collection"sv, "index"sv,    "corpus"sv,  "content"sv,
    "library"sv,   "knowledge"sv, "material"sv, "folder"sv,
};
// Words that do not narrow the question.
constexpr std::array fillers{
    "a"sv,       "an"sv,      "the"sv,      "this"sv,      "these"sv,  "that"sv,     "those"sv,
    "all"sv,     "every"sv,   "each"sv,     "whole"sv,     "entire"sv, "full"sv,     "complete"sv,
    "of"sv,      "in"sv,      "from"sv,     "for"sv,       "to"sv,     "on"sv,       "with"sv,
    "and"sv,     "or"sv,      "by"sv,       "about"sv,     "here"sv,   "there"sv,    "is"sv,
    "are"sv,     "be"sv,      "do"sv,       "does"sv,      "can"sv,    "could"sv,    "would"sv,
    "will"sv,    "you"sv,     "me"sv,       "my"sv,        "our"sv,    "us"sv,       "i"sv,
    "we"sv,      "it"sv,      "they"sv,     "them"sv,      "its"sv,    "their"sv,    "please"sv,
    "give"sv,    "make"sv,    "write"sv,    "provide"sv,   "create"sv, "show"sv,     "tell"sv,
    "need"sv,    "want"sv,    "like"sv,     "what"sv,      "which"sv,  "s"sv,        "main"sv,
    "key"sv,     "central"sv, "most"sv,     "important"sv, "major"sv,  "point"sv,    "idea"sv,
    "finding"sv, "message"sv, "subject"sv,  "fact"sv,      "detail"sv, "say"sv,      "cover"sv,
    "contain"sv, "discuss"sv, "deal"sv,     "base"sv,      "short"sv,  "brief"sv,    "briefly"sv,
    "concise"sv, "quick"sv,   "high"sv,     "level"sv,     "long"sv,   "simple"sv,   "bullet"sv,
    "list"sv,    "table"sv,   "sentence"sv, "paragraph"sv, "word"sv,   "line"sv,     "page"sv,
    "one"sv,     "two"sv,     "three"sv,    "four"sv,      "five"sv,   "six"sv,      "seven"sv,
    "eight"sv,   "nine"sv,    "ten"sv,      "few"sv,       "some"sv,   "my"sv,       "up"sv,
    "so"sv,      "just"sv,    "uploaded"sv, "attached"sv,  "given"sv,  "provided"sv, "got"sv,
    "have"sv,
};

template <std::size_t size>
bool is_among(std::string_view word, const std::array<std::string_view, size>& list) {
  return std::ranges::any_of(list, [&](std::string_view base) { return inflected(word, base); });
}

bool is_number(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool asks_for_the_whole(std::string_view query) {
  constexpr std::size_t most_words = 30;
  const Words words(query);
  if (words.size() > most_words) return false;
  bool has_signal = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_among(words[i], signals))
      has_signal = true;
    else if (!is_number(words[i]) && !is_among(words[i], fillers))
      return false;
  }
  return has_signal;
}

}  // namespace plimsoll::strategy

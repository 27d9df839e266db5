#include "base/text/names.hpp"

#include <algorithm>
#include <array>

#include "base/text/text.hpp"
#include "base/text/words.hpp"
#include "base/text/words_fold.hpp"

namespace plimsoll::base {
namespace {

// Words that may stand inside a name, in lower case.
constexpr std::array<std::string_view, 27> particles{
    "of",  "the", "de",  "da",  "do",  "dos", "das", "du", "des", "del", "della", "di", "la", "le",
    "les", "von", "van", "der", "den", "zu",  "al",  "el", "bin", "ibn", "y",     "e",  "st"};
constexpr std::array<std::string_view, 12> months{"january",   "february", "march",    "april",
                                                  "may",       "june",     "july",     "august",
                                                  "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 7> shortened_words{"st", "dr", "mr", "mrs",
                                                          "jr", "no", "mt"};  // with a full stop
constexpr std::array<std::string_view, 3> articles{"the", "a", "an"};
// Verbs before which a definition has the names of what it defines.
constexpr std::array<std::string_view, 14> verbs{"is",    "was",    "are",       "were",     "has",
                                                 "had",   "refers", "became",    "consists", "denotes",
                                                 "means", "have",   "describes", "served"};
constexpr std::size_t longest_title_bytes = 120;
constexpr std::size_t opening_bytes = 400;

bool is_article(std::string_view folded) {
  return is_among(articles, folded);
}

// Non-ASCII capitals differ from their folded form in more than accents; a cheap test is enough: the two
// cases of Latin, Greek and Cyrillic letters alternate or are 32 apart.
bool is_capital(std::string_view text, std::size_t at) {
  const char c = text[at];
  if ((static_cast<unsigned char>(c) & 0x80U) == 0) return is_upper(c) || is_digit(c);
  const char32_t code = decode_utf8(text, at).code_point;
  if (code >= 0xC0 && code <= 0xDE) return code != 0xD7;
  if (code >= 0x100 && code <= 0x137) return code % 2 == 0;
  if (code >= 0x139 && code <= 0x148) return code % 2 == 1;
  if (code >= 0x14A && code <= 0x177) return code % 2 == 0;
  if (code >= 0x178 && code <= 0x17D) return code == 0x178 || code % 2 == 1;
  if (code >= 0x218 && code <= 0x21B) return code % 2 == 0;
  if (code >= 0x386 && code <= 0x3AB) return code != 0x390;
  if (code >= 0x400 && code <= 0x42F) return true;
  if (code >= 0x1E00 && code <= 0x1EFF) return code % 2 == 0;
  return false;
}

enum class Gap : std::uint8_t { joins, comma, ends };

// What is between two words: nothing, a space, a hyphen or an ampersand join them; so does the full stop of
// an initial.
Gap gap_of(std::string_view text, const NameWord& before, const NameWord& here) {
  std::string_view gap = text.substr(before.end, here.start - before.end);
  if (gap == " " || gap == "-" || gap == "'" || gap == "\xE2\x80\x99" || gap == "\xE2\x80\x93" ||
      gap == " & " || gap == "&" || gap == "_" || gap == "/")
    return Gap::joins;
  // Prose is wrapped inside names, but a Markdown heading ends with its line.
  if (gap == "\n") return text[text.rfind('\n', before.start) + 1] == '#' ? Gap::ends : Gap::joins;
  const bool shortened = before.end - before.start <= 1 || is_among(shortened_words, before.folded);
  if (shortened && (gap == ". " || gap == ".")) return Gap::joins;
  // Inside a title only: "Hillsboro, Oregon", "Ghostbusters: Answer the Call".
  if (gap == ": ") return Gap::comma;
  if (gap == ", ") return Gap::comma;
  return Gap::ends;
}

void append_word(std::string& key, std::string_view word) {
  if (!key.empty()) key += ' ';
  key += word;
}

// "GatherOptions", "mostTerms", or the start of "most_terms".
bool is_identifier(std::string_view text, const std::vector<NameWord>& words, std::size_t at) {
  const NameWord& word = words[at];
  if (at + 1 < words.size() && words[at + 1].start == word.end + 1 && text[word.end] == '_') return true;
  const std::string_view written = text.substr(word.start, word.end - word.start);
  for (std::size_t i = 1; i < written.size(); ++i)
    if (is_upper(written[i]) && is_lower(written[i - 1])) return true;
  return false;
}

std::string key_of(const std::vector<NameWord>& words, std::size_t from, std::size_t to) {
  std::string key;
  if (from + 1 < to && is_article(words[from].folded)) ++from;
  for (std::size_t i = from; i < to; ++i) append_word(key, words[i].folded);
  return key;
}

// The end of the run of name words that starts at `from`.
std::size_t run_end(std::string_view text, const std::vector<NameWord>& words, std::size_t from) {
  std::size_t end = from + 1;
  for (std::size_t i = end; i < words.size() && i < from + longest_name_words; ++i) {
    if (gap_of(text, words[i - 1], words[i]) != Gap::joins) break;
    if (words[i].capital || text[words[i].start - 1] == '_') {
      end = i + 1;
    } else if (!is_among(particles, words[i].folded)) {
      break;
    }
  }
  return end;
}

// Skips stop words, which have a capital at the start of a sentence: "In Berlin".
std::size_t without_stop_words(const std::vector<NameWord>& words, std::size_t from, std::size_t end) {
  while (from < end && words[from].stop && words[from].capital) ++from;
  return from;
}

// Numbers, dates and single letters are no names: nothing that has them in common belongs together.
bool is_name(std::string_view text, const std::vector<NameWord>& words, std::size_t from, std::size_t end) {
  if (from + 1 == end && words[from].end - words[from].start < 2) return false;
  for (std::size_t i = from; i < end; ++i)
    if (!is_digit(text[words[i].start]) && !is_among(months, words[i].folded)) return true;
  return false;
}

// Returns the number of words of the Markdown link whose text starts with this word; 0: there is none.
std::size_t link_words(std::string_view text, const std::vector<NameWord>& words, std::size_t from) {
  const std::uint32_t start = words[from].start;
  if (start == 0 || text[start - 1] != '[') return 0;
  const std::size_t end = text.substr(start, longest_title_bytes).find("](");
  if (end == std::string_view::npos) return 0;
  std::size_t count = 0;
  while (from + count < words.size() && words[from + count].end <= start + end) ++count;
  return count <= longest_name_words ? count : 0;
}

}  // namespace

void read_name_words(std::string_view text, std::vector<NameWord>& out) {
  std::size_t count = 0;
  std::uint32_t end = 0;
  for (WordScanner scanner(text); scanner.next();) {
    if (scanner.start() < end) continue;  // a part of the word before
    if (count == out.size()) out.emplace_back();
    NameWord& word = out[count];
    std::string_view folded = scanner.folded();
    word.stop = stem_word(folded).stop;
    word.start = scanner.start();
    word.end = end = scanner.end();
    if (folded.ends_with("'s")) {
      folded.remove_suffix(2);
      word.stop = word.stop || stem_word(folded).stop;
    }
    word.folded.assign(folded);
    word.capital = is_capital(text, word.start);
    word.apart = count == 0 || gap_of(text, out[count - 1], word) == Gap::ends;
    ++count;
  }
  out.resize(count);
}

void read_names(std::string_view text, std::vector<Name>& out) {
  static thread_local std::vector<NameWord> words;
  read_name_words(text, words);
  out.clear();
  for (std::size_t i = 0; i < words.size();) {
    std::size_t from = i, end = i + link_words(text, words, i);
    if (end == i) {
      if (!words[i].capital && !is_identifier(text, words, i)) {
        ++i;
        continue;
      }
      end = run_end(text, words, i);
      from = without_stop_words(words, i, end);
    }
    if (from < end && is_name(text, words, from, end))
      out.push_back({key_of(words, from, end), words[from].start, words[end - 1].end});
    i = end;
  }
}

std::string name_key(std::string_view text) {
  std::vector<NameWord> words;
  read_name_words(text.substr(0, 4 * longest_title_bytes), words);
  if (words.empty() || words.size() > 2 * longest_name_words) return "";
  return key_of(words, 0, words.size());
}

namespace {

void add_title(std::vector<std::string>& titles, std::string_view title) {
  const auto add = [&](std::string key) {
    if (!key.empty() && std::ranges::find(titles, key) == titles.end()) titles.push_back(std::move(key));
  };
  title = trim(title);
  while (title.starts_with('#')) title.remove_prefix(1);
  add(name_key(title));
  if (const std::size_t open = title.find('(');
      open != std::string_view::npos && open > 1 && title.ends_with(')'))
    add(name_key(title.substr(0, open)));
}

bool may_be_title(std::string_view text) {
  if (text.empty() || text.size() > longest_title_bytes) return false;
  std::vector<NameWord> words;
  read_name_words(text, words);
  return !words.empty() && words.size() <= 2 * longest_name_words &&
         (words.front().capital || is_identifier(text, words, 0));
}

// Reads the title and returns the text after it.
std::string_view read_title(std::string_view text, std::vector<std::string>& titles) {
  text = trim(text);
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.size() < text.size() && may_be_title(line) && line.find_last_of(".!?;,") != line.size() - 1) {
    add_title(titles, line);
    return trim(text.substr(line.size()));
  }
  std::string_view rest = text;
  for (std::size_t colon = line.find(": "); colon != std::string_view::npos;
       colon = line.find(": ", colon + 2)) {
    if (!may_be_title(line.substr(0, colon))) break;
    add_title(titles, line.substr(0, colon));
    rest = text.substr(colon + 2);
  }
  return rest;
}

}  // namespace

OpeningNames opening_names(std::string_view text) {
  OpeningNames out;
  std::string_view rest = read_title(text, out.titles).substr(0, opening_bytes);
  rest = rest.substr(0, rest.find('\n'));
  std::vector<NameWord> words;
  read_name_words(rest, words);
  std::size_t end = 0;  // of what is before the verb
  for (const NameWord& word : words)
    if (!word.capital && is_among(verbs, word.folded)) {
      end = word.start;
      break;
    }
  rest = rest.substr(0, end);
  std::vector<Name> names;
  std::string outside;  // without what is in parentheses, except acronyms
  int depth = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '(') {
      const std::size_t close = rest.find(')', i);
      const std::string_view inside =
          close == std::string_view::npos ? "" : rest.substr(i + 1, close - i - 1);
      const bool acronym = inside.size() >= 2 && inside.size() <= 8 &&
                           std::ranges::all_of(inside, [](char c) { return is_upper(c) || is_digit(c); });
      if (acronym) {
        outside += "; ";
        outside += inside;
      }
      ++depth;
    } else if (rest[i] == ')') {
      depth -= depth > 0 ? 1 : 0;
    } else if (depth == 0) {
      outside += rest[i];
    }
  }
  read_names(outside, names);
  constexpr std::size_t most_others = 5;
  for (Name& name : names) {
    if (out.others.size() == most_others) break;
    if (std::ranges::find(out.titles, name.key) == out.titles.end() &&
        std::ranges::find(out.others, name.key) == out.others.end())
      out.others.push_back(std::move(name.key));
  }
  return out;
}

}  // namespace plimsoll::base

#include "base/text/words.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include <libstemmer.h>
#include <utf8proc.h>

#include "base/text/text.hpp"
#include "base/text/words_fold.hpp"

namespace plimsoll::base {

namespace {

constexpr std::size_t longest_text = std::numeric_limits<std::uint32_t>::max();

// Maps ASCII letters to lower case, digits to themselves, all else to 0.
constexpr std::array<char, 256> make_ascii() {
  std::array<char, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = static_cast<char>(c);
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = static_cast<char>(c - 'A' + 'a');
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = static_cast<char>(c);
  return table;
}

constexpr std::array<char, 256> ascii = make_ascii();

char lower(char c) {
  return ascii[static_cast<unsigned char>(c)];
}

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

// Stop words as written. They cost more than they help: the fifty most
// common words are half of an English text.
constexpr std::string_view stop_words =
    "a about above after again against all am an and any are aren't as at be because been before being below "
    "between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during "
    "each "
    "few for from further had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers "
    "herself "
    "him himself his how how's i i'd i'll i'm i've if in into is isn't it it's its itself let's me more most "
    "mustn't my myself no nor not of off on once only or other ought our ours ourselves out over own same "
    "shan't "
    "she she'd she'll she's should shouldn't so some such than that that's the their theirs them themselves "
    "then "
    "there there's these they they'd they'll they're they've this those through to too under until up very "
    "was "
    "wasn't we we'd we'll we're we've were weren't what what's when when's where where's which while who "
    "who's "
    "whom why why's will with won't would wouldn't you you'd you'll you're you've your yours yourself "
    "yourselves";

std::unordered_set<std::string_view> split_stop_words() {
  std::unordered_set<std::string_view> words;
  for (std::string_view rest = stop_words; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    words.insert(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

bool is_stop_word(std::string_view word) {
  static const std::unordered_set<std::string_view> words = split_stop_words();
  return words.contains(word);
}

// Returns the end of the camel-case part that starts at `at`: before a capital after a lower-case letter or a
// digit, and before the last of several capitals if a word starts with it ("CORS|Middleware", but "URLs").
std::size_t part_end(std::string_view word, std::size_t at) {
  for (std::size_t i = at + 1; i < word.size(); ++i) {
    if (!is_upper(word[i])) continue;
    const bool begins = i + 2 < word.size() && is_lower(word[i + 1]) && is_lower(word[i + 2]);
    if (!is_upper(word[i - 1]) || begins) return i;
  }
  return word.size();
}

struct StemmerFree {
  void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};

// Words of Japanese rarely go on in another of its scripts, but particles follow them without a space.
enum class JapaneseScript : std::uint8_t { none, hiragana, katakana };
JapaneseScript script_of(char32_t c) {
  if (c >= 0x3041 && c <= 0x309F) return JapaneseScript::hiragana;
  if ((c >= 0x30A0 && c <= 0x30FF) || (c >= 0xFF66 && c <= 0xFF9F)) return JapaneseScript::katakana;
  return JapaneseScript::none;
}

bool is_english(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '\''; });
}

// A cache of stems: a text has few different words, and stemming costs many times a lookup.
struct KnownStem {
  static constexpr std::size_t longest = 22;
  std::uint8_t size = 0, stem_size = 0;
  bool stop = false;
  std::array<char, longest> word{}, stem{};
};

class Stemmer {
 public:
  StemmedWord stem(std::string_view word) {
    if (word.size() > KnownStem::longest) return look_up(word);
    KnownStem& slot = known_[hash(word) % known_.size()];
    if (slot.size != word.size() || std::memcmp(slot.word.data(), word.data(), word.size()) != 0) {
      const StemmedWord found = look_up(word);
      if (found.stem.size() > KnownStem::longest) return found;
      slot.size = static_cast<std::uint8_t>(word.size());
      std::copy(word.begin(), word.end(), slot.word.begin());
      slot.stem_size = static_cast<std::uint8_t>(found.stem.size());
      std::copy(found.stem.begin(), found.stem.end(), slot.stem.begin());
      slot.stop = found.stop;
    }
    return {{slot.stem.data(), slot.stem_size}, slot.stop};
  }

 private:
  static std::uint64_t hash(std::string_view word) {
    std::uint64_t value = word.size();
    for (std::size_t at = 0; at < word.size(); at += 8) {
      std::uint64_t part = 0;
      std::memcpy(&part, word.data() + at, std::min<std::size_t>(8, word.size() - at));
      value = (value ^ part) * 0x9E3779B97F4A7C15U;
      value ^= value >> 29U;
    }
    return value;
  }

  StemmedWord look_up(std::string_view word) {
    if (!is_english(word)) return {word, false};
    const bool stop = is_stop_word(word);
    const sb_symbol* stem =
        snowball_ ? sb_stemmer_stem(snowball_.get(), reinterpret_cast<const sb_symbol*>(word.data()),
                                    static_cast<int>(word.size()))
                  : nullptr;
    const int size = stem != nullptr ? sb_stemmer_length(snowball_.get()) : 0;
    if (size <= 0) return {word, stop};  // out of memory, or an empty stem: the word itself
    return {{reinterpret_cast<const char*>(stem), static_cast<std::size_t>(size)}, stop};
  }

  std::unique_ptr<sb_stemmer, StemmerFree> snowball_{sb_stemmer_new("english", "UTF_8")};
  std::array<KnownStem, 4096> known_{};
};

// Lower case with accents, composed. Empty: not valid.
std::string lowered(std::string_view written) {
  utf8proc_uint8_t* mapped = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(written.data()),
                   static_cast<utf8proc_ssize_t>(written.size()), &mapped,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD));
  std::string out;
  if (size > 0) out.assign(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size));
  std::free(mapped);
  return out;
}

// Stems words of one language other than English.
class ForeignStemmer {
 public:
  explicit ForeignStemmer(TextLanguage language)
      : language_(language), snowball_(sb_stemmer_new(std::string(name_of(language)).c_str(), "UTF_8")) {}

  const Word& stem(std::string_view written, std::string_view folded) {
    const auto known = known_.find(std::string(written));
    if (known != known_.end()) return known->second;
    constexpr std::size_t most_known = 50'000;
    if (known_.size() >= most_known) known_.clear();
    Word word;
    word.stop = is_common_word(language_, folded);
    word.stem = folded;
    const std::string lower = lowered(written);
    // A truncated word has no ending; a word with digits is a name.
    const bool is_plain = written.size() < longest_word_bytes && !lower.empty() &&
                          std::ranges::none_of(lower, [](char c) { return c >= '0' && c <= '9'; });
    if (is_plain && snowball_) {
      const sb_symbol* stem = sb_stemmer_stem(
          snowball_.get(), reinterpret_cast<const sb_symbol*>(lower.data()), static_cast<int>(lower.size()));
      const int size = stem != nullptr ? sb_stemmer_length(snowball_.get()) : 0;
      if (size > 0) {
        WordScanner scanner({reinterpret_cast<const char*>(stem), static_cast<std::size_t>(size)});
        if (scanner.next()) word.stem = scanner.folded();
      }
    }
    return known_.emplace(std::string(written), std::move(word)).first->second;
  }

 private:
  TextLanguage language_;
  std::unique_ptr<sb_stemmer, StemmerFree> snowball_;
  std::unordered_map<std::string, Word> known_;
};

}  // namespace

WordScanner::WordScanner(std::string_view text) : text_(text.substr(0, longest_text)) {}

void WordScanner::append(std::string_view bytes) {
  full_ = full_ || size_ + bytes.size() > word_.size();
  if (full_) return;
  std::copy(bytes.begin(), bytes.end(), word_.begin() + static_cast<std::ptrdiff_t>(size_));
  size_ += bytes.size();
}

// Returns the size of an apostrophe at `at` that is followed by an English ending, as in "dog's"; 0:
// none.
std::size_t WordScanner::contraction_at(std::size_t at) const {
  std::size_t bytes = 0;
  if (text_[at] == '\'') bytes = 1;
  if (text_.substr(at, 3) == "\xE2\x80\x99") bytes = 3;
  if (bytes == 0 || size_ == 0) return 0;
  std::string ending;
  for (std::size_t i = at + bytes; i < text_.size() && ending.size() < 3; ++i) {
    if (!is_ascii(text_[i])) return 0;
    if (lower(text_[i]) == 0) break;
    ending += lower(text_[i]);
  }
  for (const std::string_view known : {"s", "t", "d", "m", "re", "ve", "ll"})
    if (ending == known) return bytes;
  return 0;
}

bool WordScanner::next() {
  size_ = 0;
  full_ = false;
  if (read_part()) return true;
  if (pair_end_ != 0 && read_pair()) return true;
  while (at_ < text_.size()) {
    if (is_ascii(text_[at_])) {
      if (lower(text_[at_]) == 0) {
        ++at_;
        continue;
      }
      read_word();
      return true;
    }
    const DecodedCharacter c = decode_utf8(text_, at_);
    const FoldedCharacter& folded = fold_character(c.code_point);
    if (folded.kind == CharacterKind::unspaced) return read_pair();
    if (folded.kind == CharacterKind::word && folded.size > 0) {
      read_word();
      return true;
    }
    at_ += c.bytes;
  }
  return false;
}

void WordScanner::read_word() {
  start_ = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (is_ascii(c) && lower(c) != 0) {
      const char folded = lower(c);
      append({&folded, 1});
      ++at_;
      continue;
    }
    if (const std::size_t apostrophe = contraction_at(at_); apostrophe != 0) {
      append("'");
      at_ += apostrophe;
      continue;
    }
    if (is_ascii(c)) break;
    const DecodedCharacter decoded = decode_utf8(text_, at_);
    const FoldedCharacter& folded = fold_character(decoded.code_point);
    if (folded.kind != CharacterKind::word && folded.kind != CharacterKind::mark) break;
    append(folded.text());
    at_ += decoded.bytes;
  }
  end_ = at_;
  const std::string_view word = text_.substr(start_, end_ - start_);
  if (word.size() <= longest_word_bytes && part_end(word, 0) < word.size() &&
      std::ranges::all_of(word, [](char c) { return lower(c) != 0; })) {
    part_ = start_;
    parts_end_ = end_;
  }
}

// Reads the next camel-case part with more than one letter. False: none.
bool WordScanner::read_part() {
  while (part_ < parts_end_) {
    const std::string_view rest = text_.substr(part_, parts_end_ - part_);
    start_ = part_;
    end_ = part_ += part_end(rest, 0);
    if (end_ - start_ < 2) continue;
    for (std::size_t i = start_; i < end_; ++i) {
      const char folded = lower(text_[i]);
      append({&folded, 1});
    }
    return true;
  }
  return false;
}

// At the start of an unspaced run, or inside one (`pair_end_` is set). Returns the pair that starts here, or
// a single character if the run has only one. False: the run is over.
bool WordScanner::read_pair() {
  JapaneseScript script = JapaneseScript::none;
  const auto unspaced_at = [&](std::size_t at) -> std::size_t {
    if (at >= text_.size() || is_ascii(text_[at])) return 0;
    const DecodedCharacter c = decode_utf8(text_, at);
    const FoldedCharacter& folded = fold_character(c.code_point);
    if (folded.kind != CharacterKind::unspaced) return 0;
    const JapaneseScript own = script_of(c.code_point);
    if (at > at_ && own != script) return 0;
    script = own;
    append(folded.text());
    return c.bytes;
  };
  const bool inside = pair_end_ != 0;
  const std::size_t first = unspaced_at(at_);
  const std::size_t second = unspaced_at(at_ + first);
  start_ = at_;
  at_ += first;
  end_ = at_ + second;
  pair_end_ = second != 0 ? end_ : 0;
  if (second != 0 || !inside) return true;
  size_ = 0;
  return false;
}

StemmedWord stem_word(std::string_view folded) {
  static thread_local const std::unique_ptr<Stemmer> stemmer = std::make_unique<Stemmer>();
  return stemmer->stem(folded);
}

StemmedWord stem_word(std::string_view written, std::string_view folded, TextLanguage language) {
  if (language == TextLanguage::english) return stem_word(folded);
  static thread_local std::array<std::unique_ptr<ForeignStemmer>, text_languages> stemmers;
  auto& stemmer = stemmers[static_cast<std::size_t>(language)];
  if (!stemmer) stemmer = std::make_unique<ForeignStemmer>(language);
  const Word& word = stemmer->stem(written, folded);
  return {word.stem, word.stop};
}

void read_words(std::string_view text, std::vector<Word>& out) {
  std::size_t count = 0;  // reuses the strings of earlier words
  for (WordScanner scanner(text); scanner.next(); ++count) {
    if (count == out.size()) out.emplace_back();
    Word& word = out[count];
    const StemmedWord stemmed = stem_word(scanner.folded());
    word.stem.assign(stemmed.stem);
    word.start = scanner.start();
    word.end = scanner.end();
    word.stop = stemmed.stop;
  }
  out.resize(count);
}

}  // namespace plimsoll::base

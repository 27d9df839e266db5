// Compares the fast path with the plain one: PCRE2 with the published expression splits, PlainMerger merges.
// On small vocabularies built here, one pair per pre-tokeniser, and on installed real ones.
//
// Byte 0 chooses the tokenizer, byte 1 where the text is divided into parts; the rest is text. A byte that is
// not UTF-8 selects one of the snippets below, so that unusual neighbours are common.
#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "count/plain.hpp"
#include "count/split/normalize.hpp"
#include "count/split/scan.hpp"
#include "count/vocabulary/compile.hpp"
#include "count/vocabulary/file_fuzz.hpp"
#include "count/vocabulary/known_patterns.hpp"
#include "count/vocabulary/readers.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll::count {
namespace {

constexpr std::string_view snippets[] = {
    "a",      "B",      "the",    "The ",   " THE",     "  ",         "\n",     "\r\n", " \n ",   "\t",
    "'s",     "'LL",    "'re",    "1",      "12",       "345",        ".",      "...",  "!",      "/",
    "//",     "\u00a0", "\u3000", "\u2028", "\u0085",   "\u017f",     "é",      "É",    "\u0301", "ß",
    "ж",      "Ж",      "字",     "中文",   "の",       "カ",         "한",     "ا",    "क",      "ก",
    "\u01c5", "ʰ",      "½",      "٣",      "🚢",       "👩\u200d🚀", "\u200b", "€",    "-",      "_",
    "<|",     "|>",     "aaaa",   "abab",   "x\u0301y", "'",          "''",     "''s",  "a'b",    "\x01"};

// ---- Characters that PCRE2, whose tables are of an older Unicode, sees as we do ----

class SharedCharacters {
 public:
  SharedCharacters() {
    add(R"(\p{L})", [](std::uint8_t c) { return is_letter(c); });
    add(R"(\p{N})", [](std::uint8_t c) { return is_number(c); });
    add(R"(\p{M})", [](std::uint8_t c) { return is_mark(c); });
    add(R"(\s)", [](std::uint8_t c) { return is_space(c); });
    add(R"([\p{P}\p{S}])", [](std::uint8_t c) { return is_sign(c); });
    add(R"(\p{Lu})", [](std::uint8_t c) { return c == lu; });
    add(R"(\p{Ll})", [](std::uint8_t c) { return c == ll; });
    add(R"(\p{Lm})", [](std::uint8_t c) { return c == lm; });
    add(R"(\p{Lt})", [](std::uint8_t c) { return c == lt; });
  }

  bool has(char32_t code_point, std::string_view bytes) {
    const auto [entry, is_new] = known_.try_emplace(code_point, true);
    if (!is_new) return entry->second;
    const auto category = static_cast<std::uint8_t>(category_of(code_point) & ~cjk);
    // A control before it has no class: a match after it is a separate piece.
    const std::string text = "\x01" + std::string(bytes);
    for (const Class& one : classes_)
      entry->second = entry->second && (one.splitter->split(text).size() == 2) == one.ours(category);
    return entry->second;
  }

 private:
  struct Class {
    std::shared_ptr<const RegexSplitter> splitter;
    bool (*ours)(std::uint8_t);
  };
  void add(std::string pattern, bool (*ours)(std::uint8_t)) {
    classes_.push_back(
        {*RegexSplitter::make({{std::move(pattern), SplitStep::Behaviour::isolated, false}}), ours});
  }
  std::vector<Class> classes_;
  std::unordered_map<char32_t, bool> known_;
};

std::string text_from(std::string_view data) {
  static SharedCharacters shared;
  std::string text;
  while (!data.empty()) {
    const Decoded character = decode(data);
    const std::string_view bytes = data.substr(0, character.length);
    data.remove_prefix(character.length);
    if (!character.valid)
      text += snippets[static_cast<unsigned char>(bytes[0]) % std::size(snippets)];
    else if (shared.has(character.code_point, bytes))
      text += bytes;
  }
  return text;
}

// ---- Tokenizers with their oracle ----

struct Pair {
  Definition definition;
  std::unique_ptr<PlainMerger> merger;
  std::shared_ptr<const RegexSplitter> splitter;  // none: the text is one piece
  std::optional<Tokenizer> tokenizer;
  std::size_t longest_text = 4096;  // the oracle is quadratic in a piece

  std::vector<TokenId> encode(std::string_view text) const {
    std::string storage;
    const std::string_view cut = normalize(definition.normalizer, text, Place::text_front, storage);
    std::vector<TokenId> ids;
    std::size_t begin = 0;
    const auto ends = splitter ? splitter->split(cut) : std::vector<std::size_t>{cut.size()};
    for (const std::size_t end : ends) {
      add(cut.substr(begin, end - begin), ids);
      begin = end;
    }
    return ids;
  }

 private:
  void add(std::string_view piece, std::vector<TokenId>& ids) const {
    const std::uint32_t whole = definition.whole_piece_first ? merger->find(piece) : PlainMerger::absent;
    if (whole != PlainMerger::absent) return ids.push_back(definition.tokens[whole].id);
    std::size_t at = 0;
    for (const std::uint32_t token : merger->merge(piece)) {
      if (token != PlainMerger::absent) {
        ids.push_back(definition.tokens[token].id);
        at += definition.tokens[token].bytes.size();
        continue;
      }
      // An unknown character is encoded as bytes.
      for (std::size_t left = decode(piece.substr(at)).length; left > 0; --left, ++at)
        ids.push_back(static_cast<TokenId>(definition.byte_tokens[static_cast<unsigned char>(piece[at])]));
    }
  }
};

std::unique_ptr<Pair> make_pair(Definition definition, std::optional<std::vector<SplitStep>> steps) {
  auto pair = std::make_unique<Pair>();
  pair->definition = std::move(definition);
  pair->merger = std::make_unique<PlainMerger>(pair->definition);
  if (steps) {
    pair->splitter = *RegexSplitter::make(*steps);
    pair->definition.splitter = *known_splitter(*steps);
  }
  const auto file = compile(pair->definition);
  if (!file) std::abort();
  auto opened = Tokenizer::open(FuzzFile(*file).path());
  if (!opened) std::abort();
  pair->tokenizer.emplace(std::move(*opened));
  return pair;
}

// All bytes, and the results of random merges; first of snippets, so that they occur together.
Definition synthetic(unsigned seed, bool by_rank) {
  std::mt19937 rng{seed};
  Definition definition;
  definition.info.name = "synthetic";
  definition.by_rank = definition.whole_piece_first = by_rank;
  definition.tokens.reserve(1024);  // a merger looks into them
  std::unordered_set<std::string> known;
  for (unsigned byte = 0; byte < 256; ++byte) {
    definition.tokens.push_back({std::string(1, static_cast<char>(byte)), byte, 0});
    known.insert(definition.tokens.back().bytes);
  }
  const auto join = [&](std::uint32_t left, std::uint32_t right) {
    std::string joined = definition.tokens[left].bytes + definition.tokens[right].bytes;
    if (joined.size() > 16 || definition.tokens.size() == 1024 || !known.insert(joined).second) return;
    if (!by_rank) definition.merges.emplace_back(left, right);
    definition.tokens.push_back({std::move(joined), static_cast<TokenId>(definition.tokens.size()), 0});
  };
  for (int batch = 0; batch < 25; ++batch) {
    const PlainMerger merger(definition);
    for (int i = 0; i < 20; ++i) {
      std::string sample;
      for (int part = 0; part < 3; ++part) sample += snippets[rng() % std::size(snippets)];
      const auto parts = merger.merge(sample);
      if (parts.size() < 2) continue;
      const std::size_t at = rng() % (parts.size() - 1);
      join(parts[at], parts[at + 1]);
    }
    // And one that comes from no text.
    join(static_cast<std::uint32_t>(rng() % definition.tokens.size()),
         static_cast<std::uint32_t>('a' + rng() % 26));
  }
  return definition;
}

void add_real(std::vector<std::unique_ptr<Pair>>& pairs) {
  const auto cache = base::cache_folder(base::current_environment());
  const TokenizerLibrary library(cache / "assets", cache / "tokenizers");
  struct Real {
    std::string_view name, gguf_name;
    std::size_t longest_text;
  };
  static constexpr Real reals[] = {
      {"o200k_base", "gpt-4o", 4096}, {"qwen2.5", "qwen2", 4096}, {"mistral-v3", "", 300}};
  for (const auto& [name, gguf_name, longest_text] : reals) {
    const auto source = std::ranges::find(library.sources(), name, &TokenizerSource::name);
    const auto tokenizer = library.open(name);
    if (!tokenizer || source == library.sources().end()) continue;
    const auto file = base::read_file(source->definition, std::uint64_t{1} << 30);
    auto definition = file ? read_definition(*file, "", name) : tl::unexpected(file.error());
    if (!definition) std::abort();
    auto pair = std::make_unique<Pair>();
    pair->definition = std::move(*definition);
    std::erase_if(pair->definition.added, [](const AddedToken& added) { return added.special; });
    pair->merger = std::make_unique<PlainMerger>(pair->definition);
    if (!gguf_name.empty()) pair->splitter = *RegexSplitter::make(*steps_of_gguf(gguf_name));
    pair->tokenizer.emplace(*tokenizer);
    pair->longest_text = longest_text;
    pairs.push_back(std::move(pair));
  }
}

const std::vector<std::unique_ptr<Pair>>& all_pairs() {
  static const std::vector<std::unique_ptr<Pair>> pairs = [] {
    std::vector<std::unique_ptr<Pair>> made;
    unsigned seed = 0;
    for (const char* name : {"gpt-2", "smollm", "llama-bpe", "qwen2", "gpt-4o", "tekken", "deepseek-v3"}) {
      for (const bool by_rank : {true, false})
        made.push_back(make_pair(synthetic(++seed, by_rank), steps_of_gguf(name)));
    }
    add_real(made);
    return made;
  }();
  return pairs;
}

bool has_added(const Pair& pair, std::string_view text) {
  return std::ranges::any_of(pair.definition.added,
                             [&](const AddedToken& added) { return text.find(added.text) != text.npos; });
}

}  // namespace
}  // namespace plimsoll::count

// Building the tokenizers takes seconds, which must not count for a single input.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  plimsoll::count::all_pairs();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  using namespace plimsoll::count;
  if (size < 3) return 0;
  const Pair& pair = *all_pairs()[data[0] % all_pairs().size()];
  const std::string text = text_from({reinterpret_cast<const char*>(data) + 2, size - 2});
  if (text.size() > pair.longest_text || has_added(pair, text)) return 0;
  const Tokenizer& tokenizer = *pair.tokenizer;

  const auto wanted = pair.encode(text);
  expect(tokenizer.encode(text) == wanted, "encode differs", text);
  const auto count = static_cast<Tokens>(wanted.size());
  expect(tokenizer.count(text) == count, "count differs", text);
  const Tokens limit = data[1] % (count + 1);
  expect(tokenizer.count_up_to(text, limit) == std::min(count, limit + 1), "count_up_to differs", text);

  Counter counter(tokenizer);
  for (std::size_t at = 0, step = 1 + data[1] % 32; at < text.size(); at += step)
    counter.append(std::string_view(text).substr(at, step));
  expect(counter.total() == count, "Counter differs", text);

  const std::size_t split = tokenizer.split_at(text, limit);
  expect(split <= text.size() && (split == text.size() || !is_continuation(text[split])),
         "split_at cuts a character", text);
  expect(tokenizer.count(std::string_view(text).substr(0, split)) <= limit, "split_at goes over the limit",
         text);
  return 0;
}

#include "count/vocabulary/compile.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <unordered_map>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "count/bpe.hpp"
#include "count/info_json.hpp"
#include "count/plain.hpp"
#include "count/vocabulary/compiled.hpp"

namespace plimsoll::count {
namespace {

constexpr std::uint32_t never = PlainMerger::absent;

// Owns the arrays of a Compiled while it is built.
struct Arrays {
  std::string info, split_steps, bytes, added_bytes;
  std::vector<std::uint32_t> offsets, numbers, added_offsets;
  std::vector<TokenRow> rows;
  std::vector<TokenId> ids;
  std::vector<TrieNode> trie, added_trie;
  std::vector<std::uint64_t> pairs, pair_filter, seams;
  std::vector<double> scores;
  std::vector<CompiledAdded> added;
  CompiledConfig config{};

  Compiled view() const {
    Compiled compiled;
    compiled.config = config;
    compiled.info = info;
    compiled.split_steps = split_steps;
    compiled.bytes = bytes;
    compiled.offsets = offsets;
    compiled.ids = ids;
    compiled.numbers = numbers;
    compiled.trie = trie;
    compiled.pairs = pairs;
    compiled.pair_filter = pair_filter;
    compiled.rows = rows;
    compiled.seams = seams;
    compiled.scores = scores;
    compiled.added_trie = added_trie;
    compiled.added = added;
    compiled.added_offsets = added_offsets;
    compiled.added_bytes = added_bytes;
    return compiled;
  }
};

// Returns the order of internal numbers: first tokens without a merge, then results of merges, earliest
// first.
std::vector<std::uint32_t> order_by_merges(const Definition& definition, const PlainMerger& merger) {
  constexpr std::uint64_t not_made = 0;
  std::vector<std::uint64_t> rank(definition.tokens.size(), not_made);
  for (const auto& [key, merge] : merger.merges()) {
    auto& mine = rank[merge.result];
    const std::uint64_t priority = std::uint64_t{merge.priority} + 1;
    mine = mine == not_made ? priority : std::min(mine, priority);
  }
  std::vector<std::uint32_t> order(definition.tokens.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return rank[i]; });
  return order;
}

void lay_out_tokens(const Definition& definition, const std::vector<std::uint32_t>& order, Arrays& a) {
  a.offsets.push_back(0);
  TokenId highest = 0;
  for (const std::uint32_t i : order) {
    const VocabularyEntry& token = definition.tokens[i];
    a.bytes += token.bytes;
    a.offsets.push_back(static_cast<std::uint32_t>(a.bytes.size()));
    a.ids.push_back(token.id);
    highest = std::max(highest, token.id);
    a.config.longest_token = std::max(a.config.longest_token, static_cast<std::uint32_t>(token.bytes.size()));
  }
  a.numbers.assign(std::size_t{highest} + 1, no_token);
  for (std::uint32_t number = 0; number < a.ids.size(); ++number) a.numbers[a.ids[number]] = number;
}

// Splits before a space if no token has one there, and nowhere else: adjacent unknown characters
// are one unknown, so they must stay in one piece.
void cut_before_spaces(const Definition& definition, Arrays& a) {
  a.seams.assign(Seams::words, ~std::uint64_t{0});
  std::array<bool, 256> held{};
  for (const VocabularyEntry& token : definition.tokens) {
    for (std::size_t i = 1; i < token.bytes.size(); ++i) {
      if (token.bytes[i] == ' ') held[static_cast<unsigned char>(token.bytes[i - 1])] = true;
    }
  }
  for (unsigned left = 0; left < 256; ++left) {
    const unsigned pair = left << 8 | ' ';
    if (!held[left]) a.seams[pair >> 6] &= ~(std::uint64_t{1} << (pair & 63));
  }
}

void mark_odd(Arrays& a) {
  const std::size_t count = a.rows.size();
  // When merging creates a token: not before its halves. Halves are shorter, so process by length.
  std::vector<std::uint32_t> by_length(count);
  std::iota(by_length.begin(), by_length.end(), 0U);
  std::ranges::stable_sort(by_length, {}, [&](std::uint32_t t) { return a.offsets[t + 1] - a.offsets[t]; });
  std::vector<std::uint32_t> when(count);
  for (const std::uint32_t t : by_length) {
    const std::uint32_t l = a.rows[t].left;
    const std::uint32_t r = a.rows[t].right;
    const bool made = l != t;
    when[t] = made ? std::max({t, when[l], when[r]}) : t;
    const bool odd = when[t] != t;
    const bool left = odd || (made && (a.rows[l].odd & odd_spine::left));
    const bool right = odd || (made && (a.rows[r].odd & odd_spine::right));
    a.rows[t].odd = static_cast<std::uint8_t>((left ? odd_spine::left : 0) | (right ? odd_spine::right : 0));
  }
}

// Builds halves, trie, prefixes and seams of a BPE vocabulary. A token that merging never creates can only be
// a whole piece, and only if the definition matches whole pieces first.
void lay_out_merges(const Definition& definition, const PlainMerger& merger,
                    const std::vector<std::uint32_t>& order, Arrays& a) {
  const auto count = static_cast<std::uint32_t>(order.size());
  std::vector<std::uint32_t> number_of(count);
  for (std::uint32_t number = 0; number < count; ++number) number_of[order[number]] = number;

  std::vector<PairTable::Entry> pairs;
  pairs.reserve(merger.merges().size());
  for (const auto& [key, merge] : merger.merges()) {
    pairs.push_back({number_of[key >> 32], number_of[key & 0xffffffff], number_of[merge.result]});
  }
  std::ranges::sort(pairs, {}, [](const auto& p) { return PairTable::key(p.left, p.right); });
  PairTable::Built table = PairTable::build(pairs);
  a.pairs = std::move(table.slots);
  a.pair_filter = std::move(table.filter);

  std::vector<bool> reachable(count);
  std::vector<TrieEntry> entries, all_entries;
  a.seams.assign(Seams::words, 0);
  for (std::uint32_t number = 0; number < count; ++number) {
    const std::string_view text = definition.tokens[order[number]].bytes;
    std::pair<std::uint32_t, std::uint32_t> halves;
    const auto parts = merger.merge(text, halves);
    reachable[number] = parts.size() == 1 && parts[0] == order[number];
    const bool made = reachable[number] && halves.first != never;
    a.rows.push_back({.left = made ? number_of[halves.first] : number,
                      .right = made ? number_of[halves.second] : number,
                      .prefix = no_token,
                      .length = static_cast<std::uint16_t>(text.size()),
                      .odd = 0});
    if (reachable[number]) {
      entries.push_back({text, number});
      for (std::size_t i = 1; i < text.size(); ++i) {
        const unsigned pair = static_cast<unsigned>(static_cast<unsigned char>(text[i - 1])) << 8 |
                              static_cast<unsigned char>(text[i]);
        a.seams[pair >> 6] |= std::uint64_t{1} << (pair & 63);
      }
    } else if (definition.whole_piece_first) {
      entries.push_back({text, number | whole_only});
    }
  }
  a.trie = build_trie(entries);
  mark_odd(a);

  const Trie trie(a.trie);
  for (std::uint32_t number = 0; number < count; ++number) {
    const std::string_view text = definition.tokens[order[number]].bytes;
    std::uint32_t node = Trie::root;
    std::uint32_t best = no_token;
    for (const char c : text.substr(0, text.empty() ? 0 : text.size() - 1)) {
      node = trie.step(node, static_cast<unsigned char>(c));
      if (node == Trie::none) break;
      if ((trie.value(node) & whole_only) == 0) best = trie.value(node);
    }
    a.rows[number].prefix = best;
  }
}

// Backtracking needs a property that every trained vocabulary has, but a file may not: so it is
// compared with plain merging on joined random tokens, and not used if they differ.
bool agrees_with_merging(const Definition& definition, const PlainMerger& merger, const Arrays& a) {
  const Compiled compiled = a.view();
  const Bpe bpe(compiled);
  Bpe::Scratch scratch;
  std::mt19937 rng{20'000};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (unsigned part = 0; part < 2 + rng() % 3; ++part)
      text += definition.tokens[rng() % definition.tokens.size()].bytes;
    if (text.size() > 80) continue;
    const auto expected = merger.merge(text);
    if (std::ranges::find(expected, never) != expected.end()) continue;
    if (definition.whole_piece_first && bpe.whole(text) != no_token) continue;
    bpe.encode(text, scratch);
    const bool same =
        std::ranges::equal(expected, scratch.tokens, [&](std::uint32_t index, std::uint32_t number) {
          return number < a.ids.size() && definition.tokens[index].id == a.ids[number];
        });
    if (!same) return false;
  }
  return true;
}

void lay_out_added(const Definition& definition, Arrays& a) {
  std::vector<TrieEntry> entries;
  a.added_offsets.push_back(0);
  for (const AddedToken& token : definition.added) {
    if (token.text.empty()) continue;
    entries.push_back({token.text, static_cast<std::uint32_t>(a.added.size())});
    a.added.push_back({token.id,
                       token.special,
                       token.strips_left,
                       token.strips_right,
                       token.whole_word,
                       token.normalized,
                       {}});
    a.added_bytes += token.text;
    a.added_offsets.push_back(static_cast<std::uint32_t>(a.added_bytes.size()));
    a.config.longest_added = std::max(a.config.longest_added, static_cast<std::uint32_t>(token.text.size()));
  }
  a.added_trie = build_trie(std::move(entries));
}

Result<void> check(const Definition& definition) {
  if (definition.tokens.empty())
    return fail(Errc::bad_input, "the tokenizer '{}' has no tokens", definition.info.name);
  if (definition.tokens.size() >= (1U << PairTable::number_bits))
    return fail(Errc::unsupported, "the tokenizer '{}' has {} tokens; more than {} cannot be compiled",
                definition.info.name,
                base::with_thousands(static_cast<std::int64_t>(definition.tokens.size())),
                base::with_thousands((1 << PairTable::number_bits) - 1));
  for (const VocabularyEntry& token : definition.tokens) {
    if (token.bytes.size() > 0xffff)
      return fail(Errc::bad_input, "the tokenizer '{}' has a token of {} bytes, which is too long",
                  definition.info.name, token.bytes.size());
    if (token.id >= (1U << 24))
      return fail(Errc::bad_input, "the tokenizer '{}' has a token with id {}, which is too large",
                  definition.info.name, token.id);
  }
  for (const auto& [left, right] : definition.merges) {
    if (std::max(left, right) >= definition.tokens.size())
      return fail(Errc::bad_input, "the tokenizer '{}' merges a token that is not in its vocabulary",
                  definition.info.name);
  }
  return {};
}

}  // namespace

Result<std::string> compile(const Definition& definition) {
  TRY_VOID(check(definition));
  Arrays a;
  a.config.kind = definition.kind;
  a.config.splitter = definition.splitter;
  a.config.normalizer = definition.normalizer;
  a.config.whole_piece_first = definition.whole_piece_first;
  a.config.regular = true;
  a.config.fuse_unknown = definition.fuse_unknown;
  a.config.longest_word = static_cast<std::uint32_t>(definition.longest_word);
  a.config.unknown = definition.unknown;
  std::ranges::copy(definition.byte_tokens, a.config.byte_tokens);
  TokenizerInfo info = definition.info;
  info.vocabulary = definition.tokens.size();
  a.info = to_json(info);
  a.split_steps = to_json(definition.split_steps);
  lay_out_added(definition, a);

  if (definition.kind == ModelKind::bpe_bytes || definition.kind == ModelKind::bpe_chars) {
    const PlainMerger merger(definition);
    const auto order = order_by_merges(definition, merger);
    lay_out_tokens(definition, order, a);
    lay_out_merges(definition, merger, order, a);
    if (definition.fuse_unknown && definition.byte_tokens[0] < 0) cut_before_spaces(definition, a);
    a.config.regular = a.config.regular && agrees_with_merging(definition, merger, a);
  } else {
    std::vector<std::uint32_t> order(definition.tokens.size());
    std::iota(order.begin(), order.end(), 0U);
    lay_out_tokens(definition, order, a);
    std::vector<TrieEntry> entries;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      entries.push_back({definition.tokens[i].bytes, i});
      a.scores.push_back(definition.tokens[i].score);
    }
    a.trie = build_trie(std::move(entries));
    cut_before_spaces(definition, a);
  }
  return write_compiled(a.view());
}

}  // namespace plimsoll::count

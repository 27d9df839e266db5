#include "count/bpe.hpp"

#include <algorithm>
#include <queue>

#include "count/split/unicode.hpp"

namespace plimsoll::count {

Bpe::Bpe(const Compiled& compiled)
    : compiled_(&compiled),
      trie_(compiled.trie),
      pairs_(compiled.pairs, compiled.pair_filter),
      rows_(compiled.rows.data()),
      regular_(compiled.config.regular),
      chars_(compiled.config.kind == ModelKind::bpe_chars) {}

std::uint32_t Bpe::longest(std::string_view text) const {
  std::uint32_t node = Trie::root;
  std::uint32_t best = no_token;
  for (const char c : text) {
    node = trie_.step(node, static_cast<unsigned char>(c));
    if (node == Trie::none) break;
    const std::uint32_t value = trie_.value(node);
    if ((value & whole_only) == 0) best = value;
  }
  return best;
}

// Undoes the merges of both tokens along their common border, the latest first, and checks at each step
// whether the two parts at the border would have merged earlier. `limit` is the last undone merge:
// later merges did not happen. A merge with the same result on the left side of the border
// comes first, because it is further left; hence the + 1 on the right.
bool Bpe::stay_apart(std::uint32_t left, std::uint32_t right, Scratch& scratch) const {
  if ((rows_[left].odd & odd_spine::right) | (rows_[right].odd & odd_spine::left))
    return stay_apart_by_merging(left, right, scratch);
  std::uint32_t limit = no_token;
  for (;;) {
    const std::uint32_t merged = pairs_.find(left, right);
    if (merged < limit) return false;
    if (left > right) {
      limit = left;
      left = rows_[left].right;
      if (left == limit) {
        limit = right + 1;
        right = rows_[right].left;
        if (right + 1 == limit) return true;
      }
    } else {
      limit = right + 1;
      right = rows_[right].left;
      if (right + 1 == limit) {
        limit = left;
        left = rows_[left].right;
        if (left == limit) return true;
      }
    }
  }
}

// A few vocabularies have some dozens of tokens whose order does not follow from their numbers: these are
// tested by merging, once.
bool Bpe::stay_apart_by_merging(std::uint32_t left, std::uint32_t right, Scratch& scratch) const {
  constexpr std::size_t most_kept = 1 << 16;
  const std::uint64_t key = PairTable::key(left, right);
  if (const auto known = scratch.apart.find(key); known != scratch.apart.end()) return known->second;
  if (scratch.apart.size() >= most_kept) scratch.apart.clear();
  std::vector<std::uint32_t> merged;
  merge_by_heap(std::string(compiled_->token(left)).append(compiled_->token(right)), scratch, merged);
  return scratch.apart[key] = merged == std::vector<std::uint32_t>{left, right};
}

std::size_t Bpe::backtrack(std::string_view text, Scratch& scratch) const {
  auto& tokens = scratch.tokens;
  const std::size_t floor = tokens.size();
  std::uint64_t few = ~std::uint64_t{0};  // enough for a piece of 63 bytes, the usual case
  std::uint64_t* open = &few;
  if (text.size() >= 64) {
    scratch.open.assign(text.size() / 64 + 1, ~std::uint64_t{0});
    open = scratch.open.data();
  }
  std::size_t at = 0;
  std::uint32_t token = longest(text);
  while (token != no_token) {
    const std::size_t end = at + rows_[token].length;
    const bool may_end = (open[end >> 6] >> (end & 63)) & 1;
    if (may_end && (tokens.size() == floor || stay_apart(tokens.back(), token, scratch))) {
      tokens.push_back(token);
      at = end;
      token = at < text.size() ? longest(text.substr(at)) : no_token;
      continue;
    }
    token = rows_[token].prefix;
    if (token == no_token && tokens.size() > floor) {
      open[at >> 6] &= ~(std::uint64_t{1} << (at & 63));
      token = tokens.back();
      tokens.pop_back();
      at -= rows_[token].length;
    }
  }
  return at;
}

std::size_t Bpe::merge_by_heap(std::string_view text, Scratch& scratch,
                               std::vector<std::uint32_t>& out) const {
  auto& symbols = scratch.symbols;
  auto& next = scratch.next;
  auto& previous = scratch.previous;
  symbols.clear();
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = chars_ ? decode(text.substr(at)).length : 1;
    const std::uint32_t token = trie_.find(text.substr(at, length));
    if (token == no_token) break;
    symbols.push_back(token & ~whole_only);
    at += length;
  }
  const auto count = static_cast<std::uint32_t>(symbols.size());
  next.resize(count);
  previous.resize(count);
  struct Candidate {
    std::uint32_t result, position, left, right;
    bool operator>(const Candidate& o) const {
      return result != o.result ? result > o.result : position > o.position;
    }
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](std::uint32_t i) {
    if (i >= count || next[i] >= count) return;
    const std::uint32_t result = pairs_.find(symbols[i], symbols[next[i]]);
    if (result != no_token) queue.push({result, i, symbols[i], symbols[next[i]]});
  };
  for (std::uint32_t i = 0; i < count; ++i) next[i] = i + 1, previous[i] = i - 1;
  for (std::uint32_t i = 0; i < count; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    const std::uint32_t i = best.position;
    if (symbols[i] != best.left || next[i] >= count || symbols[next[i]] != best.right) continue;
    const std::uint32_t gone = next[i];
    symbols[i] = best.result;
    symbols[gone] = no_token;
    next[i] = next[gone];
    if (next[i] < count) previous[next[i]] = i;
    offer(i);
    offer(previous[i]);
  }
  for (const std::uint32_t symbol : symbols) {
    if (symbol != no_token) out.push_back(symbol);
  }
  return at;
}

std::size_t Bpe::say_unknown(std::string_view rest, Scratch& scratch) const {
  const std::size_t length = chars_ ? decode(rest).length : 1;
  const auto& config = compiled_->config;
  bool by_bytes = true;
  for (const char c : rest.substr(0, length))
    by_bytes = by_bytes && config.byte_tokens[static_cast<unsigned char>(c)] >= 0;
  if (by_bytes) {
    for (const char c : rest.substr(0, length))
      scratch.tokens.push_back(literal + static_cast<unsigned char>(c));
  } else if (config.unknown >= 0 &&
             !(config.fuse_unknown && !scratch.tokens.empty() && scratch.tokens.back() == unknown)) {
    scratch.tokens.push_back(unknown);
  }
  return length;
}

std::size_t Bpe::encode(std::string_view piece, Scratch& scratch) const {
  scratch.tokens.clear();
  if (compiled_->config.whole_piece_first) {
    if (const std::uint32_t token = whole(piece); token != no_token) {
      scratch.tokens.push_back(token);
      return 1;
    }
  }
  while (!piece.empty()) {
    piece.remove_prefix(regular_ ? backtrack(piece, scratch) : merge_by_heap(piece, scratch, scratch.tokens));
    if (!piece.empty()) piece.remove_prefix(say_unknown(piece, scratch));
  }
  return scratch.tokens.size();
}

// Works forward from each position with a known encoding: each token that starts there and stays apart from
// the previous one ends the encoding of a prefix. Each prefix has exactly one encoding.
void Bpe::prefix_counts(std::string_view piece, Scratch& scratch, std::vector<std::uint32_t>& counts) const {
  counts.assign(piece.size() + 1, no_token);
  counts[0] = 0;
  const bool special_whole = compiled_->config.whole_piece_first;
  if (!regular_) {
    for (std::size_t i = 1; i <= piece.size(); ++i)
      counts[i] = static_cast<std::uint32_t>(encode(piece.substr(0, i), scratch));
    return;
  }
  std::vector<std::uint32_t> last(piece.size() + 1, no_token);
  for (std::size_t at = 0; at < piece.size(); ++at) {
    if (counts[at] == no_token) continue;
    bool any = false;
    std::uint32_t node = Trie::root;
    for (std::size_t i = at; i < piece.size(); ++i) {
      node = trie_.step(node, static_cast<unsigned char>(piece[i]));
      if (node == Trie::none) break;
      const std::uint32_t token = trie_.value(node);
      if ((token & whole_only) != 0) continue;
      any = true;
      if (counts[i + 1] != no_token || (last[at] != no_token && !stay_apart(last[at], token, scratch)))
        continue;
      counts[i + 1] = counts[at] + 1;
      last[i + 1] = token;
    }
    if (!any) {
      scratch.tokens.clear();
      if (at > 0 && last[at] == no_token && compiled_->config.fuse_unknown) scratch.tokens.push_back(unknown);
      const std::size_t before = scratch.tokens.size();
      const std::size_t end = at + say_unknown(piece.substr(at), scratch);
      counts[end] = counts[at] + static_cast<std::uint32_t>(scratch.tokens.size() - before);
    }
  }
  // Inside a character that is only a whole token, a prefix costs at most its bytes.
  for (std::size_t i = 1; i <= piece.size(); ++i) {
    if (counts[i] == no_token) counts[i] = counts[i - 1] + 1;
  }
  if (special_whole) {
    for (std::size_t i = 1; i <= piece.size(); ++i) {
      if (whole(piece.substr(0, i)) == no_token) {
        if (i > compiled_->config.longest_token) break;
        continue;
      }
      counts[i] = 1;
    }
  }
}

}  // namespace plimsoll::count

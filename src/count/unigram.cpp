#include "count/unigram.hpp"

#include <algorithm>

#include "count/split/unicode.hpp"

namespace plimsoll::count {
namespace {

// SentencePiece scores an unknown character this much below its least probable token.
constexpr double unknown_penalty = 10.0;

}  // namespace

Unigram::Unigram(const Compiled& compiled) : compiled_(&compiled), trie_(compiled.trie) {
  if (!compiled.scores.empty()) unknown_score_ = *std::ranges::min_element(compiled.scores) - unknown_penalty;
}

bool Unigram::goes_by_bytes(std::string_view character) const {
  return std::ranges::all_of(
      character, [&](char c) { return compiled_->config.byte_tokens[static_cast<unsigned char>(c)] >= 0; });
}

std::size_t Unigram::solve(std::string_view piece, Scratch& scratch) const {
  auto& steps = scratch.steps;
  steps.assign(piece.size() + 1, {});
  steps[0].reached = true;
  const auto offer = [&](std::size_t from, std::size_t to, double score, std::uint32_t token) {
    Step& step = steps[to];
    const double total = steps[from].score + score;
    if (step.reached && step.score >= total) return;
    // Consecutive unknown characters are one unknown, unless they are encoded as bytes.
    const auto is_unknown = [&](std::size_t begin, std::size_t end) {
      return !goes_by_bytes(piece.substr(begin, end - begin));
    };
    std::uint32_t cost = 1;
    if (token == no_token && !is_unknown(from, to))
      cost = static_cast<std::uint32_t>(to - from);
    else if (token == no_token && from > 0 && steps[from].token == no_token &&
             is_unknown(steps[from].begin, from))
      cost = 0;
    step = {total, from, token, steps[from].count + cost, true};
  };
  for (std::size_t at = 0; at < piece.size(); ++at) {
    if (!steps[at].reached) continue;
    const std::size_t character = decode(piece.substr(at)).length;
    bool single = false;
    std::uint32_t node = Trie::root;
    for (std::size_t i = at; i < piece.size(); ++i) {
      node = trie_.step(node, static_cast<unsigned char>(piece[i]));
      if (node == Trie::none) break;
      const std::uint32_t token = trie_.value(node);
      if (token == Trie::none) continue;
      offer(at, i + 1, compiled_->scores[token], token);
      single = single || i + 1 - at == character;
    }
    if (!single) offer(at, at + character, unknown_score_, no_token);
  }
  return steps[piece.size()].count;
}

}  // namespace plimsoll::count

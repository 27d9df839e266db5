#include "count/model.hpp"

#include <algorithm>

#include "count/split/unicode.hpp"

namespace plimsoll::count {

Model::Model(const Compiled& compiled) : compiled_(&compiled), kind_(compiled.config.kind) {
  switch (kind_) {
    case ModelKind::bpe_bytes:
    case ModelKind::bpe_chars: bpe_ = Bpe(compiled); break;
    case ModelKind::unigram: unigram_ = Unigram(compiled); break;
    case ModelKind::wordpiece: wordpiece_ = WordPiece(compiled, "##"); break;
  }
}

std::size_t Model::count(std::string_view piece, Scratch& scratch) const {
  switch (kind_) {
    case ModelKind::unigram: return unigram_.solve(piece, scratch.unigram);
    case ModelKind::wordpiece: return wordpiece_.cut(piece).size();
    default: return bpe_.encode(piece, scratch.bpe);
  }
}

void Model::encode(std::string_view piece, std::size_t from, Scratch& scratch,
                   std::vector<Placed>& out) const {
  const auto unknown = static_cast<TokenId>(std::max<std::int64_t>(0, compiled_->config.unknown));
  if (kind_ == ModelKind::wordpiece) {
    for (const auto& part : wordpiece_.cut(piece))
      out.push_back({part.token == no_token ? unknown : compiled_->ids[part.token], from + part.end});
    return;
  }
  if (kind_ == ModelKind::unigram) {
    unigram_.solve(piece, scratch.unigram);
    const auto& steps = scratch.unigram.steps;
    std::vector<std::size_t> ends;
    for (std::size_t at = piece.size(); at > 0; at = steps[at].begin) ends.push_back(at);
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const Unigram::Step& step = steps[*end];
      if (step.token != no_token) {
        out.push_back({compiled_->ids[step.token], from + *end});
      } else if (step.count == steps[step.begin].count) {
        out.back().end = from + *end;  // joined with the previous unknown
      } else if (!unigram_.goes_by_bytes(piece.substr(step.begin, *end - step.begin))) {
        out.push_back({unknown, from + *end});
      } else {
        for (std::size_t i = step.begin; i < *end; ++i)
          out.push_back(
              {static_cast<TokenId>(compiled_->config.byte_tokens[static_cast<unsigned char>(piece[i])]),
               from + i + 1});
      }
    }
    return;
  }
  bpe_.encode(piece, scratch.bpe);
  std::size_t at = 0;
  for (const std::uint32_t token : scratch.bpe.tokens) {
    if (token < Bpe::literal) {
      at += compiled_->length(token);
      out.push_back({compiled_->ids[token], from + at});
    } else if (token < Bpe::unknown) {
      out.push_back({static_cast<TokenId>(compiled_->config.byte_tokens[token - Bpe::literal]), from + ++at});
    } else {
      // One unknown token may represent several characters; the next known token shows where they end.
      at += decode(piece.substr(at)).length;
      out.push_back({unknown, from + at});
    }
  }
  if (!out.empty() && !scratch.bpe.tokens.empty()) out.back().end = from + piece.size();
}

void Model::prefix_counts(std::string_view piece, Scratch& scratch,
                          std::vector<std::uint32_t>& counts) const {
  if (kind_ == ModelKind::bpe_bytes || kind_ == ModelKind::bpe_chars)
    return bpe_.prefix_counts(piece, scratch.bpe, counts);
  counts.assign(piece.size() + 1, 0);
  if (kind_ == ModelKind::unigram) {
    unigram_.solve(piece, scratch.unigram);
    for (std::size_t i = 1; i <= piece.size(); ++i)
      counts[i] = scratch.unigram.steps[i].reached ? scratch.unigram.steps[i].count : counts[i - 1] + 1;
    return;
  }
  for (std::size_t i = 1; i <= piece.size(); ++i)
    counts[i] = static_cast<std::uint32_t>(wordpiece_.cut(piece.substr(0, i)).size());
}

}  // namespace plimsoll::count

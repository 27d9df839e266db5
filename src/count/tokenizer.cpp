#include <algorithm>
#include <array>
#include <thread>

#include "base/try.hpp"
#include "count/info_json.hpp"
#include "count/split/align.hpp"
#include "count/split/normalize.hpp"
#include "count/split/regex_split.hpp"
#include "count/split/unicode.hpp"
#include "count/tokenizer_impl.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll {

using count::no_token;
using count::PieceCache;

// ---- Scratch space ----

std::unique_ptr<Tokenizer::Impl::Scratch> Tokenizer::Impl::take() const {
  {
    const std::lock_guard lock(mutex_);
    if (!pool_.empty()) {
      auto scratch = std::move(pool_.back());
      pool_.pop_back();
      return scratch;
    }
  }
  return std::make_unique<Scratch>();
}

void Tokenizer::Impl::give_back(std::unique_ptr<Scratch> scratch) const {
  // Keeps as many as can run in parallel, megabytes each; scratch space with giant arrays is
  // not kept.
  static const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
  constexpr std::size_t keep_limit = std::size_t{4} << 20;
  if (scratch->classes.bytes.size() > keep_limit || scratch->model.bpe.tokens.capacity() > keep_limit) return;
  const std::lock_guard lock(mutex_);
  if (pool_.size() < most) pool_.push_back(std::move(scratch));
}

// ---- Counting ----

Tokens Tokenizer::Impl::count_piece(std::string_view piece, Scratch& scratch) const {
  if (piece.size() <= PieceCache::longest_short) {
    std::array<char, 16> padded{};
    std::ranges::copy(piece, padded.begin());
    const PieceCache::Key key = PieceCache::key_of(padded.data(), piece.size());
    const std::size_t set = PieceCache::set_of(key);
    if (const unsigned known = scratch.cache.find_short(key, set); known != 0) return known;
    const std::size_t counted = model.count(piece, scratch.model);
    scratch.cache.put_short(key, set, counted);
    return static_cast<Tokens>(counted);
  }
  if (piece.size() > PieceCache::longest_long) return static_cast<Tokens>(model.count(piece, scratch.model));
  const std::uint64_t hash = PieceCache::hash_of(piece);
  if (const unsigned known = scratch.cache.find_long(piece, hash); known != 0) return known;
  const std::size_t counted = model.count(piece, scratch.model);
  scratch.cache.put_long(piece, hash, counted);
  return static_cast<Tokens>(counted);
}

// Two passes, so that cache lines are prefetched while keys are computed.
Tokens Tokenizer::Impl::count_batch(std::string_view text, std::size_t begin,
                                    std::span<const std::size_t> ends, Scratch& scratch) const {
  std::array<PieceCache::Key, count::PieceWalk::batch> keys;
  std::array<std::uint32_t, count::PieceWalk::batch> sets;
  const std::size_t readable =
      text.size() < 16 ? 0 : text.size() - 16;  // last position where 16 bytes can be read
  std::size_t quick = 0;
  for (std::size_t at = begin; quick < ends.size() && at <= readable && readable != 0; ++quick) {
    keys[quick] = PieceCache::key_of(text.data() + at, ends[quick] - at);
    sets[quick] = static_cast<std::uint32_t>(PieceCache::set_of(keys[quick]));
    scratch.cache.prefetch(sets[quick]);
    at = ends[quick];
  }
  Tokens total = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const unsigned known = i < quick ? scratch.cache.find_short(keys[i], sets[i]) : 0;
    total += known != 0 ? known : count_piece(text.substr(begin, ends[i] - begin), scratch);
    begin = ends[i];
  }
  return total;
}

Tokens Tokenizer::Impl::count_pieces_of(std::string_view text, Tokens limit, Scratch& scratch) const {
  count::PieceWalk walk(pre, scratch.classes, text);
  Tokens total = 0;
  for (std::size_t begin = 0; total <= limit; begin = walk.position()) {
    const auto ends = walk.next();
    if (ends.empty()) break;
    total += count_batch(text, begin, ends, scratch);
  }
  return total;
}

Tokens Tokenizer::Impl::count(std::string_view text, Specials specials, Tokens limit, count::Place place,
                              Scratch& scratch) const {
  Tokens total = 0;
  each_segment(text, specials, [&](const Segment& segment) {
    if (segment.added != no_token) {
      ++total;
    } else {
      const std::string_view part = text.substr(segment.begin, segment.end - segment.begin);
      const std::string_view cut =
          count::normalize(compiled.config.normalizer, part,
                           segment.begin == 0 ? place : count::Place::segment_front, scratch.normalized);
      total += count_pieces_of(cut, limit == no_limit ? no_limit : limit - total, scratch);
    }
    return total <= limit;
  });
  return total;
}

std::vector<count::Placed> Tokenizer::Impl::encode(std::string_view text, Specials specials) const {
  Borrowed scratch(*this);
  std::vector<count::Placed> tokens;
  each_segment(text, specials, [&](const Segment& segment) {
    if (segment.added != no_token) {
      tokens.push_back({compiled.added[segment.added].id, segment.end});
      return true;
    }
    const count::Place place = segment.begin == 0 ? count::Place::text_front : count::Place::segment_front;
    const std::string_view part = text.substr(segment.begin, segment.end - segment.begin);
    const std::string_view cut =
        count::normalize(compiled.config.normalizer, part, place, (*scratch).normalized);
    const std::size_t first_token = tokens.size();
    count::PieceWalk walk(pre, (*scratch).classes, cut);
    std::size_t begin = 0;
    for (auto ends = walk.next(); !ends.empty(); ends = walk.next()) {
      for (const std::size_t end : ends) {
        model.encode(cut.substr(begin, end - begin), begin, (*scratch).model, tokens);
        begin = end;
      }
    }
    if (cut.data() == part.data() && cut.size() == part.size()) {
      for (std::size_t i = first_token; i < tokens.size(); ++i) tokens[i].end += segment.begin;
    } else {
      const count::Alignment alignment(compiled.config.normalizer, part, place);
      for (std::size_t i = first_token; i < tokens.size(); ++i)
        tokens[i].end = segment.begin + alignment.original(tokens[i].end);
    }
    return true;
  });
  return tokens;
}

// ---- The façade ----

Result<Tokenizer> Tokenizer::open(const std::filesystem::path& path) {
  TRY(auto file, base::MappedFile::open(path));
  file.expect_few_pages();
  auto impl = std::make_shared<Impl>(std::move(file));
  auto compiled = count::view_compiled(impl->file.text());
  if (!compiled) return fail(compiled.error().code, "{}: {}", path.string(), compiled.error().what);
  impl->file.give_pages_back();  // the check has read all pages
  impl->compiled = *compiled;
  TRY(impl->info, count::info_from_json(impl->compiled.info));
  impl->model = count::Model(impl->compiled);
  impl->finder = count::AddedFinder(impl->compiled);
  impl->pre.splitter = impl->compiled.config.splitter;
  if (impl->pre.splitter == count::Splitter::seams) {
    if (impl->compiled.seams.size() != count::Seams::words)
      return fail(Errc::damaged, "{}: the seams table is missing", path.string());
    impl->pre.seams = count::Seams(impl->compiled.seams.first<count::Seams::words>());
  }
  if (impl->pre.splitter == count::Splitter::regex) {
    TRY(const auto steps, count::steps_from_json(impl->compiled.split_steps));
    TRY(impl->pre.regex, count::RegexSplitter::make(steps));
  }
  return Tokenizer(std::move(impl));
}

const TokenizerInfo& Tokenizer::info() const {
  return impl_->info;
}

Tokens Tokenizer::count(std::string_view text, Specials specials) const {
  Impl::Borrowed scratch(*impl_);
  return impl_->count(text, specials, Impl::no_limit, count::Place::text_front, *scratch);
}

Tokens Tokenizer::count_up_to(std::string_view text, Tokens limit, Specials specials) const {
  if (limit < 0) return 0;
  Impl::Borrowed scratch(*impl_);
  return std::min(impl_->count(text, specials, limit, count::Place::text_front, *scratch), limit + 1);
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, Specials specials) const {
  std::vector<TokenId> ids;
  for (const count::Placed& token : impl_->encode(text, specials)) ids.push_back(token.id);
  return ids;
}

std::vector<std::size_t> Tokenizer::token_ends(std::string_view text, Specials specials) const {
  std::vector<std::size_t> ends;
  for (const count::Placed& token : impl_->encode(text, specials)) ends.push_back(token.end);
  return ends;
}

Result<std::string> Tokenizer::decode(std::span<const TokenId> ids) const {
  std::string text;
  const auto& compiled = impl_->compiled;
  for (const TokenId id : ids) {
    if (id < compiled.numbers.size() && compiled.numbers[id] != no_token) {
      text += compiled.token(compiled.numbers[id]);
      continue;
    }
    const auto byte = std::ranges::find(compiled.config.byte_tokens, static_cast<std::int64_t>(id));
    const auto added = std::ranges::find(compiled.added, id, &count::CompiledAdded::id);
    if (byte != std::end(compiled.config.byte_tokens))
      text += static_cast<char>(byte - std::begin(compiled.config.byte_tokens));
    else if (added != compiled.added.end())
      text += compiled.added_text(static_cast<std::size_t>(added - compiled.added.begin()));
    else if (static_cast<std::int64_t>(id) == compiled.config.unknown)
      text += "\xEF\xBF\xBD";  // text that is not in the vocabulary
    else
      return fail(Errc::not_found, "the tokenizer '{}' has no token with id {}", impl_->info.name, id);
  }
  return text;
}

std::vector<Tokens> Tokenizer::count_pieces(std::string_view text, std::span<const std::size_t> ends,
                                            Specials specials) const {
  std::vector<Tokens> counts(ends.size(), 0);
  if (ends.empty()) return counts;
  std::size_t piece = 0;
  std::size_t begin = 0;
  for (const count::Placed& token : impl_->encode(text, specials)) {
    while (piece + 1 < ends.size() && begin >= ends[piece]) ++piece;
    ++counts[piece];
    begin = token.end;
  }
  return counts;
}

}  // namespace plimsoll

#include "count/chat/chat_segments.hpp"

#include <algorithm>

#include "count/tokenizer_impl.hpp"

namespace plimsoll::count {
namespace {

// Finds special tokens in a rendered text, from left to right.
class Finder {
 public:
  Finder(const Tokenizer::Impl& impl, const Rendered& rendered, Specials specials)
      : impl_(impl), rendered_(rendered), specials_(specials) {}

  // Returns the next added token at or after `at`; begin == text.size(): none.
  AddedMatch next(std::size_t at) {
    if (specials_ == Specials::parsed) return impl_.finder.find(rendered_.text, at, Specials::parsed);
    if (!known_ || template_.begin < at) template_ = next_of_template(at);
    if (!known_ || always_.begin < at) always_ = impl_.finder.find(rendered_.text, at, Specials::plain);
    known_ = true;
    return template_.begin <= always_.begin ? template_ : always_;
  }

 private:
  // Returns the next special token in the template's own text.
  AddedMatch next_of_template(std::size_t at) const {
    const std::string_view text = rendered_.text;
    for (std::size_t from = at; from < text.size();) {
      const AddedMatch match = impl_.finder.find(text, from, Specials::parsed);
      if (match.index == no_token) break;
      const std::string_view token = impl_.compiled.added_text(match.index);
      const std::size_t begin = text.find(token, match.begin);  // after the white space that it may strip
      if (begin == std::string_view::npos || impl_.compiled.added[match.index].special == 0 ||
          of_template(begin, begin + token.size()))
        return match;
      from = std::max(from, begin) + 1;
    }
    return {text.size(), text.size(), no_token};
  }

  bool of_template(std::size_t begin, std::size_t end) const {
    const auto part = std::ranges::upper_bound(rendered_.parts, begin, {}, &RenderedPart::end);
    return part != rendered_.parts.end() && part->origin == RenderedPart::of_template && end <= part->end;
  }

  const Tokenizer::Impl& impl_;
  const Rendered& rendered_;
  Specials specials_;
  bool known_ = false;
  AddedMatch template_{}, always_{};
};

// Adds up the tokens of each part.
class Sums {
 public:
  Sums(const Rendered& rendered, std::size_t origins)
      : parts_(rendered.parts),
        following_(parts_.size(), none),
        counts_{std::vector<Tokens>(origins + 1, 0), std::vector<Tokens>(origins, 0)} {
    std::size_t next = none;
    for (std::size_t i = parts_.size(); i-- > 0;) {
      if (parts_[i].origin != RenderedPart::of_template) next = static_cast<std::size_t>(parts_[i].origin);
      following_[i] = next;
    }
    // The start of the text belongs to no message.
    for (std::size_t i = 0; i < parts_.size() && parts_[i].origin == RenderedPart::of_template; ++i)
      following_[i] = none;
  }

  std::size_t part_at(std::size_t byte) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(parts_, byte, {}, &RenderedPart::end) -
                                    parts_.begin());
  }
  std::size_t end_of(std::size_t part) const { return parts_[part].end; }

  void add(std::size_t part, Tokens tokens) {
    const int origin = parts_[part].origin;
    counts_.by_origin[static_cast<std::size_t>(origin) + 1] += tokens;
    if (origin == RenderedPart::of_template && following_[part] != none)
      counts_.before_origin[following_[part]] += tokens;
  }

  PartCounts take() { return std::move(counts_); }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  const std::vector<RenderedPart>& parts_;
  std::vector<std::size_t> following_;
  PartCounts counts_;
};

// Counts the text of [begin, end), which has no special token, for its parts.
void count_between(const Tokenizer& tokenizer, const Rendered& rendered, std::size_t begin, std::size_t end,
                   Tokenizer::Impl::Scratch& scratch, Sums& sums) {
  const std::string_view text = std::string_view(rendered.text).substr(begin, end - begin);
  const Tokens total = tokenizer.impl().count(text, Specials::plain, Tokenizer::Impl::no_limit,
                                              begin == 0 ? Place::text_front : Place::segment_front, scratch);
  const std::size_t first = sums.part_at(begin);
  if (sums.end_of(first) >= end) {
    sums.add(first, total);
    return;
  }
  std::vector<std::size_t> ends;
  for (std::size_t part = first; sums.end_of(part) < end; ++part) ends.push_back(sums.end_of(part) - begin);
  ends.push_back(text.size());
  std::vector<Tokens> pieces = tokenizer.count_pieces(text, ends, Specials::plain);
  Tokens sum = 0;
  for (const Tokens piece : pieces) sum += piece;
  // A prefix that is only added at the start of a sequence.
  if (sum != total) *std::ranges::max_element(pieces) += total - sum;
  for (std::size_t i = 0; i < pieces.size(); ++i) sums.add(first + i, pieces[i]);
}

}  // namespace

PartCounts count_parts(const Tokenizer& tokenizer, const Rendered& rendered, std::size_t origins,
                       Specials specials) {
  Sums sums(rendered, origins);
  Tokenizer::Impl::Borrowed scratch(tokenizer.impl());
  Finder finder(tokenizer.impl(), rendered, specials);
  for (std::size_t at = 0; at < rendered.text.size();) {
    const AddedMatch match = finder.next(at);
    if (match.begin > at) count_between(tokenizer, rendered, at, match.begin, *scratch, sums);
    if (match.index == no_token) break;
    sums.add(sums.part_at(match.begin), 1);
    at = match.end;
  }
  return sums.take();
}

}  // namespace plimsoll::count

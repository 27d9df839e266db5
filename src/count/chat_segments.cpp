#include "count/chat_segments.hpp"

#include <algorithm>

#include "count/tokenizer_impl.hpp"

namespace plimsoll::count {
namespace {

// Where special tokens may be taken from a rendered text, from left to right.
class Finder {
 public:
  Finder(const Tokenizer::Impl& impl, const Rendered& rendered, Specials specials)
      : impl_(impl), rendered_(rendered), specials_(specials) {}

  // The next added token at or after `at`; begin == text.size(): none.
  AddedMatch next(std::size_t at) {
    if (specials_ == Specials::parsed) return impl_.finder.find(rendered_.text, at, Specials::parsed);
    if (!known_ || template_.begin < at) template_ = next_of_template(at);
    if (!known_ || always_.begin < at) always_ = impl_.finder.find(rendered_.text, at, Specials::plain);
    known_ = true;
    return template_.begin <= always_.begin ? template_ : always_;
  }

 private:
  // The next special token whose bytes the template wrote.
  AddedMatch next_of_template(std::size_t at) const {
    const std::string_view text = rendered_.text;
    for (std::size_t from = at; from < text.size();) {
      const AddedMatch match = impl_.finder.find(text, from, Specials::parsed);
      if (match.index == no_token) break;
      const std::string_view token = impl_.compiled.added_text(match.index);
      const std::size_t begin = text.find(token, match.begin);  // behind the white space it may strip
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

// Adds the text of [begin, end), which holds no special token, to the parts it lies in.
void count_between(const Tokenizer& tokenizer, const Rendered& rendered, std::size_t begin, std::size_t end,
                   Tokenizer::Impl::Scratch& scratch, std::vector<Tokens>& counts) {
  const std::string_view text = std::string_view(rendered.text).substr(begin, end - begin);
  const Tokens total = tokenizer.impl().count(text, Specials::plain, Tokenizer::Impl::no_limit,
                                              begin == 0 ? Place::text_front : Place::segment_front, scratch);
  auto part = std::ranges::upper_bound(rendered.parts, begin, {}, &RenderedPart::end);
  const auto slot = [](const RenderedPart& of) { return static_cast<std::size_t>(of.origin) + 1; };
  if (part->end >= end) {
    counts[slot(*part)] += total;
    return;
  }
  std::vector<std::size_t> ends;
  const auto first = part;
  for (; part->end < end; ++part) ends.push_back(part->end - begin);
  ends.push_back(text.size());
  std::vector<Tokens> pieces = tokenizer.count_pieces(text, ends, Specials::plain);
  Tokens sum = 0;
  for (const Tokens piece : pieces) sum += piece;
  // A prefix that only the start of a sequence gets.
  if (sum != total) *std::ranges::max_element(pieces) += total - sum;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    counts[slot(first[static_cast<std::ptrdiff_t>(i)])] += pieces[i];
}

}  // namespace

std::vector<Tokens> count_parts(const Tokenizer& tokenizer, const Rendered& rendered, std::size_t origins,
                                Specials specials) {
  std::vector<Tokens> counts(origins + 1, 0);
  Tokenizer::Impl::Borrowed scratch(tokenizer.impl());
  Finder finder(tokenizer.impl(), rendered, specials);
  for (std::size_t at = 0; at < rendered.text.size();) {
    const AddedMatch match = finder.next(at);
    if (match.begin > at) count_between(tokenizer, rendered, at, match.begin, *scratch, counts);
    if (match.index == no_token) break;
    const auto part = std::ranges::upper_bound(rendered.parts, match.begin, {}, &RenderedPart::end);
    counts[static_cast<std::size_t>(part->origin) + 1] += 1;  // -1 is the format itself
    at = match.end;
  }
  return counts;
}

}  // namespace plimsoll::count

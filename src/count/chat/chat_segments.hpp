// Counts a rendered chat by parts: special tokens of the template are always parsed, those in the
// request's own text only if the policy says so.
#pragma once

#include <vector>

#include "count/chat/jinja.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll::count {

struct PartCounts {
  // [0]: the template, [1 + i]: origin i. The sum is the count of the whole text.
  std::vector<Tokens> by_origin;
  // Template tokens between origin i and the previous origin.
  std::vector<Tokens> before_origin;
};

// A token belongs to the part of its first byte.
//
// With Specials::plain special tokens are found only in the template's own text. The text between two
// of them is tokenised as one: servers that distinguish literals from tokens do so by
// ids, and still merge "user\n" with the text after it.
PartCounts count_parts(const Tokenizer& tokenizer, const Rendered& rendered, std::size_t origins,
                       Specials specials);

}  // namespace plimsoll::count

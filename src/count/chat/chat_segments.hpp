// Counts a rendered chat by its parts: the template's special tokens are the tokens they name, those
// in the request's own text only where the policy says so.
#pragma once

#include <vector>

#include "count/chat/jinja.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll::count {

struct PartCounts {
  // [0] the template's, [1 + i] those of origin i. Together what the whole text counts.
  std::vector<Tokens> by_origin;
  // Of the template's, those between origin i and the origin that was written before it.
  std::vector<Tokens> before_origin;
};

// A token belongs to the part that its first byte lies in.
//
// Under Specials::plain a special token is found only in the template's own text. The text between two
// of them is tokenised as one, whoever wrote it: servers that keep literals apart from tokens do so by
// the ids, and still merge "user\n" with what follows it.
PartCounts count_parts(const Tokenizer& tokenizer, const Rendered& rendered, std::size_t origins,
                       Specials specials);

}  // namespace plimsoll::count

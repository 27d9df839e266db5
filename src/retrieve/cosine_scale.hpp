// Makes cosines of different embedders comparable.
#pragma once

#include <string_view>

namespace plimsoll::retrieve {

// Limits of relevance and of the check of answers are made for all-minilm-l6-v2, whose unrelated texts have a
// cosine near 0. Other embedders have other ranges: multilingual-e5-small puts everything above 0.7.
struct CosineScale {
  float factor = 1;
  float shift = 0;

  float operator()(float cosine) const { return factor * cosine + shift; }
};

// Of a question and a text. `embedder`: its name; an unknown one is not scaled. docs/search.md says how the
// figures were found.
constexpr CosineScale cosine_scale_of(std::string_view embedder) {
  if (embedder == "multilingual-e5-small") return {.factor = 4.1F, .shift = -2.95F};
  return {};
}

// Of two texts: they are a little closer than a question and a text.
constexpr CosineScale text_cosine_scale_of(std::string_view embedder) {
  if (embedder == "multilingual-e5-small") return {.factor = 4.1F, .shift = -3.07F};
  return {};
}

}  // namespace plimsoll::retrieve

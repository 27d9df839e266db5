// Maps bytes of a normalised text to the original text. Only built if normalisation changed
// something and positions are needed, not only counts.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "count/vocabulary/definition.hpp"

namespace plimsoll::count {

class Alignment {
 public:
  Alignment(const Normalizer& normalizer, std::string_view text, Place place);

  // Returns the position in the text if both the text and its normal form can be divided here.
  std::optional<std::size_t> border(std::size_t normalized) const;

  // Returns the position in the text that corresponds to the first `normalized` bytes of its normal form.
  std::size_t original(std::size_t normalized) const;

 private:
  struct Step {
    std::size_t normalized, original;  // both end here
  };
  std::vector<Step> steps_;
};

}  // namespace plimsoll::count

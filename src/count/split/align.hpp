// Which byte of a text a byte of its normalised form came from. Only made where normalising changed
// something and somebody asks for places, not counts.
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

  // Whether text and normal form can both be cut here, and where the text.
  std::optional<std::size_t> border(std::size_t normalized) const;

  // The end, in the text, of what the first `normalized` bytes of its normal form stand for.
  std::size_t original(std::size_t normalized) const;

 private:
  struct Step {
    std::size_t normalized, original;  // both end here
  };
  std::vector<Step> steps_;
};

}  // namespace plimsoll::count

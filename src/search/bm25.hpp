// BM25 with integer arithmetic, so that the order of additions does not matter.
//
// A posting's contribution is rounded to an integer number of small units; integer sums do not depend on
// order, so the search that skips blocks gives exactly the same result as the full search, including ties.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/text/bm25.hpp"

namespace plimsoll::search {

using base::bm25_b;
using base::bm25_k1;
using base::idf_of;

// Length normalisation: linear, relative to the average.
struct LengthNorm {
  float base = 0, slope = 0;

  static LengthNorm of(double average) {
    return {bm25_k1 * (1 - bm25_b), static_cast<float>(bm25_k1 * bm25_b / average)};
  }
  float at(float length) const { return base + slope * length; }
};

// Returns the share of a term's weight for a posting, between 0 and 1.
inline float share_of(float count, float norm) {
  return count / (count + norm);
}

// The same from a table for common values: a division costs several times as much.
class Shares {
 public:
  explicit Shares(double average) : norm_(LengthNorm::of(average)) {
    for (std::size_t count = 1; count <= counts; ++count)
      for (std::size_t length = 0; length < lengths; ++length)
        table_[(count - 1) * lengths + length] = reckoned(static_cast<std::uint32_t>(count), length);
  }

  float at(std::uint32_t count, std::size_t length) const {
    if (count <= counts && length < lengths) [[likely]]
      return table_[(count - 1) * lengths + length];
    return reckoned(count, length);
  }

 private:
  static constexpr std::size_t counts = 8, lengths = 512;

  float reckoned(std::uint32_t count, std::size_t length) const {
    return share_of(static_cast<float>(count), norm_.at(static_cast<float>(length)));
  }

  LengthNorm norm_;
  std::array<float, counts * lengths> table_{};
};

using Units = std::uint32_t;

// Returns the units per score for a query whose terms weigh at most `most` together: a power of two
// that keeps the sum below 2^31.
inline float units_for(float most) {
  return std::ldexp(1.0F, 30 - std::ilogb(std::max(most, 1e-3F) * 1.01F));
}

inline Units units_of(float weight_in_units, float share) {
  return std::max<Units>(1, static_cast<Units>(static_cast<std::int32_t>(weight_in_units * share)));
}

}  // namespace plimsoll::search

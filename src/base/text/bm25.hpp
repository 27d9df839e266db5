// The parameters of BM25, the same for every index.
#pragma once

#include <cmath>
#include <cstdint>

namespace plimsoll::base {

inline constexpr float bm25_k1 = 1.2F;
inline constexpr float bm25_b = 0.75F;

inline float idf_of(std::uint64_t chunks, std::uint64_t with_term) {
  const double all = static_cast<double>(chunks);
  const double with = static_cast<double>(with_term);
  return static_cast<float>(std::log1p((all - with + 0.5) / (with + 0.5)));
}

}  // namespace plimsoll::base

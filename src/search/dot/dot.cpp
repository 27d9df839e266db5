#include "search/dot/dot.hpp"

#include <array>
#include <vector>

namespace plimsoll::search {

namespace {

// Sixteen independent sums, which the compiler vectorises for the baseline CPU.
template <typename B>
float dot_portable(const Bf16* a, const B* b, std::size_t dimensions) {
  constexpr std::size_t lanes = 16;
  const auto value = [&](std::size_t i) {
    if constexpr (sizeof(B) == sizeof(Bf16))
      return to_float(b[i]);
    else
      return b[i];
  };
  std::array<float, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= dimensions; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += to_float(a[i + lane]) * value(i + lane);
  float sum = 0;
  for (; i < dimensions; ++i) sum += to_float(a[i]) * value(i);
  for (const float one : sums) sum += one;
  return sum;
}

std::vector<NamedDot> find_dots() {
  std::vector<NamedDot> found{{"portable", dot_portable<float>, dot_portable<Bf16>}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    found.push_back({"avx2", dot_avx2, dot_both_avx2});
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
    found.push_back({"avx512", dot_avx512, dot_both_avx512});
#endif
  return found;
}

}  // namespace

std::span<const NamedDot> all_dots() {
  static const std::vector<NamedDot> dots = find_dots();
  return dots;
}

}  // namespace plimsoll::search

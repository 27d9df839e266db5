#include "count/split/classify.hpp"

#include "count/split/unicode.hpp"

namespace plimsoll::count {

namespace {

std::vector<NamedClassify> find_classifiers() {
  std::vector<NamedClassify> found{{"portable", classify_portable}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) found.push_back({"avx2", classify_avx2});
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi"))
    found.push_back({"avx512", classify_avx512});
#elif defined(__aarch64__)
  found.push_back({"neon", classify_neon});
#endif
  return found;
}

}  // namespace

ClassTable ClassTable::of(const std::array<std::uint8_t, 64>& by_category) {
  ClassTable table;
  table.by_category = by_category;
  for (char32_t c = 0; c < 128; ++c) {
    table.ascii[c] = by_category[category_of(c)];
    if (c == '\r' || c == '\n') table.ascii[c] |= cls::newline;
  }
  return table;
}

void Classes::reserve(std::size_t size) {
  const std::size_t wanted = size / 64 + 4;
  if (words.size() >= wanted) return;
  bytes.resize(wanted * 64);
  words.resize(wanted);
}

std::span<const NamedClassify> all_classifiers() {
  static const std::vector<NamedClassify> classifiers = find_classifiers();
  return classifiers;
}

Classify classify() {
  return all_classifiers().back().run;
}

}  // namespace plimsoll::count

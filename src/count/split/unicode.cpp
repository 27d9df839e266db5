#include "count/split/unicode.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace plimsoll::count {
namespace {

struct CategoryRange {
  char32_t first;
  Category category;
};
constexpr CategoryRange category_ranges[] = {
#include "count/split/unicode_ranges.inc"
};

std::uint8_t search(char32_t code_point) {
  const auto* above = std::ranges::upper_bound(category_ranges, code_point, {}, &CategoryRange::first);
  return std::prev(above)->category;
}

bool in_cjk_range(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FA5) || (c >= 0x3040 && c <= 0x30FF);
}

std::vector<std::uint8_t> make_flat_categories() {
  std::vector<std::uint8_t> flat(flat_limit);
  for (const CategoryRange* range = std::begin(category_ranges);
       range != std::end(category_ranges) && range->first < flat_limit; ++range) {
    const CategoryRange* next = range + 1;
    const char32_t last = next == std::end(category_ranges) ? flat_limit : std::min(next->first, flat_limit);
    std::fill(flat.begin() + range->first, flat.begin() + last, range->category);
  }
  for (char32_t c = 0x3040; c <= 0x9FA5; ++c) {
    if (in_cjk_range(c)) flat[c] |= cjk;
  }
  return flat;
}

}  // namespace

const std::uint8_t* flat_categories() {
  static const std::vector<std::uint8_t> flat = make_flat_categories();
  return flat.data();
}

std::uint8_t category_of(char32_t code_point) {
  return code_point < flat_limit ? flat_categories()[code_point] : search(code_point);
}

std::size_t incomplete_tail(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto c = static_cast<unsigned char>(text[text.size() - back]);
    if ((c & 0xC0) == 0x80) continue;
    const std::size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace plimsoll::count

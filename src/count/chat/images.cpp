#include "count/chat/images.hpp"

#include <algorithm>
#include <cmath>

namespace plimsoll::count {
namespace {

constexpr std::int64_t largest_side = 1 << 20;  // larger than any real image; avoids overflow

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Shrinks so that no side exceeds its maximum; keeps the ratio.
ImageSize fit(ImageSize size, double most_width, double most_height) {
  const double scale = std::min(
      {1.0, most_width / static_cast<double>(size.width), most_height / static_cast<double>(size.height)});
  return {std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(size.width) * scale)),
          std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(size.height) * scale))};
}

// OpenAI's tiles: into 2048 x 2048, then the shorter side to 768, then squares of 512.
Tokens tile_tokens(const ImageRule& rule, ImageSize size, Detail detail) {
  if (detail == Detail::low) return rule.base;
  size = fit(size, 2048, 2048);
  if (const std::int64_t shorter = std::min(size.width, size.height); shorter > 768) {
    const double scale = 768.0 / static_cast<double>(shorter);
    size = {static_cast<std::int64_t>(std::lround(static_cast<double>(size.width) * scale)),
            static_cast<std::int64_t>(std::lround(static_cast<double>(size.height) * scale))};
  }
  return rule.base + rule.each * ceil_div(size.width, 512) * ceil_div(size.height, 512);
}

// OpenAI's patches of 32: shrunk to at most 1536 of them, so that a whole number fills the width or height.
Tokens patch_tokens(const ImageRule& rule, ImageSize size) {
  constexpr double side = 32, most = 1536;
  std::int64_t patches = ceil_div(size.width, 32) * ceil_div(size.height, 32);
  if (patches > static_cast<std::int64_t>(most)) {
    const double width = static_cast<double>(size.width), height = static_cast<double>(size.height);
    const double shrink = std::sqrt(side * side * most / (width * height));
    const double across = width * shrink / side, down = height * shrink / side;
    const double whole = shrink * std::min(std::floor(across) / across, std::floor(down) / down);
    const double scale = whole > 0 ? whole : shrink;
    patches = std::min(static_cast<std::int64_t>(most),
                       ceil_div(static_cast<std::int64_t>(width * scale), 32) *
                           ceil_div(static_cast<std::int64_t>(height * scale), 32));
  }
  return static_cast<Tokens>(
      std::ceil(static_cast<double>(std::max<std::int64_t>(1, patches)) * rule.factor - 1e-9));
}

// Anthropic's: within 1568 a side and about 1600 tokens, then width x height / 750.
Tokens area_tokens(ImageSize size) {
  constexpr double most_area = 1600.0 * 750;
  size = fit(size, 1568, 1568);
  const double area = static_cast<double>(size.width) * static_cast<double>(size.height);
  return static_cast<Tokens>(std::ceil(std::min(area, most_area) / 750));
}

// Gemini's: 258 for a small image; larger ones are cut into tiles whose side is two thirds of the shorter
// side, between 256 and 768, each 258. Its servers keep 3072 a side.
Tokens gemini_tokens(ImageSize size) {
  constexpr Tokens each = 258;
  if (size.width <= 384 && size.height <= 384) return each;
  size = fit(size, 3072, 3072);
  const std::int64_t tile = std::clamp<std::int64_t>(std::min(size.width, size.height) * 2 / 3, 256, 768);
  return each * ceil_div(size.width, tile) * ceil_div(size.height, tile);
}

// Qwen2-VL's and Qwen2.5-VL's: sides rounded to 28, between 4 and 16384 squares, one token a square.
Tokens grid_tokens(ImageSize size) {
  constexpr double side = 28, least = 4 * side * side, most = 16384 * side * side;
  const double width = static_cast<double>(size.width), height = static_cast<double>(size.height);
  double across = std::max(1.0, std::nearbyint(width / side)),
         down = std::max(1.0, std::nearbyint(height / side));
  if (across * down * side * side > most) {
    const double shrink = std::sqrt(width * height / most);
    across = std::max(1.0, std::floor(width / shrink / side));
    down = std::max(1.0, std::floor(height / shrink / side));
  } else if (across * down * side * side < least) {
    const double stretch = std::sqrt(least / (width * height));
    across = std::ceil(width * stretch / side);
    down = std::ceil(height * stretch / side);
  }
  return static_cast<Tokens>(
      std::min(across * down, most / side / side));  // the model refuses ratios above 1:200
}

// Pixtral's: within 1024 a side, patches of 16, and at the end of each row a break, or the end mark.
Tokens row_tokens(ImageSize size) {
  constexpr double most = 1024;
  const double ratio =
      std::max(static_cast<double>(size.width) / most, static_cast<double>(size.height) / most);
  if (ratio > 1) {
    size = {std::max<std::int64_t>(
                1, static_cast<std::int64_t>(std::nearbyint(static_cast<double>(size.width) / ratio))),
            std::max<std::int64_t>(
                1, static_cast<std::int64_t>(std::nearbyint(static_cast<double>(size.height) / ratio)))};
  }
  return (ceil_div(size.width, 16) + 1) * ceil_div(size.height, 16);
}

constexpr ImageRule rules[] = {
    {.name = "openai-gpt-4o", .method = ImageMethod::tiles, .base = 85, .each = 170},
    {.name = "openai-gpt-4o-mini", .method = ImageMethod::tiles, .base = 2833, .each = 5667},
    {.name = "openai-o1", .method = ImageMethod::tiles, .base = 75, .each = 150},
    {.name = "openai-gpt-5", .method = ImageMethod::tiles, .base = 70, .each = 140},
    {.name = "openai-computer-use", .method = ImageMethod::tiles, .base = 65, .each = 129},
    {.name = "openai-gpt-4.1-mini", .method = ImageMethod::patches, .factor = 1.62},
    {.name = "openai-gpt-4.1-nano", .method = ImageMethod::patches, .factor = 2.46},
    {.name = "openai-o4-mini", .method = ImageMethod::patches, .factor = 1.72},
    {.name = "openai-gpt-5-mini", .method = ImageMethod::patches, .factor = 1.62},
    {.name = "openai-gpt-5-nano", .method = ImageMethod::patches, .factor = 2.46},
    {.name = "anthropic", .method = ImageMethod::area, .exactness = Exactness::calibrated},
    {.name = "gemini", .method = ImageMethod::gemini, .exactness = Exactness::calibrated},
    {.name = "gemma3", .method = ImageMethod::flat, .base = 256, .wrapper = 4},  // two marks, two blank lines
    {.name = "qwen2-vl", .method = ImageMethod::grid, .wrapper = 2},
    {.name = "ollama", .method = ImageMethod::flat, .base = 768, .exactness = Exactness::calibrated},
    {.name = "pixtral", .method = ImageMethod::rows},
};

}  // namespace

std::span<const ImageRule> all_image_rules() {
  return rules;
}

const ImageRule* find_image_rule(std::string_view name) {
  const auto* const found = std::ranges::find(rules, name, &ImageRule::name);
  return found == std::end(rules) ? nullptr : found;
}

Tokens image_tokens(const ImageRule& rule, ImageSize size, Detail detail) {
  size = {std::clamp<std::int64_t>(size.width, 1, largest_side),
          std::clamp<std::int64_t>(size.height, 1, largest_side)};
  switch (rule.method) {
    case ImageMethod::tiles: return tile_tokens(rule, size, detail);
    case ImageMethod::patches: return patch_tokens(rule, size);
    case ImageMethod::area: return area_tokens(size);
    case ImageMethod::gemini: return gemini_tokens(size);
    case ImageMethod::flat: return rule.base;
    case ImageMethod::grid: return grid_tokens(size);
    case ImageMethod::rows: return row_tokens(size);
  }
  return rule.base;
}

Tokens most_image_tokens(const ImageRule& rule, Detail detail) {
  switch (rule.method) {
    case ImageMethod::tiles:
      return detail == Detail::low ? rule.base : rule.base + 8 * rule.each;  // 768 x 2048
    case ImageMethod::patches: return static_cast<Tokens>(std::ceil(1536 * rule.factor - 1e-9));
    case ImageMethod::area: return 1600;
    case ImageMethod::gemini: return 258 * 24;  // 3072 x 384, in tiles of 256
    case ImageMethod::flat: return rule.base;
    case ImageMethod::grid: return 16384;
    case ImageMethod::rows: return 65 * 64;
  }
  return rule.base;
}

}  // namespace plimsoll::count

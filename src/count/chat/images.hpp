// What an image costs, by each provider's published rule, from its size alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "plimsoll/tokens.hpp"

namespace plimsoll::count {

struct ImageSize {
  std::int64_t width = 0, height = 0;  // in pixels
};

enum class Detail : std::uint8_t { automatic, low, high };

// How a rule gets from a size to tokens; the numbers are in ImageRule.
enum class ImageMethod : std::uint8_t { tiles, patches, area, gemini, flat, grid, rows };

struct ImageRule {
  std::string_view name;
  ImageMethod method;
  Tokens base = 0;     // tiles: for the whole image, and all that low detail costs; flat: all
  Tokens each = 0;     // tiles: for each tile
  double factor = 1;   // patches: tokens for each patch
  Tokens wrapper = 0;  // marks that the format puts around an image
  Exactness exactness = Exactness::exact;  // of the published rule
};

std::span<const ImageRule> all_image_rules();
const ImageRule* find_image_rule(std::string_view name);

// Tokens of an image of this size, without the wrapper. At least 1; never overflows.
Tokens image_tokens(const ImageRule& rule, ImageSize size, Detail detail = Detail::automatic);

// The most that any image costs under the rule, for those whose size cannot be seen.
Tokens most_image_tokens(const ImageRule& rule, Detail detail = Detail::automatic);

// The size in the header of a PNG, JPEG, GIF or WebP, or nothing.
std::optional<ImageSize> read_image_size(std::string_view bytes);

// The size of the image in a data: URL; only its front is decoded. Nothing for any other URL.
std::optional<ImageSize> data_url_image_size(std::string_view url);

}  // namespace plimsoll::count

// Tokens of an image from its size, by each provider's published rule.
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

// The method of a rule; the numbers are in ImageRule.
enum class ImageMethod : std::uint8_t { tiles, patches, area, gemini, flat, grid, rows };

struct ImageRule {
  std::string_view name;
  ImageMethod method;
  Tokens base = 0;     // tiles: for the whole image, and the total for low detail; flat: total
  Tokens each = 0;     // tiles: for each tile
  double factor = 1;   // patches: tokens for each patch
  Tokens wrapper = 0;  // marks around an image
  Exactness exactness = Exactness::exact;  // of the published rule
};

std::span<const ImageRule> all_image_rules();
const ImageRule* find_image_rule(std::string_view name);

// Returns the tokens of an image of this size, without the wrapper. At least 1; never overflows.
Tokens image_tokens(const ImageRule& rule, ImageSize size, Detail detail = Detail::automatic);

// Returns the maximum of the rule, for images of unknown size.
Tokens most_image_tokens(const ImageRule& rule, Detail detail = Detail::automatic);

// Reads the size from the header of a PNG, JPEG, GIF or WebP; none: not found.
std::optional<ImageSize> read_image_size(std::string_view bytes);

// Reads the size of the image in a data: URL; decodes only its start. None for other URLs.
std::optional<ImageSize> data_url_image_size(std::string_view url);

}  // namespace plimsoll::count

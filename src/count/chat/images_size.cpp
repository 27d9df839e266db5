// Reads sizes of images from the first bytes of their files.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "count/chat/images.hpp"

namespace plimsoll::count {
namespace {

// A JPEG's size can be after previews and colour profiles; half a megabyte is enough.
constexpr std::size_t front_bytes = std::size_t{512} << 10;

std::int64_t big(std::string_view bytes, std::size_t at, std::size_t length) {
  std::int64_t number = 0;
  for (std::size_t i = 0; i < length; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

std::int64_t little(std::string_view bytes, std::size_t at, std::size_t length) {
  std::int64_t number = 0;
  for (std::size_t i = length; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

std::optional<ImageSize> sensible(std::int64_t width, std::int64_t height) {
  if (width <= 0 || height <= 0) return std::nullopt;
  return ImageSize{width, height};
}

std::optional<ImageSize> png_size(std::string_view bytes) {
  if (bytes.size() < 24 || bytes.substr(12, 4) != "IHDR") return std::nullopt;
  return sensible(big(bytes, 16, 4), big(bytes, 20, 4));
}

std::optional<ImageSize> gif_size(std::string_view bytes) {
  if (bytes.size() < 10) return std::nullopt;
  return sensible(little(bytes, 6, 2), little(bytes, 8, 2));
}

// Goes from marker to marker until one starts a frame.
std::optional<ImageSize> jpeg_size(std::string_view bytes) {
  for (std::size_t at = 2; at + 9 <= bytes.size();) {
    if (static_cast<unsigned char>(bytes[at]) != 0xff) return std::nullopt;
    const auto marker = static_cast<unsigned char>(bytes[at + 1]);
    if (marker == 0xff) {
      ++at;
      continue;
    }
    const bool frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame) return sensible(big(bytes, at + 7, 2), big(bytes, at + 5, 2));
    if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2;
      continue;
    }
    const std::int64_t length = big(bytes, at + 2, 2);
    if (marker == 0xd9 || marker == 0xda || length < 2) return std::nullopt;
    at += 2 + static_cast<std::size_t>(length);
  }
  return std::nullopt;
}

std::optional<ImageSize> webp_size(std::string_view bytes) {
  if (bytes.size() < 30) return std::nullopt;
  const std::string_view kind = bytes.substr(12, 4);
  if (kind == "VP8X") return sensible(little(bytes, 24, 3) + 1, little(bytes, 27, 3) + 1);
  if (kind == "VP8 " && bytes.substr(23, 3) == "\x9d\x01\x2a")
    return sensible(little(bytes, 26, 2) & 0x3fff, little(bytes, 28, 2) & 0x3fff);
  if (kind == "VP8L" && bytes[20] == 0x2f) {
    const std::int64_t bits = little(bytes, 21, 4);
    return sensible((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1);
  }
  return std::nullopt;
}

// Decodes at most front_bytes, up to the first character that is not base64.
std::string decode_base64_front(std::string_view text) {
  static constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text.substr(0, front_bytes / 3 * 4)) {
    if (c == '\n' || c == '\r' || c == ' ') continue;
    const std::size_t value = alphabet.find(c == '-' ? '+' : c == '_' ? '/' : c);
    if (value == std::string_view::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes;
}

}  // namespace

std::optional<ImageSize> read_image_size(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return png_size(bytes);
  if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return gif_size(bytes);
  if (bytes.starts_with("\xff\xd8\xff")) return jpeg_size(bytes);
  if (bytes.starts_with("RIFF") && bytes.size() > 12 && bytes.substr(8, 4) == "WEBP") return webp_size(bytes);
  return std::nullopt;
}

std::optional<ImageSize> data_url_image_size(std::string_view url) {
  if (!url.starts_with("data:")) return std::nullopt;
  const std::size_t comma = url.find(',');
  if (comma == std::string_view::npos || !url.substr(0, comma).ends_with(";base64")) return std::nullopt;
  return read_image_size(decode_base64_front(url.substr(comma + 1)));
}

}  // namespace plimsoll::count

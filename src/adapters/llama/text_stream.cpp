#include "adapters/llama/text_stream.hpp"

#include <algorithm>
#include <utility>

namespace plimsoll::llama {
namespace {

// Bytes at the end that are the beginning of a character.
std::size_t half_character(std::string_view text) {
  constexpr std::size_t longest = 4;
  for (std::size_t back = 1; back <= std::min(longest, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;  // inside of one
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}

// Bytes at the end that a stop word may begin with.
std::size_t begun_stop(std::string_view text, const std::vector<std::string>& stops) {
  std::size_t longest = 0;
  for (const std::string& stop : stops)
    for (std::size_t length = std::min(stop.size() - 1, text.size()); length > longest; --length)
      if (text.ends_with(std::string_view(stop).substr(0, length))) longest = length;
  return longest;
}

}  // namespace

std::string TextStream::add(std::string_view bytes) {
  if (stopped_) return {};
  held_ += bytes;
  // The stop word that is complete first; of two that end together, the longer one.
  std::size_t end = std::string::npos, complete = std::string::npos;
  for (const std::string& stop : stops_) {
    const std::size_t at = held_.find(stop);
    if (at == std::string::npos || std::pair(at + stop.size(), at) >= std::pair(complete, end)) continue;
    end = at;
    complete = at + stop.size();
  }
  stopped_ = end != std::string::npos;
  if (!stopped_) end = held_.size() - std::max(half_character(held_), begun_stop(held_, stops_));
  std::string told = held_.substr(0, end);
  held_.erase(0, stopped_ ? held_.size() : end);
  return told;
}

std::string TextStream::rest() {
  std::string told = std::exchange(held_, {});
  if (const std::size_t half = half_character(told); half > 0)
    told.replace(told.size() - half, half, "\xEF\xBF\xBD");
  return told;
}

}  // namespace plimsoll::llama

#include "count/split/align.hpp"

#include <algorithm>
#include <string>

#include "count/split/normalize.hpp"
#include "count/split/unicode.hpp"

namespace plimsoll::count {

Alignment::Alignment(const Normalizer& normalizer, std::string_view text, Place place) {
  // Works by clusters: a character and the following ones that may combine with it.
  Normalizer inner = normalizer;
  inner.prefix_space = inner.collapse_spaces = false;
  Normalizer with_prefix = normalizer;
  with_prefix.collapse_spaces = false;
  std::string storage;
  const std::string_view front = text.substr(0, text.empty() ? 0 : decode(text).length);
  std::size_t normalized = normalize(with_prefix, front, place, storage).size();
  normalized -= normalize(inner, front, place, storage).size();
  bool after_space = place != Place::inside;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + decode(text.substr(at)).length;
    while (end < text.size() && !stands_apart(inner, text.substr(end)))
      end += decode(text.substr(end)).length;
    for (const char c : normalize(inner, text.substr(at, end - at), Place::inside, storage)) {
      const bool is_dropped = normalizer.collapse_spaces && c == ' ' && after_space;
      normalized += is_dropped ? 0 : 1;
      after_space = c == ' ';
    }
    steps_.push_back({normalized, end});
    at = end;
  }
}

std::size_t Alignment::original(std::size_t normalized) const {
  const auto step = std::ranges::lower_bound(steps_, normalized, {}, &Step::normalized);
  return step == steps_.end() ? (steps_.empty() ? 0 : steps_.back().original) : step->original;
}

std::optional<std::size_t> Alignment::border(std::size_t normalized) const {
  const auto step = std::ranges::lower_bound(steps_, normalized, {}, &Step::normalized);
  if (step == steps_.end() || step->normalized != normalized) return std::nullopt;
  return step->original;
}

}  // namespace plimsoll::count

#include "plimsoll/document.hpp"

#include <algorithm>

namespace plimsoll {

Span source_span(const std::vector<Origin>& origins, Span of_text) {
  if (origins.empty()) return of_text;
  // The first range that ends after the start, and the last one that starts before the end.
  const auto first = std::partition_point(origins.begin(), origins.end(), [&](const Origin& origin) {
    return origin.text + origin.bytes <= of_text.start;
  });
  if (first == origins.end()) {
    const std::uint64_t end = origins.back().source + origins.back().bytes;
    return {end, end};
  }
  const std::uint64_t start = first->source + (std::max(of_text.start, first->text) - first->text);
  const auto after = std::partition_point(first, origins.end(),
                                          [&](const Origin& origin) { return origin.text < of_text.end; });
  if (after == first) return {start, start};
  const Origin& last = *(after - 1);
  const std::uint64_t end = last.source + std::min(of_text.end - last.text, last.bytes);
  return {start, std::max(start, end)};  // a reader may have reordered text
}

std::uint32_t page_at(const Chunk& chunk, std::uint64_t place) {
  const auto after = std::ranges::upper_bound(chunk.sentences, place, {},
                                              [](const Sentence& sentence) { return sentence.span.start; });
  return after == chunk.sentences.begin() ? chunk.page : chunk.page + (after - 1)->pages_on;
}

std::uint32_t section_at(const std::vector<DocumentSection>& sections, std::uint64_t place) {
  const auto after = std::ranges::upper_bound(
      sections, place, {}, [](const DocumentSection& section) { return section.span.start; });
  if (after == sections.begin()) return 0;
  auto section = static_cast<std::uint32_t>(after - sections.begin() - 1);
  while (section > 0 && sections[section].span.end <= place)
    section = std::min(sections[section].parent, section - 1);
  return section;
}

std::uint32_t common_section(const std::vector<DocumentSection>& sections, std::uint32_t a, std::uint32_t b) {
  while (a != b) {
    std::uint32_t& later = a > b ? a : b;
    later = std::min(sections[later].parent, later - 1);
  }
  return a;
}

std::string heading_path(const std::vector<DocumentSection>& sections, std::uint32_t section) {
  std::vector<std::string_view> titles;
  while (section < sections.size()) {
    if (!sections[section].title.empty()) titles.push_back(sections[section].title);
    if (sections[section].parent >= section) break;  // section 0, or an invalid tree
    section = sections[section].parent;
  }
  std::string path;
  for (auto title = titles.rbegin(); title != titles.rend(); ++title) {
    if (!path.empty()) path += " > ";
    path += *title;
  }
  return path;
}

}  // namespace plimsoll

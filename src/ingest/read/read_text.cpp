// Plain text: paragraphs are separated by blank lines.
#include <algorithm>

#include "ingest/builder.hpp"
#include "ingest/lines.hpp"
#include "ingest/read/readers.hpp"

namespace plimsoll::ingest {
namespace {

void read_stretches(Builder& into, BlockKind kind) {
  const std::string_view text = into.text();
  Span stretch;
  bool inside = false;
  const auto end_stretch = [&] {
    if (!inside) return;
    const bool wrapped =
        kind == BlockKind::paragraph && is_wrapped(text.substr(stretch.start, stretch.size()));
    into.block(kind, stretch, 0, wrapped);
    inside = false;
  };
  each_line(text, [&](Span line) {
    const Span content = trimmed(text, line);
    if (content.size() == 0) {
      end_stretch();
      return;
    }
    if (!inside) stretch = line;
    inside = true;
    stretch.end = line.end;
  });
  end_stretch();
}

}  // namespace

bool is_wrapped(std::string_view paragraph) {
  // In a wrapped paragraph a line breaks where the next word would exceed the width. The longest line
  // gives the width.
  constexpr std::size_t least_width = 40;
  constexpr std::size_t most_width = 130;
  std::size_t width = 0;
  std::size_t lines = 0;
  each_line(paragraph, [&](Span line) {
    width = std::max(width, trimmed(paragraph, line).size());
    ++lines;
  });
  if (lines < 2 || width < least_width || width > most_width) return false;
  bool wrapped = true;
  std::size_t before = 0;
  bool first = true;
  each_line(paragraph, [&](Span line) {
    const Span content = trimmed(paragraph, line);
    const std::string_view here = paragraph.substr(content.start, content.size());
    const std::size_t word = std::min(here.find_first_of(" \t"), here.size());
    if (!first && before + 1 + word + 3 <= width) wrapped = false;
    first = false;
    before = content.size();
  });
  return wrapped;
}

ReadDocument read_text(std::string_view text, std::string_view media_type) {
  Builder into(media_type, text);
  read_stretches(into, BlockKind::paragraph);
  return std::move(into).finish();
}

ReadDocument read_lines(std::string_view text, std::string_view media_type) {
  Builder into(media_type, text);
  read_stretches(into, BlockKind::code);
  return std::move(into).finish();
}

}  // namespace plimsoll::ingest

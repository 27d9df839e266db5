#include "ingest/builder.hpp"

#include <algorithm>
#include <utility>

#include "base/text/text.hpp"

namespace plimsoll::ingest {
namespace {

constexpr std::size_t most_title = 200;
constexpr std::size_t most_lead = 600;
// Most sections of a document, so that a file of headings only stays within bounds.
constexpr std::size_t most_sections = 200'000;

}  // namespace

std::string one_line(std::string_view text, std::size_t most) {
  std::string line;
  bool gap = false;
  for (std::size_t at = 0; at < text.size() && line.size() <= most;) {
    if (const std::size_t white = white_at(text, at); white > 0) {
      gap = !line.empty();
      at += white;
      continue;
    }
    if (std::exchange(gap, false)) line += ' ';
    line += text[at++];
  }
  if (line.size() > most) line.resize(base::prefix_of(line, most).size());
  return line;
}

Builder::Builder(std::string_view media_type, std::string_view text) : Builder(media_type) {
  read_.text = text;
  made_ = false;
}

Builder::Builder(std::string_view media_type) : made_(true) {
  read_.media_type = media_type;
  read_.sections.emplace_back();
  read_.leads.emplace_back();
}

void Builder::append(std::string_view piece, std::uint64_t source) {
  if (piece.empty()) return;
  std::vector<Origin>& origins = read_.origins;
  const std::uint64_t at = read_.text.size();
  if (!origins.empty() && origins.back().text + origins.back().bytes == at &&
      origins.back().source + origins.back().bytes == source) {
    origins.back().bytes += piece.size();
  } else {
    origins.push_back({.text = at, .source = source, .bytes = piece.size()});
  }
  read_.text += piece;
}

void Builder::append_own(std::string_view piece) {
  read_.text += piece;
}

void Builder::trim_end(std::uint64_t keep) {
  std::uint64_t end = read_.text.size();
  while (end > keep &&
         (read_.text[end - 1] == ' ' || (read_.text[end - 1] >= '\t' && read_.text[end - 1] <= '\r')))
    --end;
  take_back(end);
}

void Builder::take_back(std::uint64_t keep) {
  read_.text.resize(std::min<std::uint64_t>(keep, read_.text.size()));
  std::vector<Origin>& origins = read_.origins;
  while (!origins.empty() && origins.back().text >= keep) origins.pop_back();
  if (!origins.empty()) origins.back().bytes = std::min(origins.back().bytes, keep - origins.back().text);
}

void Builder::block(BlockKind kind, Span span, std::uint32_t lead, bool wrapped) {
  span.start = std::max(span.start, done_);
  span.end = std::min<std::uint64_t>(span.end, read_.text.size());
  if (span.start >= span.end) return;
  span = trimmed(read_.text, span);
  if (span.start >= span.end) return;
  done_ = span.end;
  std::vector<Block>& blocks = read_.blocks;
  // Joins tiny paragraphs: a file with one word per paragraph would need more memory for blocks than for
  // text.
  if (kind == BlockKind::paragraph && !blocks.empty()) {
    Block& last = blocks.back();
    if (last.kind == kind && last.lead == lead && last.page == page_ && last.span.size() < 12 &&
        span.size() < 12 && (read_.sections.empty() || read_.sections.back().span.start <= last.span.start)) {
      last.span.end = span.end;
      last.wrapped = false;
      return;
    }
  }
  blocks.push_back({.span = span, .lead = lead, .page = page_, .kind = kind, .wrapped = wrapped});
}

void Builder::extend(std::uint64_t end) {
  if (read_.blocks.empty() || end > read_.text.size() || end <= done_) return;
  done_ = end;
  read_.blocks.back().span.end = end;
}

std::uint32_t Builder::lead(std::string_view text) {
  std::string line = one_line(text, most_lead);
  if (line.empty()) return 0;
  if (read_.leads.back() == line) return static_cast<std::uint32_t>(read_.leads.size() - 1);
  read_.leads.push_back(std::move(line));
  return static_cast<std::uint32_t>(read_.leads.size() - 1);
}

void Builder::open(std::uint32_t level, std::string_view title, std::uint64_t at) {
  close(level, at);
  if (read_.sections.size() >= most_sections) {
    if (read_.sections.size() == most_sections &&
        (read_.warnings.empty() || !read_.warnings.back().starts_with("more"))) {
      warn(fmt::format("more than {} sections: the rest is not divided by headings",
                       base::with_thousands(most_sections)));
    }
    return;
  }
  const std::uint64_t begin = std::max(at, floor_);
  floor_ = begin;
  const std::uint32_t parent = open_.empty() ? 0 : open_.back().section;
  open_.push_back({.level = level, .section = static_cast<std::uint32_t>(read_.sections.size())});
  read_.sections.push_back({.title = one_line(title, most_title), .parent = parent, .span = {begin, begin}});
}

void Builder::close(std::uint32_t level, std::uint64_t at) {
  while (!open_.empty() && open_.back().level >= level) {
    Span& span = read_.sections[open_.back().section].span;
    span.end = std::max({span.start, at, floor_});
    floor_ = span.end;
    open_.pop_back();
  }
}

void Builder::title(std::string_view title) {
  if (read_.title.empty()) read_.title = one_line(title, most_title);
}

void Builder::not_addressable() {
  read_.addressable = false;
  read_.origins.clear();
}

ReadDocument Builder::finish() && {
  close(0, read_.text.size());
  read_.sections.front().span = {0, read_.text.size()};
  for (std::size_t i = 1; i < read_.sections.size(); ++i) {  // text may have been removed
    Span& span = read_.sections[i].span;
    span.end = std::min<std::uint64_t>(span.end, read_.text.size());
    span.start = std::min(span.start, span.end);
  }
  if (made_ && read_.addressable && read_.origins.empty()) read_.addressable = read_.text.empty();
  return std::move(read_);
}

}  // namespace plimsoll::ingest

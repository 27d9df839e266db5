// Divides JSON by element, JSON Lines by record. The text is the file; this finds where its parts start
// and end. Text that is not JSON is read as plain text.
#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "ingest/builder.hpp"
#include "ingest/lines.hpp"
#include "ingest/read/readers.hpp"

namespace plimsoll::ingest {
namespace {

// A list or object of at most this many bytes is kept whole: about a chunk.
constexpr std::size_t one_piece = 600;
constexpr std::uint32_t most_section_levels = 6;  // of sections
// With more lists and objects the file is read as lines.
constexpr std::size_t most_containers = 4'000'000;

std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

// Returns the end of the list or object for each opening bracket, in order. The text
// is JSON, so brackets match.
std::optional<std::vector<std::size_t>> container_ends(std::string_view text) {
  std::vector<std::size_t> ends;
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
      continue;
    }
    if (c == '{' || c == '[') {
      if (ends.size() == most_containers) return std::nullopt;
      open.push_back(ends.size());
      ends.push_back(text.size());
    } else if ((c == '}' || c == ']') && !open.empty()) {
      ends[open.back()] = at + 1;
      open.pop_back();
    }
    ++at;
  }
  return ends;
}

class Elements {
 public:
  Elements(Builder& into, std::vector<std::size_t> ends)
      : into_(into), text_(into.text()), ends_(std::move(ends)) {}

  // Reads the text once. A small value is a block with its key; a larger one is divided.
  void read() {
    std::size_t from = 0;  // start of text not yet in a block: brackets, a key
    for (std::size_t at = 0; at < text_.size();) {
      const char c = text_[at];
      if (c == '"') {
        const std::size_t end = string_end(text_, at);
        if (is_key(end)) {
          key_ = {at, end};
          from = flush(from, at);
        }
        at = end;
      } else if (c == '{' || c == '[') {
        const std::size_t end = ends_[next_++];
        if (end - at <= one_piece) {
          skip_containers(at, end);
          from = flush(from, end);
          at = end;
        } else {
          enter(at);
          from = flush(from, ++at);
        }
      } else if (c == '}' || c == ']') {
        from = flush(from, at);
        leave(at);
        ++at;
      } else if (c == ',') {
        from = flush(from, ++at);
      } else {
        ++at;
      }
    }
    flush(from, text_.size());
  }

 private:
  bool is_key(std::size_t end) const {
    const std::size_t next = text_.find_first_not_of(" \t\r\n", end);
    return next != std::string_view::npos && text_[next] == ':';
  }

  std::size_t flush(std::size_t from, std::size_t to) {
    const Span piece = trimmed(text_, {from, to});
    if (piece.size() == 0) return to;
    const bool marks =
        text_.substr(piece.start, piece.size()).find_first_not_of(",]}") == std::string_view::npos;
    if (marks)
      into_.extend(piece.end);
    else
      into_.block(BlockKind::table_row, piece);
    return to;
  }

  // Skips brackets inside a value that is kept whole.
  void skip_containers(std::size_t at, std::size_t end) {
    for (++at; at < end;) {
      if (text_[at] == '"') {
        at = string_end(text_, at);
        continue;
      }
      if (text_[at] == '{' || text_[at] == '[') ++next_;
      ++at;
    }
  }

  void enter(std::size_t at) {
    ++depth_;
    if (key_.size() > 2 && depth_ <= most_section_levels)
      into_.open(depth_, text_.substr(key_.start + 1, key_.size() - 2), key_.start);
    key_ = {at, at};
  }

  void leave(std::size_t at) {
    if (depth_ == 0) return;
    if (depth_ <= most_section_levels) into_.close(depth_, at + 1);
    --depth_;
    key_ = {at, at};
  }

  Builder& into_;
  std::string_view text_;
  std::vector<std::size_t> ends_;
  std::size_t next_ = 0;  // index into the ends
  std::uint32_t depth_ = 0;
  Span key_;
};

bool is_json(std::string_view text) {
  return nlohmann::json::accept(text.begin(), text.end());
}

// Returns whether the first non-blank lines, up to ten, are JSON records.
bool is_json_lines(std::string_view text) {
  std::size_t seen = 0;
  for (std::size_t at = 0; at < text.size() && seen < 10;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (trimmed(line, {0, line.size()}).size() > 0) {
      if (!is_json(line)) return false;
      ++seen;
    }
    at = end + 1;
  }
  return seen > 0;
}

ReadDocument read_records(std::string_view text) {
  Builder into("application/jsonl", text);
  each_line(text, [&](Span line) { into.block(BlockKind::table_row, line); });
  return std::move(into).finish();
}

}  // namespace

ReadDocument read_json(std::string_view text, const MediaType& type) {
  if (type.format != Format::json_lines && is_json(text)) {
    Builder into(type.name, text);
    if (auto ends = container_ends(text)) {
      Elements(into, *std::move(ends)).read();
      return std::move(into).finish();
    }
  }
  if (is_json_lines(text)) return read_records(text);
  ReadDocument read = read_text(text, "text/plain");
  if (trimmed(text, {0, text.size()}).size() > 0)
    read.warnings.emplace_back("it is not JSON and was read as plain text");
  return read;
}

}  // namespace plimsoll::ingest

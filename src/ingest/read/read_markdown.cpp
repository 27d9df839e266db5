// GitHub Markdown: cmark-gfm finds the blocks by lines, and the text is the file, byte for byte. A long file
// is parsed in parts of a few hundred kilobytes, divided before headings, to limit memory.
#include <algorithm>
#include <csetjmp>
#include <cstdlib>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>

#include "ingest/builder.hpp"
#include "ingest/lines.hpp"
#include "ingest/read/bounded_arena.hpp"
#include "ingest/read/readers.hpp"

namespace plimsoll::ingest {
namespace {

constexpr std::size_t good_part = std::size_t{256} << 10;  // cut before the next heading
constexpr std::size_t long_part = std::size_t{512} << 10;  // cut at the next blank line
constexpr std::size_t most_part = std::size_t{1} << 20;    // a longer part is read as plain text
constexpr std::uint64_t most_memory = std::uint64_t{512} << 20;

// cmark's allocator functions have no context argument.
thread_local BoundedArena* current = nullptr;

cmark_mem arena_memory() {
  return {.calloc = [](std::size_t n, std::size_t size) { return current->allocate_zeroed(n * size); },
          .realloc = [](void* piece, std::size_t size) { return current->reallocate(piece, size); },
          .free = [](void*) {}};
}

cmark_syntax_extension* table_extension() {
  static cmark_syntax_extension* const extension = [] {
    cmark_gfm_core_extensions_ensure_registered();
    return cmark_find_syntax_extension("table");
  }();
  return extension;
}

// Null: too much memory or time.
cmark_node* parse(BoundedArena& arena, cmark_mem* memory, std::string_view text) {
  if (setjmp(arena.exhausted) != 0) return nullptr;  // NOLINT(cert-err52-cpp): out of C
  cmark_parser* const parser = cmark_parser_new_with_mem(CMARK_OPT_DEFAULT, memory);
  cmark_parser_attach_syntax_extension(parser, table_extension());
  cmark_parser_feed(parser, text.data(), text.size());
  return cmark_parser_finish(parser);
}

// These two allocate memory too.
cmark_iter* new_iterator(BoundedArena& arena, cmark_node* node) {
  if (setjmp(arena.exhausted) != 0) return nullptr;  // NOLINT(cert-err52-cpp)
  return cmark_iter_new(node);
}

const char* literal_of(BoundedArena& arena, cmark_node* node) {
  if (setjmp(arena.exhausted) != 0) return nullptr;  // NOLINT(cert-err52-cpp)
  return cmark_node_get_literal(node);
}

// Returns the text of a heading without markup.
std::string words_of(BoundedArena& arena, cmark_node* heading) {
  constexpr std::size_t enough = 1000;
  std::string words;
  cmark_iter* const iterator = new_iterator(arena, heading);
  while (iterator != nullptr && words.size() < enough && cmark_iter_next(iterator) != CMARK_EVENT_DONE) {
    cmark_node* const node = cmark_iter_get_node(iterator);
    const cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK) words += ' ';
    if (type != CMARK_NODE_TEXT && type != CMARK_NODE_CODE) continue;
    if (const char* const literal = literal_of(arena, node); literal != nullptr) words += literal;
  }
  return words;
}

class Part {
 public:
  Part(Builder& into, BoundedArena& arena, Span span) : into_(into), arena_(arena), span_(span) {
    each_line(into.text().substr(span.start, span.size()), [&](Span line) {
      lines_.push_back({span.start + line.start, span.start + line.end});
    });
  }

  void visit(cmark_node* root) {
    for (cmark_node* node = root; node != nullptr;) {
      cmark_node* const child = take(node) ? nullptr : cmark_node_first_child(node);
      if (child != nullptr) {
        node = child;
        continue;
      }
      while (node != nullptr && node != root && cmark_node_next(node) == nullptr)
        node = cmark_node_parent(node);
      node = node == nullptr || node == root ? nullptr : cmark_node_next(node);
    }
  }

 private:
  // Returns the whole lines of the node, including list and quote marks.
  Span span_of(cmark_node* node) const {
    if (lines_.empty()) return {span_.start, span_.start};
    const auto clamp = [&](int line) {
      return std::clamp<std::size_t>(line < 1 ? 0 : static_cast<std::size_t>(line) - 1, 0, lines_.size() - 1);
    };
    const std::size_t first = clamp(cmark_node_get_start_line(node));
    // In cmark some blocks, such as a heading with a line below it, extend into the next block.
    cmark_node* outer = node;
    while (outer != nullptr && cmark_node_next(outer) == nullptr) outer = cmark_node_parent(outer);
    const std::size_t after =
        outer == nullptr ? lines_.size() : clamp(cmark_node_get_start_line(cmark_node_next(outer)));
    std::size_t last = clamp(cmark_node_get_end_line(node));
    if (after > first) last = std::min(last, after - 1);
    last = std::max(first, last);
    return {lines_[first].start, lines_[last].end};
  }

  // True: skip its children.
  bool take(cmark_node* node) {
    const cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_HEADING) {
      const std::string title = words_of(arena_, node);
      const Span span = span_of(node);
      if (cmark_node_get_type(cmark_node_parent(node)) == CMARK_NODE_DOCUMENT) {
        if (cmark_node_get_heading_level(node) == 1) into_.title(title);
        into_.open(static_cast<std::uint32_t>(cmark_node_get_heading_level(node)), title, span.start);
      }
      into_.block(BlockKind::heading, span);
      return true;
    }
    if (type == CMARK_NODE_PARAGRAPH) {
      cmark_node* const parent = cmark_node_parent(node);
      const bool item =
          cmark_node_get_type(parent) == CMARK_NODE_ITEM && cmark_node_first_child(parent) == node;
      into_.block(item ? BlockKind::list_item : BlockKind::paragraph, span_of(node), 0, true);
      return true;
    }
    if (type == CMARK_NODE_CODE_BLOCK) {
      into_.block(BlockKind::code, span_of(node));
      return true;
    }
    if (type == CMARK_NODE_HTML_BLOCK) {
      into_.block(BlockKind::paragraph, span_of(node));
      return true;
    }
    if (std::string_view(cmark_node_get_type_string(node)) == "table") {
      take_table(node);
      return true;
    }
    return (type & CMARK_NODE_TYPE_MASK) == CMARK_NODE_TYPE_INLINE;
  }

  void take_table(cmark_node* table) {
    std::uint32_t lead = 0;
    for (cmark_node* row = cmark_node_first_child(table); row != nullptr; row = cmark_node_next(row)) {
      const Span span = span_of(row);
      if (row == cmark_node_first_child(table)) {
        const std::string_view header = into_.text().substr(span.start, span.size());
        lead = into_.lead(header.substr(std::min(header.find_first_not_of("> \t"), header.size())));
        // The line of dashes below is not a row.
        cmark_node* const next = cmark_node_next(row);
        into_.block(BlockKind::table_row,
                    {span.start, next != nullptr ? span_of(next).start : span_of(table).end}, lead);
      } else {
        into_.block(BlockKind::table_row, span, lead);
      }
    }
  }

  Builder& into_;
  BoundedArena& arena_;
  Span span_;
  std::vector<Span> lines_;
};

// Reads a part as plain paragraphs, without cmark.
void read_plainly(Builder& into, Span part) {
  const std::string_view text = into.text();
  Span stretch{part.start, part.start};
  each_line(text.substr(part.start, part.size()), [&](Span line) {
    const Span here{part.start + line.start, part.start + line.end};
    if (trimmed(text, here).size() == 0) {
      into.block(BlockKind::paragraph, stretch);
      stretch.start = here.end;
    }
    stretch.end = here.end;
  });
  into.block(BlockKind::paragraph, stretch);
}

bool is_fence(std::string_view line) {
  const std::size_t first = std::min(line.find_first_not_of(" >\t"), line.size());
  return line.substr(first).starts_with("```") || line.substr(first).starts_with("~~~");
}

// Returns the end of the part that starts at `start`.
std::size_t part_end(std::string_view text, std::size_t start) {
  if (text.size() - start <= long_part) return text.size();
  bool fenced = false;
  bool blank = false;
  for (std::size_t at = start; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    const std::size_t size = at - start;
    if (size >= good_part && !fenced && (line.front() == '#' || (size >= long_part && blank))) return at;
    if (size > 0 && end - start > most_part) return at;
    if (is_fence(line)) fenced = !fenced;
    blank = trimmed(line, {0, line.size()}).size() == 0;
    at = end;
  }
  return text.size();
}

// cmark checks all open quotes and lists at every line, and all cells of a row at every cell. Real documents
// do not have that many.
bool is_too_intricate(std::string_view part) {
  constexpr std::ptrdiff_t most_nested = 100;
  constexpr std::ptrdiff_t most_cells = 1000;
  bool too_much = false;
  each_line(part, [&](Span line) {
    const std::string_view text = part.substr(line.start, line.size());
    const std::string_view marks = text.substr(0, text.find_first_not_of("> \t*+-0123456789.)"));
    too_much = too_much || std::count_if(marks.begin(), marks.end(), [](char c) {
                             return c == '>' || c == '*' || c == '+' || c == '-' || c == '.' || c == ')';
                           }) > most_nested;
    too_much = too_much || std::count(text.begin(), text.end(), '|') > most_cells;
  });
  return too_much;
}

// Returns the size of YAML front matter between "---" lines, or 0.
std::size_t front_matter(std::string_view text) {
  if (!text.starts_with("---\n") && !text.starts_with("---\r\n")) return 0;
  std::size_t at = text.find('\n') + 1;
  while (at < text.size() && at < 65'536) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    const bool is_rule = line.starts_with("---") || line.starts_with("...");
    if (is_rule && trimmed(line, {3, line.size()}).size() == 0) return end;
    at = end;
  }
  return 0;
}

void take_front_matter(Builder& into, std::size_t end) {
  into.block(BlockKind::code, {0, end});
  each_line(into.text().substr(0, end), [&](Span line) {
    std::string_view here = into.text().substr(line.start, line.size());
    if (!here.starts_with("title:")) return;
    here.remove_prefix(6);
    const Span content = trimmed(here, {0, here.size()});
    here = here.substr(content.start, content.size());
    if (here.size() > 1 && (here.front() == '"' || here.front() == '\'') && here.back() == here.front())
      here = here.substr(1, here.size() - 2);
    into.title(here);
  });
}

}  // namespace

ReadDocument read_markdown(std::string_view text, const ReadOptions& options) {
  Builder into("text/markdown", text);
  std::size_t at = front_matter(text);
  if (at > 0) take_front_matter(into, at);
  const auto began = std::chrono::steady_clock::now();
  bool warned = false;
  while (at < text.size()) {
    const Span part{at, part_end(text, at)};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        options.parse_time - (std::chrono::steady_clock::now() - began));
    BoundedArena arena(most_memory, std::max(left, std::chrono::milliseconds(0)));
    cmark_mem memory = arena_memory();
    current = &arena;
    const std::string_view piece = text.substr(part.start, part.size());
    cmark_node* const root =
        piece.size() > most_part || is_too_intricate(piece) ? nullptr : parse(arena, &memory, piece);
    if (root != nullptr) {
      Part(into, arena, part).visit(root);
    } else {
      if (!warned) into.warn("a part of the Markdown is too complex and was read as plain text");
      warned = true;
      read_plainly(into, part);
    }
    current = nullptr;
    at = part.end;
  }
  return std::move(into).finish();
}

}  // namespace plimsoll::ingest

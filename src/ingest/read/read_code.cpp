// Divides source code by definitions: a function is a block and a section, a class is a section with its
// methods. Comments directly above a definition belong to it. Code between definitions is divided at blank
// lines.
#include <algorithm>
#include <memory>

#include <tree_sitter/api.h>

#include "ingest/builder.hpp"
#include "ingest/lines.hpp"
#include "ingest/read/grammars.hpp"
#include "ingest/read/readers.hpp"

namespace plimsoll::ingest {
namespace {

// Debian's tree-sitter counts children of a node in 16 bits and corrupts memory above that, so no part may
// have more tokens. This is an upper bound; the real number is smaller.
constexpr std::size_t most_tokens = 60'000;
constexpr std::uint32_t most_levels = 8;
constexpr std::uint32_t most_depth = 40;  // nesting of wrappers and containers

struct Delete {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TSNode field(TSNode node, std::string_view name) {
  return ts_node_child_by_field_name(node, name.data(), static_cast<std::uint32_t>(name.size()));
}

class Definitions {
 public:
  Definitions(Builder& into, const Grammar& grammar, Span part)
      : into_(into), text_(into.text()), grammar_(grammar), part_(part), done_(part.start) {}

  void read(TSNode root) {
    visit(root, 1, 0);
    loose(part_.end);
    into_.close(1, part_.end);
  }

  // Reads lines, without a tree.
  void read_loosely() { loose(part_.end); }

 private:
  // Visits the children of a file, a body or a wrapper. The depth is bounded, and so is the stack.
  void visit(TSNode parent, std::uint32_t level, std::uint32_t depth) {
    if (depth > most_depth) return;
    TSTreeCursor cursor = ts_tree_cursor_new(parent);
    Span comment;  // directly above
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
      const TSNode node = ts_tree_cursor_current_node(&cursor);
      const std::string_view type = ts_node_type(node);
      const Span span = span_of(node);
      if (type.find("comment") != std::string_view::npos || type == "attribute_item") {
        if (comment.size() == 0 || is_apart(comment.end, span.start)) comment.start = span.start;
        comment.end = span.end;
        continue;
      }
      const std::uint64_t start =
          comment.size() > 0 && !is_apart(comment.end, span.start) ? comment.start : span.start;
      comment = {};
      take(node, type, start, level, depth);
    }
    ts_tree_cursor_delete(&cursor);
  }

  void take(TSNode node, std::string_view type, std::uint64_t start, std::uint32_t level,
            std::uint32_t depth) {
    if (level <= most_levels && is_one_of(grammar_.containers, type)) {
      container(node, start, level, depth);
    } else if (level <= most_levels && is_leaf(node, type)) {
      leaf(node, start, level);
    } else if (is_one_of(grammar_.wrappers, type)) {
      // "export", "template <...>" and decorators belong to the following definition.
      const std::uint64_t before = std::exchange(wrapped_from_, std::min(wrapped_from_, start));
      visit(node, level, depth + 1);
      wrapped_from_ = before;
    }
  }

  bool is_leaf(TSNode node, std::string_view type) const {
    if (is_one_of(grammar_.leaves, type)) {
      // `struct stat buffer;` is not a definition.
      return !type.ends_with("_specifier") || !ts_node_is_null(field(node, "body"));
    }
    // const area = (r) => ...
    if (type != "lexical_declaration" && type != "variable_declaration") return false;
    const TSNode declarator = ts_node_named_child(node, 0);
    if (ts_node_is_null(declarator)) return false;
    const TSNode value = field(declarator, "value");
    if (ts_node_is_null(value)) return false;
    const std::string_view kind = ts_node_type(value);
    return kind == "arrow_function" || kind == "function_expression" || kind == "function";
  }

  void leaf(TSNode node, std::uint64_t start, std::uint32_t level) {
    const std::string signature = signature_of(node);
    const Span span{begin(start, level, title_of(node, signature)), end_of(node)};
    into_.block(BlockKind::code, span, into_.lead(signature));
    finish(span.end, level);
  }

  void container(TSNode node, std::uint64_t start, std::uint32_t level, std::uint32_t depth) {
    const std::string signature = signature_of(node);
    begin(start, level, title_of(node, signature));
    const std::uint32_t outer = std::exchange(lead_, into_.lead(signature));
    if (const TSNode body = field(node, "body"); !ts_node_is_null(body)) {
      const std::uint64_t before = std::exchange(wrapped_from_, nothing);
      visit(body, level + 1, depth + 1);
      wrapped_from_ = before;
    }
    const std::uint64_t end = end_of(node);
    loose(end);
    lead_ = outer;
    finish(end, level);
  }

  // Opens the section of a definition and returns its start.
  std::uint64_t begin(std::uint64_t start, std::uint32_t level, const std::string& title) {
    start = std::max(done_, std::min(start, std::exchange(wrapped_from_, nothing)));
    loose(start);
    into_.open(level, title, start);
    return start;
  }

  void finish(std::uint64_t end, std::uint32_t level) {
    done_ = std::max(done_, end);
    into_.close(level, done_);
  }

  // Adds the code between definitions, up to `end`, divided at blank lines.
  void loose(std::uint64_t end) {
    if (end <= done_) return;
    const std::string_view part = text_.substr(done_, end - done_);
    Span stretch{done_, done_};
    each_line(part, [&](Span line) {
      const Span here{done_ + line.start, done_ + line.end};
      if (trimmed(text_, here).size() == 0) {
        flush(stretch);
        stretch.start = here.end;
      }
      stretch.end = here.end;
    });
    flush(stretch);
    done_ = end;
  }

  void flush(Span stretch) {
    stretch = trimmed(text_, stretch);
    if (stretch.size() == 0) return;
    if (text_.substr(stretch.start, stretch.size()).find_first_not_of(" \t\r\n{}();,:") ==
        std::string_view::npos)
      into_.extend(stretch.end);  // a closing brace
    into_.block(BlockKind::code, stretch, lead_);
  }

  // Includes a semicolon or comma after it.
  std::uint64_t end_of(TSNode node) const {
    std::uint64_t end = part_.start + ts_node_end_byte(node);
    const std::size_t next = text_.find_first_not_of(" \t", end);
    if (next < part_.end && (text_[next] == ';' || text_[next] == ',')) end = next + 1;
    return end;
  }

  Span span_of(TSNode node) const {
    return {part_.start + ts_node_start_byte(node), part_.start + ts_node_end_byte(node)};
  }

  // Returns whether a blank line is between the two.
  bool is_apart(std::uint64_t from, std::uint64_t to) const {
    if (to <= from) return false;
    const std::string_view between = text_.substr(from, std::min<std::uint64_t>(to - from, 400));
    return std::count(between.begin(), between.end(), '\n') > 1;
  }

  // Returns the text from its first word to its body, on one line.
  std::string signature_of(TSNode node) const {
    const Span span = span_of(node);
    std::uint64_t end = span.end;
    if (const TSNode body = field(node, "body"); !ts_node_is_null(body)) end = span_of(body).start;
    std::string_view signature = text_.substr(span.start, end - span.start);
    if (end == span.end) signature = signature.substr(0, signature.find('\n'));
    return one_line(signature, 300);
  }

  std::string title_of(TSNode node, const std::string& signature) const {
    TSNode name = field(node, "name");
    if (ts_node_is_null(name)) name = field(node, "type");  // impl Trait for Type
    if (std::string_view(ts_node_type(node)) == "impl_item") return signature;
    // In C the name is at the end of a chain of pointers, references and parameters.
    TSNode declarator = field(node, "declarator");
    for (int steps = 0; steps < 20 && !ts_node_is_null(declarator); ++steps) {
      name = declarator;
      declarator = field(declarator, "declarator");
    }
    if (ts_node_is_null(name) && ts_node_named_child_count(node) > 0) {
      const TSNode first = ts_node_named_child(node, 0);  // const area = ..., type Area struct
      name = field(first, "name");
    }
    if (ts_node_is_null(name)) return signature;
    const Span span = span_of(name);
    return one_line(text_.substr(span.start, span.size()), 120);
  }

  static constexpr std::uint64_t nothing = ~std::uint64_t{0};

  Builder& into_;
  std::string_view text_;
  Grammar grammar_;
  Span part_;
  std::uint64_t done_;                    // end of the text in blocks
  std::uint64_t wrapped_from_ = nothing;  // start of the wrapper around the next definition
  std::uint32_t lead_ = 0;                // of the current container
};

// Returns an upper bound of the tokens in the line for any grammar.
std::size_t tokens_at_most(std::string_view line) {
  enum class Class : std::uint8_t { blank, letter, digit };
  Class before = Class::blank;
  std::size_t tokens = 3;  // line end, indent and dedent
  for (const char c : line) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const Class now = letter ? Class::letter : c >= '0' && c <= '9' ? Class::digit : Class::blank;
    if (now == Class::blank ? c != ' ' && c != '\t' : now != before) ++tokens;
    before = now;
  }
  return tokens;
}

struct CodePart {
  Span span;
  bool parsed = true;
};

// Divides the text into parts of limited tokens, where an unindented line follows a blank one. A part without
// such a place is not parsed.
std::vector<CodePart> parts_of(std::string_view text) {
  std::vector<CodePart> parts;
  Span part;
  std::uint64_t cut = 0;  // the last possible cut
  std::size_t tokens = 0;
  std::size_t since_cut = 0;
  bool blank = false;
  const auto end_part = [&](std::uint64_t end, bool parsed) {
    if (end > part.start) parts.push_back({.span = {part.start, end}, .parsed = parsed});
    part.start = cut = end;
  };
  each_line(text, [&](Span line) {
    const std::string_view here = text.substr(line.start, line.size());
    const bool edge =
        !here.empty() && std::string_view(" \t})]").find(here.front()) == std::string_view::npos;
    if (blank && edge) {
      if (tokens > most_tokens) {  // no possible cut before
        end_part(line.start, false);
        tokens = 0;
      }
      cut = line.start;
      since_cut = 0;
    }
    const std::size_t more = tokens_at_most(here);
    if (tokens <= most_tokens && tokens + more > most_tokens && cut > part.start) {
      end_part(cut, true);
      tokens = since_cut;
    }
    tokens += more;
    since_cut += more;
    blank = trimmed(text, line).size() == 0;
  });
  end_part(text.size(), tokens <= most_tokens);
  return parts;
}

}  // namespace

ReadDocument read_code(std::string_view text, const MediaType& type, const ReadOptions& options) {
  const Grammar grammar = grammar_of(type.language);
  const std::unique_ptr<TSParser, Delete> parser(ts_parser_new());
  if (grammar.language == nullptr || !ts_parser_set_language(parser.get(), grammar.language))
    return read_lines(text, type.name);
  Builder into(type.name, text);
  const auto end = std::chrono::steady_clock::now() + options.parse_time;
  bool all_parsed = true;
  for (const CodePart& part : parts_of(text)) {
    Definitions definitions(into, grammar, part.span);
    const auto left =
        std::chrono::duration_cast<std::chrono::microseconds>(end - std::chrono::steady_clock::now()).count();
    std::unique_ptr<TSTree, Delete> tree;
    if (part.parsed && left > 0) {
      ts_parser_reset(parser.get());
      ts_parser_set_timeout_micros(parser.get(), static_cast<std::uint64_t>(left));
      tree.reset(ts_parser_parse_string(parser.get(), nullptr, text.data() + part.span.start,
                                        static_cast<std::uint32_t>(part.span.size())));
    }
    all_parsed = all_parsed && tree != nullptr;
    if (tree)
      definitions.read(ts_tree_root_node(tree.get()));
    else
      definitions.read_loosely();
  }
  if (!all_parsed) into.warn("a part of the code is too long or too complex to parse and was read as lines");
  return std::move(into).finish();
}

}  // namespace plimsoll::ingest

#include "ingest/cut.hpp"

#include <algorithm>
#include <utility>

#include "base/text/text.hpp"
#include "ingest/builder.hpp"
#include "ingest/lines.hpp"
#include "ingest/sentences.hpp"

namespace plimsoll::ingest {
namespace {

struct Unit {
  Span span;
  Tokens tokens = 0;
  std::uint32_t block = 0;
  std::uint32_t section = 0;
  bool opens_block = false;
};

// Adds the text between blocks too, so that nothing is lost.
std::vector<Block> without_gaps(std::string_view text, std::vector<Block> blocks) {
  std::vector<Block> gaps;
  std::uint64_t at = 0;
  std::uint32_t page = 0;
  const auto look = [&](std::uint64_t end) {
    const Span gap = trimmed(text, {at, std::max(at, end)});
    if (gap.size() > 0) gaps.push_back({.span = gap, .lead = 0, .page = page});
  };
  for (const Block& block : blocks) {
    look(block.span.start);
    at = block.span.end;
    page = block.page;
  }
  look(text.size());
  if (gaps.empty()) return blocks;
  blocks.insert(blocks.end(), gaps.begin(), gaps.end());
  std::sort(blocks.begin(), blocks.end(),
            [](const Block& a, const Block& b) { return a.span.start < b.span.start; });
  return blocks;
}

class Cutter {
 public:
  Cutter(const ReadDocument& read, const std::vector<Block>& blocks, const Tokenizer& tokenizer,
         const CutOptions& options)
      : read_(read), text_(read.text), blocks_(blocks), tokenizer_(tokenizer), options_(options) {}

  std::vector<Chunk> run() {
    find_units();
    join_short();
    count_and_divide();
    find_sections();
    pack();
    return std::move(chunks_);
  }

 private:
  std::string_view text_of(Span span) const { return text_.substr(span.start, span.size()); }

  // ---- sentences ----

  void find_units() {
    std::vector<Span> spans;
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      const Block& block = blocks_[i];
      spans.clear();
      if (block.kind == BlockKind::code)
        add_code_lines(text_, block.span, spans);
      else if (block.kind == BlockKind::heading || block.kind == BlockKind::table_row)
        spans.push_back(block.span);
      else
        add_sentences(text_, block.span, block.wrapped, spans);
      for (const Span span : spans)
        units_.push_back({.span = span,
                          .block = i,
                          .section = section_at(read_.sections, span.start),
                          .opens_block = span == spans.front()});
    }
  }

  // Again, since a divided block may extend into another section.
  void find_sections() {
    for (Unit& unit : units_) unit.section = section_at(read_.sections, unit.span.start);
  }

  std::uint32_t page_of(const Unit& unit) const { return blocks_[unit.block].page; }
  bool is_code(const Unit& unit) const { return blocks_[unit.block].kind == BlockKind::code; }

  // A heading may be joined with the sentence below it, but never two definitions.
  bool may_join(const Unit& a, const Unit& b) const {
    constexpr std::uint64_t most_bytes = 320;  // about the size of a sentence
    return a.section == b.section && is_code(a) == is_code(b) && page_of(a) == page_of(b) &&
           b.span.end - a.span.start <= most_bytes;
  }

  bool is_short(const Unit& unit) const {
    return characters(text_of(unit.span), options_.least_characters) < options_.least_characters;
  }

  void join_short() {
    std::vector<Unit> joined;
    joined.reserve(units_.size());
    const auto back_into_previous = [&] {
      if (joined.size() < 2) return;
      Unit& previous = joined[joined.size() - 2];
      if (!is_short(joined.back()) || !may_join(previous, joined.back())) return;
      previous.span.end = joined.back().span.end;
      joined.pop_back();
    };
    for (const Unit& unit : units_) {
      if (!joined.empty() && is_short(joined.back())) {
        if (may_join(joined.back(), unit)) {
          joined.back().span.end = unit.span.end;
          continue;
        }
        back_into_previous();
      }
      joined.push_back(unit);
    }
    back_into_previous();
    units_ = std::move(joined);
  }

  void count_and_divide() {
    std::vector<Unit> counted;
    counted.reserve(units_.size());
    for (Unit& unit : units_) {
      // Text has at most about ten bytes per token; longer units are divided without counting them
      // completely.
      if (unit.span.size() <= window_bytes()) {
        unit.tokens = tokenizer_.count(text_of(unit.span));
        if (unit.tokens <= options_.sentence_tokens) {
          counted.push_back(unit);
          continue;
        }
      }
      divide_row(unit, counted);
    }
    units_ = std::move(counted);
  }

  // A row or heading that is too long may contain sentences.
  void divide_row(Unit unit, std::vector<Unit>& into) const {
    if (is_code(unit) || blocks_[unit.block].kind == BlockKind::paragraph) {
      divide(unit, into);
      return;
    }
    std::vector<Span> spans;
    add_sentences(text_, unit.span, false, spans);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      unit.span = spans[i];
      while (i + 1 < spans.size() && is_short(unit)) unit.span.end = spans[++i].end;
      divide(unit, into);
      unit.opens_block = false;
    }
  }

  std::size_t window_bytes() const { return static_cast<std::size_t>(options_.sentence_tokens) * 8; }

  void divide(Unit unit, std::vector<Unit>& into) const {
    Span rest = unit.span;
    while (rest.size() > 0) {
      const std::string_view window = base::prefix_of(text_of(rest), window_bytes());
      const std::size_t bytes = first_part(window, window.size() == rest.size(), is_code(unit));
      unit.span = trimmed(text_, {rest.start, rest.start + bytes});
      unit.tokens = tokenizer_.count(text_of(unit.span));
      into.push_back(unit);
      unit.opens_block = false;
      rest = trimmed(text_, {unit.span.end, rest.end});
    }
  }

  // Returns the size of the first part of a sentence that is too long; `window` is its start, or all of it if
  // `whole`. Code is divided between lines; only a line that is too long is divided like a sentence.
  std::size_t first_part(std::string_view window, bool whole, bool code) const {
    const std::vector<std::size_t> ends = tokenizer_.token_ends(window);
    const auto tokens = static_cast<Tokens>(ends.size());
    const Tokens most = options_.sentence_tokens;
    if (tokens <= most && whole) return window.size();
    if (code)
      if (const std::size_t end = lines_end(window, ends); end > 0) return end;
    if (tokens <= most) return clause_end(window, window.size());
    // Makes the last two parts about equal, instead of a long and a tiny one.
    Tokens target = std::min(most, tokens < 2 * most ? (tokens + 1) / 2 + 1 : most);
    // A prefix may have different tokens than the prefix of the tokens, so it is counted.
    for (; target > 0; target -= (target + 9) / 10) {
      const std::size_t end = clause_end(window, ends[static_cast<std::size_t>(target) - 1]);
      if (end > 0 && tokenizer_.count(window.substr(0, end)) <= most) return end;
    }
    return next_character(window);
  }

  // Returns the end of the last complete line up to which the text fits into a sentence; 0: none.
  std::size_t lines_end(std::string_view window, const std::vector<std::size_t>& ends) const {
    const auto most = static_cast<std::size_t>(options_.sentence_tokens);
    std::size_t end = ends.size() <= most ? window.size() : ends[most - 1];
    while (end > 0) {
      const std::size_t line_end = window.rfind('\n', end - 1);
      if (line_end == std::string_view::npos) return 0;
      const Span lines = trimmed(window, {0, line_end});
      if (lines.size() > 0 &&
          tokenizer_.count(window.substr(lines.start, lines.size())) <= options_.sentence_tokens)
        return line_end + 1;
      end = line_end;
    }
    return 0;
  }

  static std::size_t next_character(std::string_view text) {
    std::size_t end = 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    return end;
  }

  // ---- chunks ----

  // Returns the tokens that the unit adds to a chunk, with the line end after it.
  Tokens weight(std::size_t i) const {
    const bool line_end =
        i + 1 < units_.size() &&
        text_of({units_[i].span.end, units_[i + 1].span.start}).find('\n') != std::string_view::npos;
    return units_[i].tokens + (line_end ? 1 : 0);
  }

  void pack() {
    // Ranges that chunks stay inside: sections, with tiny ones joined to the next.
    struct Stretch {
      std::size_t first, end;
      Tokens tokens;
    };
    std::vector<Stretch> stretches;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const bool same = !stretches.empty() && units_[i].section == units_[i - 1].section;
      if (same || (!stretches.empty() && stretches.back().tokens < options_.tiny_section_tokens)) {
        stretches.back().end = i + 1;
        stretches.back().tokens += weight(i);
      } else {
        stretches.push_back({i, i + 1, weight(i)});
      }
    }
    // A tiny section at the end is joined to the previous one.
    if (stretches.size() > 1 && stretches.back().tokens < options_.tiny_section_tokens &&
        stretches[stretches.size() - 2].tokens + stretches.back().tokens <= options_.chunk_tokens) {
      stretches[stretches.size() - 2].end = stretches.back().end;
      stretches[stretches.size() - 2].tokens += stretches.back().tokens;
      stretches.pop_back();
    }
    for (const Stretch& stretch : stretches) pack_stretch(stretch.first, stretch.end, stretch.tokens);
  }

  // Makes chunks of about the same size, instead of full ones and a small rest.
  void pack_stretch(std::size_t first, std::size_t end, Tokens tokens) {
    const Tokens parts = (tokens + options_.chunk_tokens - 1) / options_.chunk_tokens;
    const Tokens target = (tokens + parts - 1) / std::max<Tokens>(parts, 1);
    while (first < end) {
      std::size_t last = chunk_end(first, end, target);
      Span span{start_of(first), start_of(last)};
      Tokens exact = tokenizer_.count(text_of(span));
      while (exact > options_.chunk_tokens && last - first > 1) {
        span.end = start_of(--last);
        exact = tokenizer_.count(text_of(span));
      }
      add_chunk(first, last, span, exact);
      first = last;
    }
  }

  // Takes whole blocks, or sentences of a block that is too long.
  std::size_t chunk_end(std::size_t first, std::size_t end, Tokens target) const {
    Tokens taken = 0;
    std::size_t at = first;
    while (at < end) {
      std::size_t next = at;
      Tokens more = 0;
      while (next < end && units_[next].block == units_[at].block && more <= options_.chunk_tokens)
        more += weight(next++);
      if (more > options_.chunk_tokens) {
        next = at + 1;
        more = weight(at);
      }
      if (taken > 0 && (taken + more > options_.chunk_tokens || taken + more / 2 > target ||
                        changes_lead(first, at, taken)))
        return at;
      taken += more;
      at = next;
    }
    return end;
  }

  // A chunk has one lead: rows of two tables are not joined.
  bool changes_lead(std::size_t first, std::size_t at, Tokens taken) const {
    const Block& before = blocks_[units_[at - 1].block];
    const Block& here = blocks_[units_[at].block];
    if (before.lead == here.lead) return false;
    if (taken >= options_.tiny_section_tokens) return true;
    return here.kind == BlockKind::table_row && lead_of(first, at) != 0;
  }

  // Returns the common lead; none if they differ, as for small definitions, which contain their own.
  std::uint32_t lead_of(std::size_t first, std::size_t last) const {
    std::uint32_t lead = 0;
    for (std::size_t i = first; i < last; ++i) {
      const std::uint32_t here = blocks_[units_[i].block].lead;
      if (lead != 0 && here != 0 && here != lead) return 0;
      lead = std::max(lead, here);
    }
    return lead;
  }

  // Returns the start of a chunk that begins with the unit: the start of its line, so that code keeps its
  // indentation.
  std::uint64_t start_of(std::size_t unit) const {
    if (unit == 0) return 0;
    if (unit == units_.size()) return text_.size();
    const Span gap{units_[unit - 1].span.end, units_[unit].span.start};
    const std::size_t line_end = text_of(gap).rfind('\n');
    return line_end == std::string_view::npos ? gap.end : gap.start + line_end + 1;
  }

  // Returns the innermost section that contains all of them, so that its heading fits the whole chunk.
  std::uint32_t section_of(std::size_t first, std::size_t last) const {
    std::uint32_t common = units_[first].section;
    for (std::size_t i = first + 1; i < last; ++i)
      common = common_section(read_.sections, common, units_[i].section);
    return common;
  }

  void add_chunk(std::size_t first, std::size_t last, Span span, Tokens tokens) {
    Chunk chunk{.span = span,
                .tokens = tokens,
                .section = section_of(first, last),
                .page = page_of(units_[first]),
                .lead = read_.leads[lead_of(first, last)],
                .sentences = {}};
    chunk.sentences.reserve(last - first);
    for (std::size_t i = first; i < last; ++i)
      chunk.sentences.push_back({.span = units_[i].span,
                                 .tokens = units_[i].tokens,
                                 .opens_block = units_[i].opens_block,
                                 .pages_on = page_of(units_[i]) - chunk.page});
    chunks_.push_back(std::move(chunk));
  }

  const ReadDocument& read_;
  std::string_view text_;
  const std::vector<Block>& blocks_;
  const Tokenizer& tokenizer_;
  const CutOptions& options_;
  std::vector<Unit> units_;
  std::vector<Chunk> chunks_;
};

}  // namespace

Result<Document> cut(ReadDocument read, const Tokenizer& tokenizer, const CutOptions& options) {
  constexpr Tokens least = 8;
  if (options.sentence_tokens < least || options.chunk_tokens < options.sentence_tokens)
    return fail(
        Errc::bad_input,
        "a sentence may have {} tokens and a chunk {}; the minimum is {}, and a chunk must fit a sentence",
        options.sentence_tokens, options.chunk_tokens, least);
  const std::vector<Block> blocks = without_gaps(read.text, std::move(read.blocks));
  Document document;
  document.chunks = Cutter(read, blocks, tokenizer, options).run();
  document.media_type = std::move(read.media_type);
  document.text = std::move(read.text);
  document.origins = std::move(read.origins);
  document.addressable = read.addressable;
  document.sections = std::move(read.sections);
  if (document.chunks.empty()) {  // nothing but white space: it is stored as an empty text
    document.text.clear();
    document.origins.clear();
    for (DocumentSection& section : document.sections) section.span = {};
  }
  return document;
}

}  // namespace plimsoll::ingest

// Reads the visible content of an HTML page. Tags, scripts, menus and side content are left out; headings,
// lists, tables and code keep their structure. Each range of text keeps its position in the
// source.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "ingest/builder.hpp"
#include "ingest/read/decode.hpp"
#include "ingest/read/html_text.hpp"
#include "ingest/read/html_tree.hpp"
#include "ingest/read/readers.hpp"

namespace plimsoll::ingest {
namespace {

enum class Drop : std::uint8_t { boilerplate, menus, nothing };

bool breaks_text(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_HTML:
    case GUMBO_TAG_BODY:
    case GUMBO_TAG_P:
    case GUMBO_TAG_DIV:
    case GUMBO_TAG_SECTION:
    case GUMBO_TAG_ARTICLE:
    case GUMBO_TAG_MAIN:
    case GUMBO_TAG_HEADER:
    case GUMBO_TAG_FOOTER:
    case GUMBO_TAG_NAV:
    case GUMBO_TAG_ASIDE:
    case GUMBO_TAG_BLOCKQUOTE:
    case GUMBO_TAG_UL:
    case GUMBO_TAG_OL:
    case GUMBO_TAG_LI:
    case GUMBO_TAG_DL:
    case GUMBO_TAG_DT:
    case GUMBO_TAG_DD:
    case GUMBO_TAG_TABLE:
    case GUMBO_TAG_CAPTION:
    case GUMBO_TAG_TR:
    case GUMBO_TAG_TD:
    case GUMBO_TAG_TH:
    case GUMBO_TAG_PRE:
    case GUMBO_TAG_HR:
    case GUMBO_TAG_FIGURE:
    case GUMBO_TAG_FIGCAPTION:
    case GUMBO_TAG_ADDRESS:
    case GUMBO_TAG_DETAILS:
    case GUMBO_TAG_SUMMARY:
    case GUMBO_TAG_FIELDSET:
    case GUMBO_TAG_FORM:
    case GUMBO_TAG_CENTER: return true;
    default: return is_heading(tag);
  }
}

class Page {
 public:
  Page(std::string_view source, const HtmlSurvey& survey, Drop drop)
      : source_(source), survey_(survey), drop_(drop), into_("text/html") {}

  bool enter(const GumboNode& node) {
    if (node.type == GUMBO_NODE_TEXT || node.type == GUMBO_NODE_WHITESPACE || node.type == GUMBO_NODE_CDATA)
      take_text(node.v.text);
    if (node.type != GUMBO_NODE_ELEMENT) return false;
    const GumboTag tag = node.v.element.tag;
    if (is_never_shown(node) || is_dropped(node)) return false;
    if (holds_content(node)) ++content_depth_;
    if (tag == GUMBO_TAG_BR) {
      if (in_row_)
        gap_ = true;
      else if (into_.size() > block_start_)
        into_.append_own("\n");
      return true;
    }
    if (in_row_) {
      enter_in_row(tag);
      return true;
    }
    if (!breaks_text(tag)) return true;
    end_block();
    if (is_heading(tag)) {
      kind_ = BlockKind::heading;
      level_ = static_cast<std::uint32_t>(tag - GUMBO_TAG_H1) + 1;
    } else if (tag == GUMBO_TAG_LI) {
      kind_ = BlockKind::list_item;
    } else if (tag == GUMBO_TAG_PRE) {
      kind_ = BlockKind::code;
      ++pre_depth_;
    } else if (tag == GUMBO_TAG_TABLE) {
      tables_.push_back({.layout = survey_.layout_tables.contains(&node)});
    } else if (tag == GUMBO_TAG_TR && !tables_.empty() && !tables_.back().layout) {
      kind_ = BlockKind::table_row;
      in_row_ = true;
      cells_ = named_cells_ = 0;
    }
    return true;
  }

  void leave(const GumboNode& node) {
    const GumboTag tag = node.v.element.tag;
    if (holds_content(node)) --content_depth_;
    if (in_row_ && tag != GUMBO_TAG_TR) {
      gap_ = gap_ || breaks_text(tag);
      return;
    }
    if (!breaks_text(tag)) return;
    end_block();
    if (tag == GUMBO_TAG_PRE && pre_depth_ > 0) --pre_depth_;
    if (tag == GUMBO_TAG_TABLE && !tables_.empty()) tables_.pop_back();
  }

  ReadDocument finish(std::string_view title) {
    end_block();
    into_.trim_end(kept_);
    into_.title(title);
    return std::move(into_).finish();
  }

 private:
  struct Table {
    bool layout = false;
    bool begun = false;
    std::uint32_t lead = 0;
  };

  bool is_dropped(const GumboNode& node) const {
    if (drop_ == Drop::nothing) return false;
    if (is_beside_the_point(node, content_depth_ > 0)) return true;
    if (drop_ == Drop::boilerplate && survey_.link_lists.contains(&node)) return true;
    if (node.v.element.tag != GUMBO_TAG_FORM) return false;
    // Some servers put the whole page into a form.
    const auto form = survey_.forms.find(&node);
    return form != survey_.forms.end() && form->second * 2 < survey_.shown_bytes;
  }

  void enter_in_row(GumboTag tag) {
    if (tag != GUMBO_TAG_TD && tag != GUMBO_TAG_TH) {
      gap_ = gap_ || breaks_text(tag);
      return;
    }
    if (cells_++ > 0) {
      open_block();
      into_.append_own(" | ");
    }
    if (tag == GUMBO_TAG_TH) ++named_cells_;
    gap_ = false;
  }

  // Starts a block: adds the separator to the previous one.
  void open_block() {
    if (std::exchange(block_open_, true)) return;
    const bool tight =
        (kind_ == BlockKind::table_row || kind_ == BlockKind::list_item) && last_kind_ == kind_;
    if (into_.size() > 0) into_.append_own(tight ? "\n" : "\n\n");
    outer_start_ = into_.size();
    if (kind_ == BlockKind::list_item) into_.append_own("- ");
    block_start_ = into_.size();
    gap_ = false;
  }

  void take_text(const GumboText& text) {
    const char* const begin = text.original_text.data;
    std::string_view raw;
    if (begin != nullptr && begin >= source_.data() && begin <= source_.data() + source_.size())
      raw = source_.substr(static_cast<std::size_t>(begin - source_.data()), text.original_text.length);
    const auto base = raw.empty() ? 0 : static_cast<std::uint64_t>(raw.data() - source_.data());
    // For a number above Unicode ("&#x4CCCCCCCC;") gumbo returns invalid bytes.
    std::string_view decoded = text.text;
    std::string mended;
    if (!base::is_valid_utf8(decoded)) {
      mended = with_replacements(decoded);
      decoded = mended;
    }
    align(
        decoded, raw, [&](std::string_view piece, std::size_t at) { take(piece, base + at, true); },
        [&](std::string_view piece) { take(piece, 0, false); });
  }

  // Joins white space as a browser does.
  void take(std::string_view piece, std::uint64_t source, bool same) {
    if (pre_depth_ > 0 && !in_row_) {
      open_block();
      put(piece, source, same);
      return;
    }
    constexpr std::string_view blanks = " \t\n\r\f\v";
    for (std::size_t at = 0; at < piece.size();) {
      if (blanks.find(piece[at]) != std::string_view::npos) {
        // A single blank between two words keeps its position.
        gap_same_ = !gap_ && same && piece[at] == ' ';
        gap_source_ = source + at;
        gap_ = true;
        ++at;
        continue;
      }
      const std::size_t end = std::min(piece.find_first_of(blanks, at), piece.size());
      open_block();
      if (std::exchange(gap_, false) && into_.size() > block_start_ && into_.text().back() != '\n' &&
          into_.text().back() != ' ')
        put(" ", gap_source_, gap_same_);
      put(piece.substr(at, end - at), source + at, same);
      at = end;
    }
  }

  void put(std::string_view piece, std::uint64_t source, bool same) {
    if (same)
      into_.append(piece, source);
    else
      into_.append_own(piece);
  }

  void end_block() {
    gap_ = false;
    const bool row = std::exchange(in_row_, false);
    if (std::exchange(block_open_, false)) {
      into_.trim_end(block_start_);
      if (into_.size() > block_start_) {
        keep_block(row);
      } else {
        into_.take_back(kept_);
      }
    }
    kind_ = BlockKind::paragraph;
    level_ = 0;
    block_start_ = into_.size();
  }

  void keep_block(bool row) {
    const Span span{outer_start_, into_.size()};
    const std::string_view words = into_.text().substr(block_start_);
    if (row && words.find_first_not_of("| ") == std::string_view::npos) {  // a row of empty cells
      into_.take_back(kept_);
      return;
    }
    std::uint32_t lead = 0;
    if (row && !tables_.empty()) {
      Table& table = tables_.back();
      if (!std::exchange(table.begun, true) && named_cells_ > 0 && named_cells_ == cells_)
        table.lead = into_.lead(words);
      lead = table.lead;
    }
    if (level_ > 0) into_.open(level_, words, span.start);
    into_.block(kind_, span, lead);
    kept_ = span.end;
    last_kind_ = kind_;
  }

  std::string_view source_;
  const HtmlSurvey& survey_;
  Drop drop_;
  Builder into_;
  std::vector<Table> tables_;
  std::uint64_t outer_start_ = 0;  // of the block, including its mark
  std::uint64_t block_start_ = 0;
  std::uint64_t kept_ = 0;  // end of the last block
  std::uint64_t gap_source_ = 0;
  std::size_t content_depth_ = 0;
  std::size_t pre_depth_ = 0;
  std::size_t cells_ = 0;
  std::size_t named_cells_ = 0;
  std::uint32_t level_ = 0;
  BlockKind kind_ = BlockKind::paragraph;
  BlockKind last_kind_ = BlockKind::paragraph;
  bool in_row_ = false;
  bool block_open_ = false;
  bool gap_ = false;
  bool gap_same_ = false;
};

std::string title_of(const GumboNode* root) {
  std::string title;
  walk_html(
      root,
      [&](const GumboNode& node) {
        if (node.type != GUMBO_NODE_ELEMENT || !title.empty()) return false;
        const GumboTag tag = node.v.element.tag;
        if (tag == GUMBO_TAG_TITLE && node.v.element.children.length > 0) {
          const auto* const text = static_cast<const GumboNode*>(node.v.element.children.data[0]);
          if (text->type == GUMBO_NODE_TEXT) title = one_line(text->v.text.text, 200);
        }
        return tag == GUMBO_TAG_HTML || tag == GUMBO_TAG_HEAD;
      },
      [](const GumboNode&) {});
  return title;
}

ReadDocument read_page(std::string_view text, const GumboNode* root, const HtmlSurvey& survey, Drop drop) {
  Page page(text, survey, drop);
  walk_html(
      root, [&](const GumboNode& node) { return page.enter(node); },
      [&](const GumboNode& node) { page.leave(node); });
  return page.finish(title_of(root));
}

// Gumbo frees a body recursively when a late <frameset> replaces it.
bool may_exhaust_the_stack(std::string_view text) {
  constexpr std::ptrdiff_t few_tags = 20'000;
  if (std::count(text.begin(), text.end(), '<') <= few_tags) return false;
  return base::to_lower_ascii(text).find("<frameset") != std::string::npos;
}

}  // namespace

Result<ReadDocument> read_html(std::string_view text, const ReadOptions& options) {
  // A page needs about ten times its size; one that needs much more is refused.
  const std::uint64_t most_memory = (std::uint64_t{64} << 20) + std::uint64_t{48} * text.size();
  BoundedArena arena(most_memory, options.parse_time);
  const GumboNode* const root = may_exhaust_the_stack(text) ? nullptr : parse_html(arena, text);
  if (root == nullptr)
    return fail(Errc::bad_input, "its HTML is too deep or too complex to be read in {} s and {}",
                static_cast<double>(options.parse_time.count()) / 1000, base::human_bytes(most_memory));
  const HtmlSurvey survey = survey_html(root);
  // If hardly anything is left, the page consists of links, or its markup is misleading.
  constexpr std::size_t least_share = 6;
  ReadDocument read;
  for (const Drop drop : {Drop::boilerplate, Drop::menus, Drop::nothing}) {
    read = read_page(text, root, survey, drop);
    if (read.text.size() * least_share >= survey.shown_bytes) break;
  }
  return read;
}

}  // namespace plimsoll::ingest

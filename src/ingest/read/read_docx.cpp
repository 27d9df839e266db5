// Word's .docx: a ZIP archive whose word/document.xml has paragraphs (w:p) of runs (w:r) of text (w:t), and
// tables (w:tbl, w:tr, w:tc). Headings are paragraphs with a heading style. Parsed with Expat; documents that
// declare entities are refused, since Word declares none.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>

#include <expat.h>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "ingest/builder.hpp"
#include "ingest/read/readers.hpp"
#include "ingest/read/zip_entry.hpp"

namespace plimsoll::ingest {
namespace {

// "http://.../main|p" -> "p"; from other namespaces (drawings, formulas) only equal names.
std::string_view local_name(const char* name) {
  const char* const bar = std::strrchr(name, '|');
  return bar == nullptr ? name : bar + 1;
}

std::string_view attribute(const char** attributes, std::string_view wanted) {
  for (; *attributes != nullptr; attributes += 2)
    if (local_name(attributes[0]) == wanted) return attributes[1];
  return {};
}

using Levels = std::unordered_map<std::string, std::uint32_t>;  // of headings, by style id

// 1 for "Heading 1", "heading 1", "Heading1", "Title"; 0: not a heading.
std::uint32_t heading_level(std::string_view style) {
  const std::string name = base::to_lower_ascii(style);
  if (name == "title") return 1;
  for (const std::string_view prefix : {"heading", "berschrift", "titre", "titolo"}) {
    const std::size_t at = name.find(prefix);
    if (at > 2) continue;  // or not found
    const std::size_t digit = name.find_first_of("123456789", at);
    if (digit != std::string::npos && digit <= at + prefix.size() + 1)
      return static_cast<std::uint32_t>(name[digit] - '0');
  }
  return 0;
}

// Runs Expat over a handler with start(name, attributes), end(name) and text(piece).
template <typename Handler>
Result<void> parse_xml(std::string_view xml, Handler& handler) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(XML_ParserCreateNS(nullptr, '|'),
                                                                            XML_ParserFree);
  if (!parser) return fail(Errc::io_failed, "no memory to read XML with");
  struct Both {
    Handler* handler;
    XML_Parser parser;
    bool declares = false;
  } both{&handler, parser.get()};
  XML_SetUserData(parser.get(), &both);
  XML_SetElementHandler(
      parser.get(),
      [](void* self, const char* name, const char** attributes) {
        static_cast<Both*>(self)->handler->start(local_name(name), attributes);
      },
      [](void* self, const char* name) { static_cast<Both*>(self)->handler->end(local_name(name)); });
  XML_SetCharacterDataHandler(parser.get(), [](void* self, const char* text, int length) {
    static_cast<Both*>(self)->handler->text({text, static_cast<std::size_t>(length)});
  });
  XML_SetStartDoctypeDeclHandler(parser.get(), [](void* self, const char*, const char*, const char*, int) {
    static_cast<Both*>(self)->declares = true;
    XML_StopParser(static_cast<Both*>(self)->parser, XML_FALSE);
  });
  constexpr std::size_t step = std::size_t{1} << 20;
  for (std::size_t at = 0; at == 0 || at < xml.size(); at += step) {
    const std::string_view piece = xml.substr(at, step);
    const bool last = at + step >= xml.size();
    if (XML_Parse(parser.get(), piece.data(), static_cast<int>(piece.size()), last ? 1 : 0) !=
        XML_STATUS_ERROR)
      continue;
    if (both.declares) return fail(Errc::bad_input, "its XML declares entities, which Word never does");
    return fail(Errc::bad_input, "its XML is damaged at line {}: {}", XML_GetCurrentLineNumber(parser.get()),
                XML_ErrorString(XML_GetErrorCode(parser.get())));
  }
  return {};
}

class Styles {
 public:
  void start(std::string_view name, const char** attributes) {
    if (name == "style") id_ = attribute(attributes, "styleId");
    if (name == "name" && !id_.empty())
      if (const std::uint32_t level = heading_level(attribute(attributes, "val")); level > 0)
        levels[id_] = level;
    if (name == "outlineLvl" && !id_.empty()) {
      const std::string_view value = attribute(attributes, "val");
      if (value.size() == 1 && value[0] >= '0' && value[0] <= '8')
        levels.try_emplace(id_, static_cast<std::uint32_t>(value[0] - '0' + 1));
    }
  }
  void end(std::string_view name) {
    if (name == "style") id_.clear();
  }
  void text(std::string_view) {}

  Levels levels;

 private:
  std::string id_;
};

class Body {
 public:
  Body(Builder& into, const Levels& levels) : into_(into), levels_(levels) {}

  void start(std::string_view name, const char** attributes) {
    if (name == "p") {
      if (row_depth_ == 0)
        begin_block();
      else if (into_.size() > block_start_ && !cell_empty_)
        into_.append_own(" ");
      level_ = 0;
      item_ = false;
    } else if (name == "pStyle") {
      const std::string style(attribute(attributes, "val"));
      const auto known = levels_.find(style);
      level_ = known != levels_.end() ? known->second : heading_level(style);
    } else if (name == "numPr") {
      item_ = true;
    } else if (name == "t") {
      in_text_ = true;
    } else if (name == "tab") {
      if (into_.size() > block_start_) into_.append_own("\t");
    } else if (name == "br" || name == "cr") {
      into_.append_own(row_depth_ > 0 ? " " : "\n");
    } else if (name == "tbl") {
      if (row_depth_ == 0) lead_ = 0, first_row_ = true;
    } else if (name == "tr") {
      if (row_depth_++ == 0) begin_block();
    } else if (name == "tc") {
      if (row_depth_ == 1 && into_.size() > block_start_) into_.append_own(" | ");
      cell_empty_ = true;
    } else if (name == "instrText" || name == "delText") {
      in_text_ = false;  // field instructions and deleted text
    }
  }

  void end(std::string_view name) {
    if (name == "t") in_text_ = false;
    if (name == "p" && row_depth_ == 0) end_paragraph();
    if (name == "tr" && row_depth_ > 0 && --row_depth_ == 0) end_row();
  }

  void text(std::string_view piece) {
    if (!in_text_) return;
    into_.append_own(piece);
    cell_empty_ = false;
  }

 private:
  void begin_block() {
    into_.trim_end(kept_);
    if (into_.size() > 0) into_.append_own("\n\n");
    block_start_ = into_.size();
  }

  void end_paragraph() {
    into_.trim_end(block_start_);
    const Span span{block_start_, into_.size()};
    if (span.size() == 0) return;
    kept_ = span.end;
    const std::string title(into_.text().substr(span.start, span.size()));
    if (level_ > 0) {
      into_.title(title);
      into_.open(level_, title, span.start);
      into_.block(BlockKind::heading, span);
    } else {
      into_.block(item_ ? BlockKind::list_item : BlockKind::paragraph, span);
    }
  }

  void end_row() {
    into_.trim_end(block_start_);
    const Span span{block_start_, into_.size()};
    if (span.size() == 0) return;
    kept_ = span.end;
    if (std::exchange(first_row_, false)) lead_ = into_.lead(into_.text().substr(span.start, span.size()));
    into_.block(BlockKind::table_row, span, lead_);
  }

  Builder& into_;
  const Levels& levels_;
  std::uint64_t block_start_ = 0;
  std::uint64_t kept_ = 0;  // end of the last block
  std::uint32_t level_ = 0;
  std::uint32_t lead_ = 0;
  std::uint32_t row_depth_ = 0;
  bool first_row_ = false;
  bool item_ = false;
  bool in_text_ = false;
  bool cell_empty_ = true;
};

}  // namespace

Result<ReadDocument> read_docx(std::string_view bytes, const ReadOptions& options) {
  // The markup is several times as long as the text.
  const std::uint64_t most_xml = options.max_document_bytes * 4;
  TRY(const auto xml, zip_entry(bytes, "word/document.xml", most_xml));
  if (!xml) return fail(Errc::unsupported, "a ZIP archive that is not a .docx; unpack it first");
  Styles styles;
  TRY(const auto style_xml,
      zip_entry(bytes, "word/styles.xml", std::min<std::uint64_t>(most_xml, 16U << 20U)));
  if (style_xml) TRY_VOID(parse_xml(*style_xml, styles));
  Builder into("application/vnd.openxmlformats-officedocument.wordprocessingml.document");
  Body body(into, styles.levels);
  TRY_VOID(parse_xml(*xml, body));
  into.trim_end(0);
  into.not_addressable();
  return std::move(into).finish();
}

}  // namespace plimsoll::ingest

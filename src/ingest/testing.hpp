// For the tests and fuzzers of this folder: checks the invariants of documents.
#pragma once

#include <string>
#include <string_view>

#include "base/text/text.hpp"
#include "ingest/builder.hpp"
#include "ingest/cut.hpp"
#include "ingest/read/read.hpp"
#include "ingest/sentences.hpp"

namespace plimsoll::ingest {

inline std::string_view text_of(std::string_view text, Span span) {
  return text.substr(span.start, span.size());
}

inline std::string section_fault(const std::vector<DocumentSection>& sections, std::uint64_t size) {
  if (sections.empty()) return "no section";
  if (sections[0].span != Span{0, size} || !sections[0].title.empty()) return "section 0 is not the document";
  for (std::size_t i = 1; i < sections.size(); ++i) {
    const DocumentSection& section = sections[i];
    if (section.parent >= i) return "a section stands before its parent";
    const Span outer = sections[section.parent].span;
    if (section.span.start > section.span.end || section.span.start < outer.start ||
        section.span.end > outer.end)
      return fmt::format("section {} is not inside its parent", i);
    if (section.span.start < sections[i - 1].span.start) return "sections are out of order";
    if (sections[i - 1].span.end > section.span.start && section.parent != i - 1) {
      // The previous one must be closed, unless it contains this one.
      std::uint32_t above = section.parent;
      while (above != i - 1 && above != 0) above = sections[above].parent;
      if (above != i - 1 && i != 1) return fmt::format("section {} begins inside a sibling", i);
    }
  }
  return {};
}

// Returns the first fault, or "". `source`: the file, if the document is addressable.
inline std::string read_fault(const ReadDocument& read, std::string_view source) {
  if (!base::is_valid_utf8(read.text)) return "the text is no UTF-8";
  if (std::string fault = section_fault(read.sections, read.text.size()); !fault.empty()) return fault;
  std::uint64_t at = 0;
  for (const Block& block : read.blocks) {
    if (block.span.start < at || block.span.end <= block.span.start || block.span.end > read.text.size())
      return fmt::format("block [{}, {}) after {}", block.span.start, block.span.end, at);
    if (trimmed(read.text, block.span) != block.span) return "white space around a block";
    if (block.lead >= read.leads.size()) return "a lead that is not there";
    at = block.span.end;
  }
  if (!read.addressable) return read.origins.empty() ? "" : "origins of what has no address";
  if (read.origins.empty()) return read.text.empty() || read.text == source ? "" : "the text is not the file";
  at = 0;
  for (const Origin& origin : read.origins) {
    if (origin.text < at || origin.text + origin.bytes > read.text.size()) return "origins overlap";
    if (origin.source + origin.bytes > source.size()) return "an origin outside the file";
    if (text_of(read.text, {origin.text, origin.text + origin.bytes}) !=
        source.substr(origin.source, origin.bytes))
      return fmt::format("the origin at {} is not the same text", origin.text);
    at = origin.text + origin.bytes;
  }
  return {};
}

// The same for a chunked document. Does not judge the quality of the chunks.
inline std::string cut_fault(const Document& document, const Tokenizer& tokenizer,
                             const CutOptions& options) {
  const std::string_view text = document.text;
  if (std::string fault = section_fault(document.sections, text.size()); !fault.empty()) return fault;
  const bool blank = trimmed(text, {0, text.size()}).size() == 0;
  if (document.chunks.empty()) return blank ? "" : "a text without chunks";
  if (document.chunks.front().span.start != 0 || document.chunks.back().span.end != text.size())
    return "the chunks do not reach the ends of the text";
  std::uint64_t at = 0;  // everything before is in a sentence or white space
  for (std::size_t i = 0; i < document.chunks.size(); ++i) {
    const Chunk& chunk = document.chunks[i];
    if (i > 0 && document.chunks[i - 1].span.end != chunk.span.start)
      return "the chunks do not tile the text";
    if (chunk.tokens != tokenizer.count(text_of(text, chunk.span)))
      return "a chunk's tokens are not its tokens";
    if (chunk.sentences.empty()) return "a chunk without sentences";
    if (chunk.section >= document.sections.size()) return "a section that is not there";
    for (const Sentence& sentence : chunk.sentences) {
      if (sentence.span.start < at || sentence.span.end <= sentence.span.start) return "sentences overlap";
      if (sentence.span.start < chunk.span.start || sentence.span.end > chunk.span.end)
        return "a sentence outside its chunk";
      if (trimmed(text, {at, sentence.span.start}).size() > 0)
        return fmt::format("text at {} is in no sentence", at);
      if (trimmed(text, sentence.span) != sentence.span) return "white space around a sentence";
      if (!base::is_valid_utf8(text_of(text, sentence.span))) return "a sentence is cut inside a character";
      if (sentence.tokens != tokenizer.count(text_of(text, sentence.span)))
        return "a sentence's tokens are not its tokens";
      if (sentence.tokens > options.sentence_tokens && characters(text_of(text, sentence.span), 2) > 1)
        return fmt::format("a sentence of {} tokens", sentence.tokens);
      at = sentence.span.end;
    }
    if (chunk.sentences.size() > 1 && chunk.tokens > options.chunk_tokens)
      return fmt::format("a chunk of {} tokens", chunk.tokens);
    const Span section = document.sections[chunk.section].span;
    for (const Sentence& sentence : chunk.sentences)
      if (sentence.span.start < section.start || sentence.span.start >= section.end)
        return "a chunk of another section";
  }
  if (trimmed(text, {at, text.size()}).size() > 0) return "text behind the last sentence";
  return {};
}

// Returns one line per block: kind, heading path, lead, text.
inline std::string outline(const ReadDocument& read) {
  constexpr std::string_view kinds = "phlrc";  // paragraph, heading, list item, row, code
  std::string lines;
  for (const Block& block : read.blocks) {
    lines += kinds[static_cast<std::size_t>(block.kind)];
    if (block.page > 0) lines += fmt::format("{}", block.page);
    const std::string path = heading_path(read.sections, section_at(read.sections, block.span.start));
    if (!path.empty()) lines += fmt::format(" <{}>", path);
    if (block.lead > 0) lines += fmt::format(" [{}]", read.leads[block.lead]);
    std::string shown(text_of(read.text, block.span));
    for (std::size_t end = 0; (end = shown.find('\n', end)) != std::string::npos;) shown.replace(end, 1, "/");
    lines += " " + shown + "\n";
  }
  return lines;
}

}  // namespace plimsoll::ingest

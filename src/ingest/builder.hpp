// How every reader puts its document together. What it makes is sound whatever it is told: blocks ascend and
// do not overlap, sections nest, and origins are joined where they touch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/read/read.hpp"

namespace plimsoll::ingest {

class Builder {
 public:
  // The text is `text`, byte for byte.
  Builder(std::string_view media_type, std::string_view text);
  // The text comes by append().
  explicit Builder(std::string_view media_type);

  std::string_view text() const { return read_.text; }
  std::uint64_t size() const { return read_.text.size(); }

  // Adds to the text: a stretch that stands at `source` in the file, or one that does not stand there.
  void append(std::string_view piece, std::uint64_t source);
  void append_own(std::string_view piece);
  // Takes blanks, tabs and line ends off the end of the text, not beyond `keep`.
  void trim_end(std::uint64_t keep);
  // Takes back all of the text from there on; no block may lie behind.
  void take_back(std::uint64_t keep);

  void block(BlockKind kind, Span span, std::uint32_t lead = 0, bool wrapped = false);
  // Makes the last block longer: by a bracket, say, that closes something and says nothing.
  void extend(std::uint64_t end);
  // For what does not fit the length that a lead may have, its front.
  std::uint32_t lead(std::string_view text);
  void page(std::uint32_t page) { page_ = page; }

  // Closes the sections of this level and below, and opens one. Levels count from 1.
  void open(std::uint32_t level, std::string_view title, std::uint64_t at);
  void close(std::uint32_t level, std::uint64_t at);

  void warn(std::string warning) { read_.warnings.push_back(std::move(warning)); }
  void title(std::string_view title);
  void not_addressable();

  ReadDocument finish() &&;

 private:
  struct Open {
    std::uint32_t level;
    std::uint32_t section;
  };
  ReadDocument read_;
  std::vector<Open> open_;
  std::uint64_t done_ = 0;   // end of the last block
  std::uint64_t floor_ = 0;  // no section begins or ends before
  std::uint32_t page_ = 0;
  bool made_ = false;  // the text came by append()
};

// One line, blanks joined, at most `most` bytes; cut at a character.
std::string one_line(std::string_view text, std::size_t most);

// The largest prefix of at most `most` bytes that ends at a character.
std::string_view prefix_of(std::string_view text, std::size_t most);

// The span without the white space around it (ASCII, and the blanks of Unicode); may be empty.
Span trimmed(std::string_view text, Span span);

// Whether white space as above stands at `at`, and how many bytes it has; 0: none.
std::size_t white_at(std::string_view text, std::size_t at);

}  // namespace plimsoll::ingest

// Builds a document for the readers. The result is always consistent: blocks ascend and do not overlap,
// sections nest, and adjacent origins are joined.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/blanks.hpp"
#include "ingest/read/read.hpp"

namespace plimsoll::ingest {

class Builder {
 public:
  // The text is `text`, byte for byte.
  Builder(std::string_view media_type, std::string_view text);
  // The text is added with append().
  explicit Builder(std::string_view media_type);

  std::string_view text() const { return read_.text; }
  std::uint64_t size() const { return read_.text.size(); }

  // Appends text that is at `source` in the file, or text that is not in the file.
  void append(std::string_view piece, std::uint64_t source);
  void append_own(std::string_view piece);
  // Removes blanks, tabs and line ends at the end of the text, not before `keep`.
  void trim_end(std::uint64_t keep);
  // Removes the text from `keep` on; no block may be there.
  void take_back(std::uint64_t keep);

  void block(BlockKind kind, Span span, std::uint32_t lead = 0, bool wrapped = false);
  // Extends the last block, for example by a closing bracket.
  void extend(std::uint64_t end);
  // A lead that is too long is truncated.
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
  std::uint64_t floor_ = 0;  // no section starts or ends before this
  std::uint32_t page_ = 0;
  bool made_ = false;  // the text was added with append()
};

// Returns one line with joined blanks, at most `most` bytes, truncated at a character boundary.
std::string one_line(std::string_view text, std::size_t most);

using base::trimmed;
using base::white_at;

}  // namespace plimsoll::ingest

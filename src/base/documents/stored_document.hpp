// The rules of the Store port that do not depend on where documents are stored.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/document.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::base {

// Metadata as one JSON object, and back. bad_input: a value is not JSON.
Result<std::string> metadata_json(const Metadata& metadata);
Result<Metadata> metadata_of(std::string_view json);
// Returns the values of a filter as the store writes them. bad_input: a value is not JSON.
Result<Metadata> canonical(const Filter& filter);

// bad_input: the chunks do not tile the text, or the vectors are not those of the index's embedders.
Result<void> check_document(const IndexInfo& index, const DocumentWithVectors& put);
Tokens tokens_of(const Document& document);

// Returns the file of a document that replaces one of `stored`. bad_input: the key belongs to another file.
Result<FileSource> file_after(const FileSource& stored, const Document& document,
                              std::string_view index_name);

// Returns the line numbers of ascending byte positions of a text that is read in parts.
class LineCounter {
 public:
  explicit LineCounter(std::span<const std::uint64_t> bytes) : bytes_(bytes) {}

  bool is_done() const { return lines_.size() == bytes_.size(); }
  void read(std::uint64_t start, std::string_view part);
  // Positions after the text are in its last line.
  std::vector<std::uint64_t> lines() &&;

 private:
  std::span<const std::uint64_t> bytes_;
  std::vector<std::uint64_t> lines_;
  std::uint64_t line_ = 1;
};

// Says why an owner has no index of that name. `names`: some of those it has.
tl::unexpected<Error> no_such_index(std::string_view name, std::span<const std::string> names);
tl::unexpected<Error> index_is_gone();
tl::unexpected<Error> document_is_gone();

// Returns how a stored document differs from what its row says, or "".
std::string fault_in(const DocumentHead& head, const Document& document);

// The faults of an index, of which only the first are listed.
class Faults {
 public:
  void add(std::string fault);
  std::vector<std::string> all() &&;

 private:
  std::vector<std::string> faults_;
  std::size_t more_ = 0;
};

}  // namespace plimsoll::base

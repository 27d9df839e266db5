#include "base/documents/stored_document.hpp"

#include <algorithm>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/sha256.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::base {
namespace {

// Further faults are only counted.
constexpr std::size_t most_faults = 20;

// Returns whether the text is the source, byte for byte. Text of white space alone is not stored.
bool is_its_source(const Document& document) {
  return document.addressable && document.origins.empty() && !document.text.empty() &&
         document.text.size() == document.source_bytes;
}

nlohmann::json parsed(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

Result<std::string> metadata_json(const Metadata& metadata) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [key, value] : metadata) {
    auto json = parsed(value);
    if (json.is_discarded())
      return fail(Errc::bad_input, "metadata '{}' is not a JSON value: {}", key, value);
    object[key] = std::move(json);
  }
  return json_text(object);
}

Result<Metadata> metadata_of(std::string_view json) {
  const auto object = parsed(json);
  if (!object.is_object())
    return fail(Errc::damaged, "a document's metadata in the store is not a JSON object");
  Metadata out;
  for (const auto& [key, value] : object.items()) out[key] = value.dump();
  return out;
}

Result<Metadata> canonical(const Filter& filter) {
  Metadata out;
  for (const auto& [key, value] : filter) {
    const auto json = parsed(value);
    if (json.is_discarded())
      return fail(Errc::bad_input, "the filter's value for '{}' is not JSON: {}", key, value);
    out[key] = json.dump();
  }
  return out;
}

Result<void> check_document(const IndexInfo& index, const DocumentWithVectors& put) {
  const auto& embedders = index.settings.embedders;
  if (put.vectors.size() != embedders.size()) {
    return fail(Errc::bad_input, "'{}' has vectors of {} embedders, the index '{}' has {}", put.document.key,
                put.vectors.size(), index.name, embedders.size());
  }
  std::uint64_t at = 0;
  for (std::size_t c = 0; c < put.document.chunks.size(); ++c) {
    const Chunk& chunk = put.document.chunks[c];
    if (chunk.span.start != at || chunk.span.end < at)
      return fail(Errc::bad_input, "the chunks of '{}' leave a gap at byte {}", put.document.key, at);
    at = chunk.span.end;
    for (std::size_t e = 0; e < embedders.size(); ++e) {
      const bool right =
          put.vectors[e].size() == put.document.chunks.size() &&
          put.vectors[e][c].whole.size() == embedders[e].dimensions &&
          put.vectors[e][c].scales.size() == chunk.sentences.size() &&
          put.vectors[e][c].sentences.size() == chunk.sentences.size() * embedders[e].dimensions;
      if (!right)
        return fail(Errc::bad_input, "the vectors of '{}' are not of {} dimensions", put.document.key,
                    embedders[e].dimensions);
    }
  }
  if (at != put.document.text.size())
    return fail(Errc::bad_input, "the chunks of '{}' end at byte {} of {}", put.document.key, at,
                put.document.text.size());
  if (put.document.sections.empty()) return fail(Errc::bad_input, "'{}' has no section", put.document.key);
  return {};
}

Tokens tokens_of(const Document& document) {
  Tokens tokens = 0;
  for (const Chunk& chunk : document.chunks) tokens += chunk.tokens;
  return tokens;
}

Result<FileSource> file_after(const FileSource& stored, const Document& document,
                              std::string_view index_name) {
  if (!stored.path) return document.file;
  if (document.file.path == "") return stored;
  if (document.file.path != stored.path)
    return fail(Errc::bad_input, "index '{}' has a document '{}' of another file, {}", index_name,
                document.key, stored.path->empty() ? "an upload" : *stored.path);
  return document.file;
}

void LineCounter::read(std::uint64_t start, std::string_view part) {
  std::uint64_t at = 0;
  const auto count_to = [&](std::uint64_t end) {
    const std::string_view passed = part.substr(at, end - at);
    line_ += static_cast<std::uint64_t>(std::count(passed.begin(), passed.end(), '\n'));
    at = end;
  };
  while (!is_done() && bytes_[lines_.size()] < start + part.size()) {
    count_to(bytes_[lines_.size()] - start);
    lines_.push_back(line_);
  }
  count_to(part.size());
}

std::vector<std::uint64_t> LineCounter::lines() && {
  lines_.resize(bytes_.size(), line_);
  return std::move(lines_);
}

tl::unexpected<Error> no_such_index(std::string_view name, std::span<const std::string> names) {
  if (names.empty()) {
    return fail(Errc::not_found,
                "no index is called '{}', and there is none yet: `plimsoll index add {} PATH...` makes it",
                name, name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto near = nearest(name, known);
  return fail(Errc::not_found, "no index is called '{}'{}; there are: {}", name,
              near ? fmt::format(" (did you mean '{}'?)", *near) : "", fmt::join(names, ", "));
}

tl::unexpected<Error> index_is_gone() {
  return fail(Errc::not_found, "the index is gone: somebody removed it meanwhile");
}

tl::unexpected<Error> document_is_gone() {
  return fail(Errc::not_found, "the document is gone: somebody removed it meanwhile");
}

std::string fault_in(const DocumentHead& head, const Document& document) {
  if (std::cmp_not_equal(document.chunks.size(), head.chunks))
    return fmt::format("{} of its {} chunks are there", document.chunks.size(), head.chunks);
  if (std::cmp_not_equal(document.text.size(), head.text_bytes))
    return fmt::format("its text has {} bytes instead of {}", document.text.size(), head.text_bytes);
  std::uint64_t at = 0;
  for (const Chunk& chunk : document.chunks) {
    if (chunk.span.start != at) return fmt::format("its chunks leave a gap at byte {}", at);
    if (chunk.section >= document.sections.size()) return "a chunk is in no section";
    at = chunk.span.end;
  }
  if (tokens_of(document) != head.tokens)
    return fmt::format("its chunks have {} tokens instead of {}", tokens_of(document), head.tokens);
  if (!is_valid_utf8(document.text)) return "its text is not UTF-8";
  if (is_its_source(document) && sha256_hex(document.text) != document.source_hash)
    return "its text does not have the checksum of its source";
  return {};
}

void Faults::add(std::string fault) {
  if (faults_.size() < most_faults)
    faults_.push_back(std::move(fault));
  else
    ++more_;
}

std::vector<std::string> Faults::all() && {
  if (more_ > 0) faults_.push_back(fmt::format("and {} more", more_));
  return std::move(faults_);
}

}  // namespace plimsoll::base

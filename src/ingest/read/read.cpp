#include "ingest/read/read.hpp"

#include <utility>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "ingest/derived_files.hpp"
#include "ingest/read/decode.hpp"
#include "ingest/read/media_type.hpp"
#include "ingest/read/readers.hpp"

namespace plimsoll::ingest {
namespace {

// 67,108,864 -> "64 MiB", as the setting is written; 2,100,000,000 -> "2.1 GB".
std::string limit_text(std::uint64_t bytes) {
  constexpr std::uint64_t mebi = std::uint64_t{1} << 20;
  return bytes >= mebi && bytes % mebi == 0 ? fmt::format("{} MiB", bytes / mebi) : base::human_bytes(bytes);
}

Result<ReadDocument> read_by_type(std::string_view text, const MediaType& type, const ReadOptions& options) {
  switch (type.format) {
    case Format::lines: return read_lines(text, type.name);
    case Format::markdown: return read_markdown(text, options);
    case Format::html: return read_html(text, options);
    case Format::code: return read_code(text, type, options);
    case Format::csv: return read_csv(text, type);
    case Format::json:
    case Format::json_lines: return read_json(text, type);
    case Format::text:
    case Format::pdf:
    case Format::docx: break;
  }
  return read_text(text, type.name);
}

}  // namespace

Result<void> check_size(std::uint64_t bytes, const ReadOptions& options) {
  if (bytes <= options.max_document_bytes) return {};
  return fail(Errc::bad_input, "{} is more than the limit of {} for a document; raise max_document_bytes",
              base::human_bytes(bytes), limit_text(options.max_document_bytes));
}

Result<ReadDocument> read_document(std::string_view bytes, std::string_view name,
                                   const ReadOptions& options) {
  TRY_VOID(check_size(bytes.size(), options));
  TRY(const MediaType packed, packed_type(bytes));
  if (packed.format == Format::pdf) return read_pdf(bytes, options);
  if (packed.format == Format::docx) return read_docx(bytes, options);

  Decoded decoded;
  TRY_VOID(decode(bytes, decoded));
  const std::size_t whole = decoded.text.size();
  remove_base64(decoded);
  const MediaType type = text_type(decoded.text, name);
  if (options.skip_derived)
    if (const auto kind = derived_kind(decoded.text, whole, type, name))
      return fail(Errc::unsupported, "{}", *kind);
  TRY(ReadDocument read, read_by_type(decoded.text, type, options));
  if (!decoded.addressable) read.addressable = false;
  const bool is_file = read.origins.empty() && decoded.origins.empty();
  if (read.addressable) read.origins = compose(std::move(read.origins), decoded.origins);
  if (!is_file && read.origins.empty()) read.addressable = false;  // the text is not in the file as such
  if (!read.addressable || read.text.empty()) read.origins.clear();
  if (!decoded.warning.empty()) read.warnings.push_back(std::move(decoded.warning));
  return read;
}

}  // namespace plimsoll::ingest

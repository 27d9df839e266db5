#include "ingest/read/zip_entry.hpp"

#include <algorithm>
#include <memory>

#include <zip.h>

#include "base/text/text.hpp"

namespace plimsoll::ingest {
namespace {

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

tl::unexpected<Error> too_large(std::uint64_t most_bytes) {
  return fail(Errc::bad_input,
              "it unpacks to more than the limit of {} for a document; raise max_document_bytes",
              base::human_bytes(most_bytes));
}

tl::unexpected<Error> damaged(const char* why) {
  return fail(Errc::bad_input, "the ZIP archive is damaged: {}", why);
}

}  // namespace

Result<std::optional<std::string>> zip_entry(std::string_view archive, const char* name,
                                             std::uint64_t most_bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(archive.data(), archive.size(), 0, &error);
  if (source == nullptr) return damaged(zip_error_strerror(&error));
  const std::unique_ptr<zip_t, Discard> opened(zip_open_from_source(source, ZIP_RDONLY, &error));
  if (!opened) {
    zip_source_free(source);
    const auto failure = damaged(zip_error_strerror(&error));
    zip_error_fini(&error);
    return failure;
  }
  zip_stat_t status;
  zip_stat_init(&status);
  if (zip_stat(opened.get(), name, 0, &status) != 0) return std::optional<std::string>{};
  if ((status.valid & ZIP_STAT_SIZE) == 0) return damaged("a file of unknown size");
  if (status.size > most_bytes) return too_large(most_bytes);
  const std::unique_ptr<zip_file_t, Discard> file(zip_fopen(opened.get(), name, 0));
  if (!file) return damaged(zip_strerror(opened.get()));
  // Does not trust the declared size: memory grows with the actual data.
  std::string bytes;
  std::string buffer(std::size_t{1} << 16, '\0');
  while (true) {
    const zip_int64_t got = zip_fread(file.get(), buffer.data(), buffer.size());
    if (got < 0) return damaged(zip_file_strerror(file.get()));
    if (got == 0) return bytes;
    if (bytes.size() + static_cast<std::uint64_t>(got) > most_bytes) return too_large(most_bytes);
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace plimsoll::ingest

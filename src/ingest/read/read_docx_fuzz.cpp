// Any bytes as a .docx; with an odd first byte as the XML inside a sound archive.
#include <zip.h>

#include "ingest/read/fuzzing.hpp"

namespace {

std::string archive_with(std::string_view xml) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const into = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_t* const archive = zip_open_from_source(into, ZIP_CREATE, &error);
  if (into == nullptr || archive == nullptr) std::abort();
  zip_source_keep(into);
  for (const char* const name : {"word/document.xml", "word/styles.xml"}) {
    const zip_int64_t at =
        zip_file_add(archive, name, zip_source_buffer(archive, xml.data(), xml.size(), 0), 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(at), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive) != 0 || zip_source_open(into) != 0) std::abort();
  std::string bytes(xml.size() * 2 + 4096, '\0');
  const zip_int64_t size = zip_source_read(into, bytes.data(), bytes.size());
  zip_source_close(into);
  zip_source_free(into);
  bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (plimsoll::ingest::take_choice(bytes, 2) == 1)
    plimsoll::ingest::read_and_check(archive_with(bytes), "a.docx");
  else
    plimsoll::ingest::read_and_check(bytes, "a.docx");
  return 0;
}

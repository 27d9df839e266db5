// Any bytes as text, a table, JSON, pages of a PDF or a file without a name; the first one says as what.
#include "ingest/read/fuzzing.hpp"
#include "ingest/read/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  using namespace plimsoll::ingest;
  constexpr std::string_view names[] = {"a.txt", "a.csv", "a.tsv", "a.json", "a.jsonl", "a", ""};
  const std::size_t choice = take_choice(bytes, std::size(names));
  if (!names[choice].empty()) {
    read_and_check(bytes, names[choice]);
  } else if (plimsoll::base::is_valid_utf8(bytes)) {
    ReadDocument pages = read_pages(bytes);
    stop_at(read_fault(pages, bytes));
    cut_and_check(std::move(pages), {.chunk_tokens = 60, .sentence_tokens = 30});
  }
  return 0;
}

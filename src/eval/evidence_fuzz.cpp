#include "eval/evidence.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const std::map<std::string, std::string> documents{{"a", "Größe und Gewicht"}, {"b", ""}};
  const auto read = eval::read_questions({reinterpret_cast<const char*>(data), size}, documents);
  if (!read) return 0;
  for (const eval::Question& question : *read) {
    for (const eval::EvidenceSpan& span : question.evidence) {
      if (span.span.end > documents.at(span.document).size() || span.span.start >= span.span.end)
        __builtin_trap();
    }
  }
  return 0;
}

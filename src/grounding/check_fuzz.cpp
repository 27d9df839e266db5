// Any bytes as an answer and its passages: spans that ascend, verdicts that agree with the rest, never a
// crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plimsoll/grounding.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t first = all.find('\0'), second = first == all.npos ? first : all.find('\0', first + 1);
  const std::string_view answer = all.substr(0, first);
  const std::string_view one = first == all.npos ? answer : all.substr(first + 1, second - first - 1);
  const GivenPassage passages[] = {{one, "guide.md"}, {second == all.npos ? one : all.substr(second + 1)}};
  const CheckedAnswer checked = check_answer(answer, passages, {.question = one.substr(0, 40)});
  std::size_t at = 0, supported = 0, unsupported = 0;
  for (const CheckedSentence& sentence : checked.sentences) {
    if (sentence.span.start < at || sentence.span.end <= sentence.span.start ||
        sentence.span.end > answer.size())
      std::abort();
    at = sentence.span.end;
    const bool is_supported = sentence.verdict == Verdict::supported;
    supported += is_supported ? 1 : 0;
    unsupported += sentence.verdict == Verdict::unsupported ? 1 : 0;
    if (is_supported == sentence.passages.empty() || is_supported != sentence.reason.empty()) std::abort();
    if (!(sentence.words >= 0 && sentence.words < 1.01F)) std::abort();
  }
  if (supported != checked.supported || unsupported != checked.unsupported) std::abort();
  return 0;
}

#define PCRE2_CODE_UNIT_WIDTH 8
#include "count/split/regex_split.hpp"

#include <pcre2.h>

#include "base/try.hpp"
#include "count/split/unicode.hpp"

namespace plimsoll::count {
namespace {

struct CodeDeleter {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct MatchDeleter {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
using Code = std::unique_ptr<pcre2_code, CodeDeleter>;
using Match = std::unique_ptr<pcre2_match_data, MatchDeleter>;

struct CompiledStep {
  Code code;
  SplitStep step;
};

struct Span {
  std::size_t begin, end;
};

// Each range is valid UTF-8 or one invalid byte: PCRE2 does not accept invalid text.
std::vector<Span> valid_stretches(std::string_view text) {
  std::vector<Span> spans;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Decoded character = decode(text.substr(i));
    if (!character.valid) {
      if (begin < i) spans.push_back({begin, i});
      spans.push_back({i, i + 1});
      begin = i + 1;
    }
    i += character.length;
  }
  if (begin < text.size()) spans.push_back({begin, text.size()});
  return spans;
}

class Pcre2Splitter : public RegexSplitter {
 public:
  explicit Pcre2Splitter(std::vector<CompiledStep> steps) : steps_(std::move(steps)) {}

  std::vector<std::size_t> split(std::string_view text) const override {
    std::vector<Span> spans = valid_stretches(text);
    for (const CompiledStep& step : steps_) {
      std::vector<Span> finer;
      for (const Span span : spans) split_one(step, text, span, finer);
      spans = std::move(finer);
    }
    std::vector<std::size_t> ends;
    for (const Span span : spans) ends.push_back(span.end);
    return ends;
  }

 private:
  static void split_one(const CompiledStep& step, std::string_view text, Span span, std::vector<Span>& out) {
    const std::string_view part = text.substr(span.begin, span.end - span.begin);
    if (part.size() == 1 && static_cast<unsigned char>(part[0]) >= 0x80) return out.push_back(span);
    const Match match(pcre2_match_data_create_from_pattern(step.code.get(), nullptr));
    struct Found {
      Span span;
      bool matched;
    };
    std::vector<Found> found;
    std::size_t at = 0;
    std::size_t from = 0;
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(part.data());
    while (from <= part.size() && pcre2_match(step.code.get(), subject, part.size(), from, PCRE2_NO_UTF_CHECK,
                                              match.get(), nullptr) > 0) {
      const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
      if (bounds[1] == bounds[0]) {  // an empty match: continue one character further
        if (bounds[0] >= part.size()) break;
        from = bounds[0] + decode(part.substr(bounds[0])).length;
        continue;
      }
      if (bounds[0] > at) found.push_back({{span.begin + at, span.begin + bounds[0]}, step.step.invert});
      found.push_back({{span.begin + bounds[0], span.begin + bounds[1]}, !step.step.invert});
      at = from = bounds[1];
    }
    if (at < part.size()) found.push_back({{span.begin + at, span.end}, step.step.invert});

    using enum SplitStep::Behaviour;
    bool joins_next = false;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool join =
          joins_next ||
          (step.step.behaviour == merged_with_previous && found[i].matched && i > 0 &&
           !found[i - 1].matched) ||
          (step.step.behaviour == contiguous && i > 0 && found[i].matched == found[i - 1].matched);
      if (join)
        out.back().end = found[i].span.end;
      else
        out.push_back(found[i].span);
      joins_next = step.step.behaviour == merged_with_next && found[i].matched && i + 1 < found.size() &&
                   !found[i + 1].matched;
    }
  }

  std::vector<CompiledStep> steps_;
};

}  // namespace

Result<std::shared_ptr<const RegexSplitter>> RegexSplitter::make(const std::vector<SplitStep>& steps) {
  std::vector<CompiledStep> compiled;
  for (const SplitStep& step : steps) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(step.pattern.data()), step.pattern.size(),
                            PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr));
    if (!code) {
      char message[256] = {};
      pcre2_get_error_message(error, reinterpret_cast<PCRE2_UCHAR*>(message), sizeof message);
      return fail(Errc::bad_input, "the pre-tokeniser's pattern '{}' has an error at {}: {}", step.pattern,
                  offset, message);
    }
    pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // without JIT, matching is slower
    compiled.push_back({std::move(code), step});
  }
  return std::make_shared<const Pcre2Splitter>(std::move(compiled));
}

}  // namespace plimsoll::count

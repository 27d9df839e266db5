#include "ingest/sentences.hpp"

#include "base/text/text.hpp"
#include "ingest/builder.hpp"
#include "ingest/lines.hpp"

namespace plimsoll::ingest {
namespace {

using namespace std::string_view_literals;

void add(std::string_view text, Span span, std::vector<Span>& into) {
  span = trimmed(text, span);
  if (span.size() > 0) into.push_back(span);
}

}  // namespace

void add_code_lines(std::string_view text, Span span, std::vector<Span>& into) {
  constexpr std::size_t most_lines = 8;
  constexpr std::size_t most_bytes = 300;
  Span group{span.start, span.start};
  std::size_t lines = 0;
  const auto end_group = [&] {
    add(text, group, into);
    group.start = group.end;
    lines = 0;
  };
  each_line(text.substr(span.start, span.size()), [&](Span line) {
    const Span here{span.start + line.start, span.start + line.end};
    if (trimmed(text, here).size() == 0) {
      end_group();
      return;
    }
    if (lines == most_lines || (lines > 0 && here.end - group.start > most_bytes)) end_group();
    if (lines++ == 0) group.start = here.start;
    group.end = here.end;
  });
  end_group();
}

std::size_t clause_end(std::string_view sentence, std::size_t limit) {
  limit = base::prefix_of(sentence, limit).size();
  std::size_t blank = 0;
  for (std::size_t at = limit; at > limit / 2; --at) {
    const char c = sentence[at - 1];
    if (c == ' ' || c == '\n' || c == '\t') {
      if (blank == 0) blank = at;
      if (at > 1 && ",;:|)"sv.find(sentence[at - 2]) != std::string_view::npos) return at;
      if (at > 3 && sentence.substr(at - 4, 3) == "\xE2\x80\x94") return at;  // —
    } else if (at >= 3 && (sentence.substr(at - 3, 3) == "\xE3\x80\x81" ||
                           sentence.substr(at - 3, 3) == "\xEF\xBC\x8C")) {
      return at;  // 、 and ，
    }
  }
  return blank > 0 ? blank : limit;
}

std::size_t characters(std::string_view text, std::size_t most) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size() && count < most; ++at)
    count += (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

}  // namespace plimsoll::ingest
